/**
 * Computes the range in which each number of a series usually lies. A range is computed only from the numbers
 * before the judged number. Otherwise the count of how often ranges held would not be honest.
 *
 * The expected number is a level (the recent average) times a factor for the place in the cycle, such as the
 * weekday. The distribution is negative binomial. The ranges become wider after misses and narrower after
 * hits (adaptive conformal inference; Gibbs and Candès, 2021, https://arxiv.org/abs/2106.00170), by large steps
 * at first and by smaller ones later (Angelopoulos, Barber and Bates, 2024, https://arxiv.org/abs/2402.01139).
 */
import type { NormalRange } from '../domain/insight.ts'
import { type CountDistribution, probabilitiesOf, rangeWith, tailProbability } from './count-distribution.ts'
import {
  type Anomaly,
  type HistoryPoint,
  judgeWindows,
  MEAN_MIN,
  SPREAD_CAP,
  type WeightedSum,
  type Windows,
} from './windows.ts'

export interface CountSeries {
  /** The numbers; null for a number that is unknown or from which the ranges must not learn. */
  readonly values: readonly (number | null)[]
  /** The place of each number in its cycle, from 0: the weekday of a day, the month within a quarter. */
  readonly places: readonly number[]
  /**
   * The share of its normal number that each day, week or month is expected to have: less after days are left
   * out, such as holidays, and around known yearly dips; 1 by default.
   */
  readonly shares?: readonly number[]
  readonly scale: Scale
}

/** Days have a cycle of a week, weeks have none, and months have a cycle of a quarter. */
export type Scale = 'day' | 'week' | 'month'

interface Tuning extends Windows {
  readonly places: number
  /** The number of newer values after which a value has half its weight in the level (the recent average). */
  readonly halfLife: number
  /** The spread that is assumed at first (that of a Poisson distribution and `drift`) counts as this many values. */
  readonly spreadPrior: number
  /** The share of its mean by which the level is assumed to move, at first, from one number to the next. */
  readonly drift: number
  /** The least step by which ranges are corrected. Short series need larger steps. */
  readonly step: number
  /** True if the level follows steady growth. Between days or weeks, growth is too small to see. */
  readonly hasTrend: boolean
}

const TUNING: Readonly<Record<Scale, Tuning>> = {
  day: {
    places: 7,
    halfLife: 35,
    windows: [1, 2, 3, 4, 5, 7, 10, 14],
    restartAfter: 5,
    spreadPrior: 15,
    drift: 0,
    step: 0.2,
    hasTrend: false,
  },
  week: {
    places: 1,
    halfLife: 10,
    windows: [1, 2, 3, 4],
    restartAfter: 3,
    spreadPrior: 8,
    drift: 0.1,
    step: 0.3,
    hasTrend: false,
  },
  month: {
    places: 3,
    halfLife: 4,
    windows: [1, 2, 3],
    restartAfter: 2,
    spreadPrior: 4,
    drift: 0.06,
    step: 0.5,
    hasTrend: true,
  },
}

/** The number of earlier numbers at the same place in the cycle (such as Mondays) that a range needs. */
export const NEEDED = 8
/**
 * Ranges are tried from this many earlier numbers on. Until they are shown, they only become wider, because a
 * level that moves is seen late.
 */
const TRIED_FROM = 2
/** The step by which ranges are corrected is 1 at first, and half of it after this many tried ranges. */
const FIRST_RANGES = 20
/** The minimum and the maximum probability of a miss with which a range is made. */
const [MISS_MIN, MISS_MAX] = [1e-6, 0.6]
/** Halves a weight in 182 numbers, for the spread and the factors of the cycle, which change slowly. */
const SLOW_FADE = 0.5 ** (1 / 182)
/** The standard deviation of a share, as a part of what it takes away. */
const SHARE_ERROR = 0.15
/** If at least this many leads are expected, no lead at all is something else than a small number. */
const ZEROS_FROM = 3
/** The number of last numbers in which things as unusual are counted. */
const RUNS_OF = 365
/** Each place in the cycle begins with this many invented leads, which keep its factor near 1 at first. */
const PLACE_PRIOR = 2
/** A number more than this many standard deviations from the mean counts as if it were only so far away. */
const CLIP = 3

export interface Ranges {
  readonly range95: NormalRange
  readonly range80: NormalRange
}

/** The expected distribution and the ranges of one number, computed from the numbers before it. */
interface Forecast extends CountDistribution, Ranges {
  /** The probabilities of a miss with which the ranges were made. Earlier hits and misses change them. */
  readonly misses: Misses
}

interface Misses {
  readonly of95: number
  readonly of80: number
}

export interface Step {
  /** The number of known earlier numbers at the same place in the cycle (such as Mondays). */
  readonly known: number
  /** The forecast; null while too few earlier numbers are known. */
  readonly forecast: Forecast | null
  /** The most unusual run of last numbers; null if there is no forecast or if the number is unknown. */
  readonly anomaly: Anomaly | null
}

interface JudgedSeries {
  readonly steps: readonly Step[]
  /** Expects the sum of numbers in a row from all before `index`. `ahead` has their places in the cycle. */
  readonly outlook: (index: number, ahead: readonly number[]) => CountDistribution
}

/** Judges each number by those before it. Ignores zeros before the first lead, when nothing was counted. */
export function judgeSeries({ values, places, shares, scale }: CountSeries): JudgedSeries {
  const tuning = TUNING[scale]
  const fade = 0.5 ** (1 / tuning.halfLife)
  const cycle = Array.from({ length: tuning.places }, () => ({ sum: 0, base: 0, known: 0 }))
  const level: Level = { sum: 0, weight: 0, time: 0 }
  const older: Level = { sum: 0, weight: 0, time: 0 }
  const spread: WeightedSum = { sum: 0, weight: 0 }
  /** How often a number is 0 although some leads were expected; a run of zeros, such as a week off, counts once. */
  const zeros: WeightedSum = { sum: 0, weight: 0 }
  const windowSpread = tuning.windows.map(() => ({ sum: 0, weight: 0 }))
  const misses = { of95: 0.05, of80: 0.2 }
  const history: HistoryPoint[] = []
  const learned: { level: Level; spread: WeightedSum; misses: Misses }[] = []
  const steps: Step[] = []
  const chances: number[] = []
  /** The level before the present one, which may come back, for example after a holiday that nobody told of. */
  let former: { readonly level: Level; readonly until: number } | null = null
  let [segmentStart, tried, isAfterZero] = [0, 0, false]

  const factorOf = ({ sum, base }: { sum: number; base: number }) =>
    (sum + PLACE_PRIOR) / (base + PLACE_PRIOR)
  const expect = (place: number, index: number): HistoryPoint => {
    const own = cycle[place] ?? { sum: 0, base: 0, known: 0 }
    const share = shares?.[index] ?? 1
    const [rate, factor] = [rateAt(index, level, tuning.hasTrend ? older : null), factorOf(own) * share]
    const mean = Math.max(factor * rate, MEAN_MIN)
    const assumed = tuning.spreadPrior * (1 + tuning.drift ** 2 * mean)
    const overdispersion = Math.max(1, (spread.sum + assumed) / (spread.weight + tuning.spreadPrior))
    const unsure = level.weight > 0 ? (factor * (tuning.hasTrend ? 3 : 1)) / level.weight : 1
    const unsureFactor = tuning.places > 1 ? (0.8 * rate) / (own.base + PLACE_PRIOR) : 0
    const unsureShare = SHARE_ERROR * (1 - share) * factorOf(own) * rate
    const plain = mean * (1 + unsure + unsureFactor) + unsureShare ** 2
    const factors = cycle.map(factorOf)
    const variance = overdispersion * plain
    return { value: null, clipped: 0, factor, factors, mean, plain, variance, rate, weight: level.weight }
  }

  for (const [index, given] of values.entries()) {
    const value = given === 0 && level.sum === 0 ? null : given
    const place = places[index] ?? 0
    const known = cycle[place]?.known ?? 0
    const expected = expect(place, index)
    const isReady = known >= NEEDED
    const made = known >= TRIED_FROM ? forecastOf(expected, misses) : null
    const forecast = isReady ? made : null
    const reach = CLIP * Math.sqrt(expected.variance)
    const clipped =
      value === null || !isReady ? (value ?? 0) : between(expected.mean - reach, value, expected.mean + reach)
    history.push({ ...expected, value, clipped })
    learned.push({ level: { ...level }, spread: { ...spread }, misses: { ...misses } })
    let anomaly: Anomaly | null = null
    if (made !== null && value !== null && !isIdle(expected) && (isReady || !isWithin(made.range95, value)))
      correct(misses, made, value, Math.max(tuning.step, FIRST_RANGES / (FIRST_RANGES + tried++)))
    if (forecast !== null && value !== null) {
      const judged = judgeWindows(history, tuning, segmentStart, windowSpread)
      const ofFormer = former !== null && index < former.until ? chanceAt(former.level, expected, value) : 0
      const probability = Math.max(judged.anomaly.probability, ofFormer, chanceOfZeros(judged.anomaly, zeros))
      anomaly = { ...judged.anomaly, probability: Math.max(probability, shareOfRuns(chances, probability)) }
      chances.push(probability)
      if (judged.restart !== null) {
        segmentStart = judged.restart
        if (former === null || index >= former.until)
          former = { level: { ...level, ...learned[segmentStart]?.level }, until: index + tuning.halfLife }
        restart(level, history, segmentStart, fade)
        Object.assign(older, { sum: 0, weight: 0, time: 0 })
        // Restores the spread and the misses from before the new level, because the first numbers of the new
        // level distorted both.
        Object.assign(spread, learned[segmentStart]?.spread)
        Object.assign(misses, learned[segmentStart]?.misses)
      }
    }
    steps.push({ known, forecast, anomaly })
    if (value === null) continue
    learnSpread(spread, expected, value)
    if (isReady && expected.mean >= ZEROS_FROM) {
      if (!isAfterZero) zeros.weight++
      if (!isAfterZero && value === 0) zeros.sum++
      isAfterZero = value === 0
    }
    const own = cycle[place]
    if (own) {
      // Each place is updated once in a cycle, so its numbers fade by the steps of a whole cycle.
      const placeFade = SLOW_FADE ** cycle.length
      own.sum = own.sum * placeFade + clipped
      own.base = own.base * placeFade + (level.weight > 0 ? expected.rate * (shares?.[index] ?? 1) : value)
      own.known++
    }
    level.sum = level.sum * fade + clipped
    level.weight = level.weight * fade + expected.factor
    level.time = level.time * fade + index * expected.factor
    older.sum = older.sum * fade + level.sum / level.weight
    older.weight = older.weight * fade + 1
    older.time = older.time * fade + level.time / level.weight
  }
  history.push(expect(0, values.length))
  return { steps, outlook: (index, ahead) => outlookFrom(history[index] ?? history.at(-1), ahead) }
}

/**
 * A weighted average of numbers. `time` is the sum of the indexes of these numbers, with the same weights.
 */
interface Level extends WeightedSum {
  time: number
}

/** With an older level, continues the growth since then (double exponential smoothing; Brown, 1959). */
function rateAt(index: number, level: Level, older: Level | null): number {
  if (level.weight === 0) return 0
  const rate = level.sum / level.weight
  if (older === null || older.weight === 0) return rate
  const time = level.time / level.weight
  const lag = time - older.time / older.weight
  if (lag < 2) return rate
  const slope = (rate - older.sum / older.weight) / lag
  return between(rate * 0.7, rate + slope * (index - time), rate * 1.4)
}

/** A wrong level would affect all of the summed numbers, so the variance is increased. */
function outlookFrom(from: HistoryPoint | undefined, ahead: readonly number[]): CountDistribution {
  if (from === undefined || ahead.length === 0) return { mean: 0, variance: 0 }
  const factors = ahead.reduce((sum, place) => sum + (from.factors[place] ?? 1), 0)
  const mean = Math.max(factors * from.rate, 0.02)
  const unsure = (factors * mean) / Math.max(from.weight, 1)
  return { mean, variance: (mean + unsure) * Math.max(1, from.variance / from.mean) }
}

function between(low: number, value: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

/** Makes the two ranges of a number, with the given probabilities of a miss. */
function forecastOf(expected: CountDistribution, misses: Misses): Forecast {
  const probabilities = probabilitiesOf(expected)
  return {
    ...expected,
    range95: rangeWith(probabilities, misses.of95),
    range80: rangeWith(probabilities, misses.of80),
    misses: { ...misses },
  }
}

/** Returns whether a range is too wide to help a reader, such as 1 to 11. A range of small numbers never is. */
export function isTooWide({ low, high }: NormalRange, mean: number): boolean {
  return high > 10 && high - low > 1.6 * mean
}

export function isWithin({ low, high }: NormalRange, value: number): boolean {
  return value >= low && value <= high
}

/** Lowers the chances of a miss after a miss, which widens the next ranges, and raises them after a hit. */
export function correct(
  misses: { of95: number; of80: number },
  { range95, range80 }: Ranges,
  value: number,
  step: number,
): void {
  misses.of95 = correctedMiss(misses.of95, 0.05, isWithin(range95, value), step)
  misses.of80 = correctedMiss(misses.of80, 0.2, isWithin(range80, value), step)
}

/** @param step the logarithm of the factor after a miss that was not expected at all */
export function correctedMiss(miss: number, wanted: number, isHit: boolean, step: number): number {
  return between(MISS_MIN, miss * Math.exp(step * (wanted - (isHit ? 0 : 1))), MISS_MAX)
}

/** Returns the chance that a number is at least as unusual as this one at a former level. */
function chanceAt({ sum, weight }: Level, { factor, mean, variance }: HistoryPoint, value: number): number {
  const former = Math.max((factor * sum) / weight, MEAN_MIN)
  return tailProbability({ mean: former, variance: (variance * former) / mean }, value)
}

/** Returns the chance of a window without any lead if, as before, some numbers are 0 by themselves. */
function chanceOfZeros({ actual, length }: Anomaly, { sum, weight }: WeightedSum): number {
  return actual > 0 || weight === 0 ? 0 : (sum / weight) ** length
}

/**
 * Returns how often something as unusual began before, as a share of the last numbers. So the end of a month, or a
 * day without leads now and then, is no news each time. A single time says nothing yet.
 */
function shareOfRuns(chances: readonly number[], probability: number): number {
  if (probability > 0.1) return 0
  const last = chances.slice(-RUNS_OF)
  const runs = last.filter((each, index) => each <= probability && !((last[index - 1] ?? 1) <= probability))
  return runs.length < 2 ? 0 : runs.length / last.length
}

/** A place with almost no leads, such as Sundays, always holds. Its hits must not correct the ranges. */
function isIdle({ factor, mean }: HistoryPoint): boolean {
  return factor < 0.1 && mean < 0.3
}

function learnSpread(spread: WeightedSum, expected: HistoryPoint, value: number): void {
  if (expected.weight === 0) return
  // Two leads are added to the limit, so that it does not cut off the ordinary spread of small numbers.
  const most = (SPREAD_CAP * Math.sqrt(expected.variance) + 2) ** 2 / expected.plain
  const off = Math.min(most, (value - expected.mean) ** 2 / expected.plain)
  spread.sum = spread.sum * SLOW_FADE + off
  spread.weight = spread.weight * SLOW_FADE + 1
}

/** Computes the level again, from the numbers since `start` alone. */
function restart(level: Level, history: readonly HistoryPoint[], start: number, fade: number): void {
  level.sum = 0
  level.weight = 0
  level.time = 0
  // The last number is left out here, because `judgeSeries` adds it to the level afterwards.
  for (const [index, { value, factor }] of history.slice(start, -1).entries()) {
    if (value === null) continue
    level.time = level.time * fade + (start + index) * factor
    level.sum = level.sum * fade + value
    level.weight = level.weight * fade + factor
  }
}

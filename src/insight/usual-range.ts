/**
 * The ranges in which the numbers of a series usually lie. The series is gone through from its beginning, and each
 * number is judged only by the numbers before it, so that the record of the ranges is an honest one.
 *
 * The mean is a level times a factor for the place in the cycle, such as the weekday. The spread is that of a
 * negative binomial distribution. The width of the ranges is corrected by how often earlier ranges held (adaptive
 * conformal inference; Gibbs and Candès, 2021, https://arxiv.org/abs/2106.00170).
 */
import {
  type CountDistribution,
  probabilitiesOf,
  type Range,
  rangeWith,
  tailProbability,
} from './count-distribution.ts'

/** The numbers of consecutive days, weeks or months, the oldest first. */
export interface CountSeries {
  /** The numbers; null where one is unknown or must not be learned from. */
  readonly values: readonly (number | null)[]
  /** The place of each number in the cycle, from 0: the weekday of a day, the month of a quarter. */
  readonly places: readonly number[]
  readonly scale: Scale
}

/** Days have a weekly cycle, weeks have none, and months have the cycle of a quarter. */
export type Scale = 'day' | 'week' | 'month'

interface Tuning {
  readonly places: number
  /** After so many numbers, an older number counts half as much for the level. */
  readonly halfLife: number
  /** The lengths of the last stretches that are judged together. */
  readonly stretches: readonly number[]
  /** The least length after which the level may start anew. */
  readonly restartAfter: number
  /** As many numbers as this speak for a Poisson spread, before the numbers themselves do. */
  readonly spreadPrior: number
}

const TUNING: Readonly<Record<Scale, Tuning>> = {
  day: { places: 7, halfLife: 35, stretches: [1, 2, 3, 4, 5, 7, 10, 14], restartAfter: 5, spreadPrior: 15 },
  week: { places: 1, halfLife: 10, stretches: [1, 2, 3, 4], restartAfter: 3, spreadPrior: 8 },
  month: { places: 3, halfLife: 8, stretches: [1, 2, 3], restartAfter: 3, spreadPrior: 4 },
}

/** The numbers of the same place that a range needs. */
export const NEEDED = 8
/** The step of the correction of the ranges, as in the paper. */
const GAMMA = 0.01
const [MISS_MIN, MISS_MAX] = [0.002, 0.6]
/** A number further off than this many deviations tells no more about the spread. */
const SPREAD_CAP = 3.5
/** After so many numbers, an older one counts half as much for the spread and the factors of the cycle. */
const SLOW_FADE = 0.5 ** (1 / 182)
/** A place of the cycle has this many leads at first that came at the level, so that its factor begins near 1. */
const PLACE_PRIOR = 2
/** As many stretches as this speak for a spread that numbers alone explain. */
const STRETCH_PRIOR = 60
/** A single number moves the level, the factors and the stretches with it by at most this many deviations. */
const CLIP = 3
/** A stretch nearer to its mean than this, in squared deviations, is not looked at closer. */
const TELLING = 1.5
/** No expected number is smaller. */
const MEAN_MIN = 0.02
/** A stretch this unlikely starts a new level. */
const RESTART_BELOW = 1e-4
/** So many independent stretches have about the same chance of a rare value as all stretches of a day. */
const STRETCHES_WORTH = 3.2

/** What was to be expected of one number, from the numbers before it. */
export interface Forecast extends CountDistribution {
  readonly range95: Range
  readonly range80: Range
  /** The shares of misses at which the ranges were made, after the correction. */
  readonly misses: Misses
}

export interface Misses {
  readonly of95: number
  readonly of80: number
}

/** How unusual a number, or the last stretch of numbers with it, is. */
export interface Surprise {
  /** The chance of something as unusual if nothing changed, from 0 to 1. */
  readonly probability: number
  /** The length of the most unusual stretch; 1 for the number alone. */
  readonly length: number
  /** The sum of the stretch, and what was to be expected of it before it began. */
  readonly actual: number
  readonly expected: number
}

export interface Step {
  /** The known numbers of the same place before this one. */
  readonly known: number
  /** Null while too few numbers are known. */
  readonly forecast: Forecast | null
  /** Null without a forecast, and for an unknown number. */
  readonly surprise: Surprise | null
}

/** A weighted sum, and its weight: for the level, the sums of the numbers and of their factors. */
interface Weighed {
  sum: number
  weight: number
}

export interface JudgedSeries {
  /** One step for each number. */
  readonly steps: readonly Step[]
  /**
   * Returns what was to be expected of the sum of several numbers in a row, by all numbers before `index`.
   * @param ahead the places of these numbers
   */
  readonly outlook: (index: number, ahead: readonly number[]) => CountDistribution
}

/** Goes through a series. The zeros before the first lead tell nothing: the series has not begun. */
export function judgeSeries({ values, places, scale }: CountSeries): JudgedSeries {
  const tuning = TUNING[scale]
  const fade = 0.5 ** (1 / tuning.halfLife)
  const cycle = Array.from({ length: tuning.places }, () => ({ sum: 0, base: 0, known: 0 }))
  const level: Weighed = { sum: 0, weight: 0 }
  const spread: Weighed = { sum: 0, weight: 0 }
  const stretchSpread = tuning.stretches.map(() => ({ sum: 0, weight: 0 }))
  const misses = { of95: 0.05, of80: 0.2 }
  const trail: Trail[] = []
  const learned: { spread: Weighed; misses: Misses }[] = []
  const steps: Step[] = []
  let segmentStart = 0

  const rateOf = () => (level.weight > 0 ? level.sum / level.weight : 0)
  const factorOf = ({ sum, base }: { sum: number; base: number }) =>
    (sum + PLACE_PRIOR) / (base + PLACE_PRIOR)
  const expect = (place: number): Trail => {
    const own = cycle[place] ?? { sum: 0, base: 0, known: 0 }
    const [rate, factor] = [rateOf(), factorOf(own)]
    const mean = Math.max(factor * rate, MEAN_MIN)
    const overdispersion = Math.max(
      1,
      (spread.sum + tuning.spreadPrior) / (spread.weight + tuning.spreadPrior),
    )
    const unsure = level.weight > 0 ? factor / level.weight : 1
    const unsureFactor = tuning.places > 1 ? (0.8 * rate) / (own.base + PLACE_PRIOR) : 0
    const plain = mean * (1 + unsure + unsureFactor)
    const factors = cycle.map(factorOf)
    const variance = overdispersion * plain
    return { value: null, clipped: 0, factor, factors, mean, plain, variance, rate, weight: level.weight }
  }

  for (const [index, given] of values.entries()) {
    const value = given === 0 && level.sum === 0 ? null : given
    const place = places[index] ?? 0
    const known = cycle[place]?.known ?? 0
    const expected = expect(place)
    const isReady = known >= NEEDED
    const forecast = isReady ? forecastOf(expected, misses) : null
    const reach = CLIP * Math.sqrt(expected.variance)
    const clipped =
      value === null || !isReady ? (value ?? 0) : between(expected.mean - reach, value, expected.mean + reach)
    trail.push({ ...expected, value, clipped })
    learned.push({ spread: { ...spread }, misses: { ...misses } })
    let surprise: Surprise | null = null
    if (forecast !== null && value !== null) {
      const judged = judgeStretches(trail, tuning, segmentStart, stretchSpread)
      surprise = judged.surprise
      if (!isIdle(expected)) correct(misses, forecast, value)
      if (judged.restart !== null) {
        segmentStart = judged.restart
        restart(level, trail, segmentStart, fade)
        // What the shift itself did to the spread and the ranges says nothing about the days after it.
        Object.assign(spread, learned[segmentStart]?.spread)
        Object.assign(misses, learned[segmentStart]?.misses)
      }
    }
    steps.push({ known, forecast, surprise })
    if (value === null) continue
    learnSpread(spread, expected, value)
    const own = cycle[place]
    if (own) {
      // The factor of a place fades by its own numbers, so that every place remembers equally far.
      const placeFade = SLOW_FADE ** cycle.length
      own.sum = own.sum * placeFade + clipped
      own.base = own.base * placeFade + (level.weight > 0 ? rateOf() : value)
      own.known++
    }
    level.sum = level.sum * fade + clipped
    level.weight = level.weight * fade + expected.factor
  }
  trail.push(expect(0))
  return { steps, outlook: (index, ahead) => outlookFrom(trail[index] ?? trail.at(-1), ahead) }
}

/** Adds up what is expected of each number. The level may be wrong for all of them in the same way. */
function outlookFrom(from: Trail | undefined, ahead: readonly number[]): CountDistribution {
  if (from === undefined || ahead.length === 0) return { mean: 0, variance: 0 }
  const factors = ahead.reduce((sum, place) => sum + (from.factors[place] ?? 1), 0)
  const mean = Math.max(factors * from.rate, 0.02)
  const unsure = (factors * mean) / Math.max(from.weight, 1)
  return { mean, variance: (mean + unsure) * Math.max(1, from.variance / from.mean) }
}

/** A number with what was known before it. */
interface Trail extends CountDistribution {
  readonly value: number | null
  /** The value, but no further from the mean than a single number may move what is learned. */
  readonly clipped: number
  /** The factor of its place, and those of all places. */
  readonly factor: number
  readonly factors: readonly number[]
  /** The variance of the number if events are independent. */
  readonly plain: number
  /** The level before the number, and the weight of the numbers that it was made from. */
  readonly rate: number
  readonly weight: number
}

function between(low: number, value: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}

/** Makes the ranges of a number at the corrected shares of misses. */
export function forecastOf(expected: CountDistribution, misses: Misses): Forecast {
  const probabilities = probabilitiesOf(expected)
  return {
    ...expected,
    range95: rangeWith(probabilities, misses.of95),
    range80: rangeWith(probabilities, misses.of80),
    misses: { ...misses },
  }
}

export function isWithin({ low, high }: Range, value: number): boolean {
  return value >= low && value <= high
}

function correct(misses: { of95: number; of80: number }, forecast: Forecast, value: number): void {
  const step = (miss: number, target: number, range: Range) =>
    Math.min(MISS_MAX, Math.max(MISS_MIN, miss + GAMMA * (target - (isWithin(range, value) ? 0 : 1))))
  misses.of95 = step(misses.of95, 0.05, forecast.range95)
  misses.of80 = step(misses.of80, 0.2, forecast.range80)
}

/** Tells whether a place of the cycle has next to no leads, such as Sundays. Its ranges always hold. */
function isIdle({ factor, mean }: Trail): boolean {
  return factor < 0.1 && mean < 0.3
}

function learnSpread(spread: Weighed, expected: Trail, value: number): void {
  if (expected.weight === 0) return
  const most = (expected.variance / expected.plain) * SPREAD_CAP ** 2
  const off = Math.min(most, (value - expected.mean) ** 2 / expected.plain)
  spread.sum = spread.sum * SLOW_FADE + off
  spread.weight = spread.weight * SLOW_FADE + 1
}

/** Judges the last stretches, each by the level before it began. */
function judgeStretches(
  trail: readonly Trail[],
  { stretches, restartAfter }: Tuning,
  segmentStart: number,
  stretchSpread: Weighed[],
): { surprise: Surprise; restart: number | null } {
  let best: Surprise = { probability: 1, length: 1, actual: 0, expected: 0 }
  let restart: number | null = null
  let [actual, clipped, factors, spread] = [0, 0, 0, 0]
  let start = trail.length
  for (const [index, length] of stretches.entries()) {
    if (trail.length - length < segmentStart) break
    while (start > trail.length - length) {
      const each = trail[--start]
      if (each === undefined || each.value === null) continue
      actual += each.value
      clipped += each.clipped
      factors += each.factor
      spread += (each.factor * each.variance) / each.mean
    }
    const before = trail[start]
    if (before === undefined || (length > 1 && before.weight < length)) break
    const isSingle = length === 1
    const mean = isSingle ? before.mean : Math.max(factors * before.rate, MEAN_MIN)
    const unsure = isSingle ? 0 : (factors * mean) / Math.max(before.weight, 1)
    const variance = isSingle ? before.variance : Math.max(mean, spread * before.rate) + unsure
    const own = stretchSpread[index] ?? { sum: 0, weight: 0 }
    const factor = Math.max(0.9, (own.sum + STRETCH_PRIOR) / (own.weight + STRETCH_PRIOR))
    const judged = isSingle ? actual : clipped
    const square = (judged - mean) ** 2 / variance
    own.sum += Math.min(SPREAD_CAP ** 2, square)
    own.weight++
    if (square < TELLING * factor) continue
    const probability = tailProbability(
      { mean, variance: Math.max(mean, variance * factor) },
      Math.round(judged),
    )
    if (probability < best.probability) best = { probability, length, actual, expected: mean }
    const isSteady = length >= restartAfter && isOneSided(trail.slice(start), before.rate)
    if (restart === null && isSteady && probability < RESTART_BELOW) restart = start
  }
  const probability = 1 - (1 - best.probability) ** STRETCHES_WORTH
  return { surprise: { ...best, probability }, restart }
}

/** Tells whether nearly all numbers of a stretch are off to the same side, and not a single one alone. */
function isOneSided(stretch: readonly Trail[], rate: number): boolean {
  const sides = stretch.flatMap(({ value, factor }) =>
    value === null ? [] : [Math.sign(value - factor * rate)],
  )
  const sum = Math.abs(sides.reduce((all, each) => all + each, 0))
  return sides.length > 0 && sum >= 0.6 * sides.length
}

/** Makes the level of the numbers since `start` alone. */
function restart(level: Weighed, trail: readonly Trail[], start: number, fade: number): void {
  level.sum = 0
  level.weight = 0
  // The last number is learned afterwards, like any other.
  for (const { value, factor } of trail.slice(start, -1)) {
    if (value === null) continue
    level.sum = level.sum * fade + value
    level.weight = level.weight * fade + factor
  }
}

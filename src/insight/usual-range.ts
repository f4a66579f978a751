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
}

const TUNING: Readonly<Record<Scale, Tuning>> = {
  day: { places: 7, halfLife: 35, stretches: [1, 2, 3, 4, 5, 7, 10, 14], restartAfter: 5 },
  week: { places: 1, halfLife: 10, stretches: [1, 2, 3, 4], restartAfter: 3 },
  month: { places: 3, halfLife: 8, stretches: [1, 2, 3], restartAfter: 3 },
}

/** The numbers of the same place that a range needs. */
export const NEEDED = 8
/** The step of the correction of the ranges, as in the paper. */
const GAMMA = 0.01
const [MISS_MIN, MISS_MAX] = [0.002, 0.6]
/** As many numbers as this speak for a Poisson spread, before the numbers themselves do. */
const SPREAD_PRIOR = 15
/** A number further off than this many deviations tells no more about the spread. */
const SPREAD_CAP = 3.5
/** After so many numbers, an older one counts half as much for the spread and the factors of the cycle. */
const SLOW_HALF_LIFE = 182
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

interface Level {
  /** The weighted sums of the numbers and of their factors. */
  sum: number
  weight: number
}

/**
 * Goes through a series.
 * @returns one step for each number, and the expectations of numbers to come from what all of them tell
 */
export function judgeSeries({ values, places, scale }: CountSeries): {
  readonly steps: readonly Step[]
  /**
   * Returns what was to be expected of the sum of several numbers in a row, by all numbers before `index`.
   * @param ahead the places of these numbers
   */
  readonly outlook: (index: number, ahead: readonly number[]) => CountDistribution
} {
  const tuning = TUNING[scale]
  const fade = 0.5 ** (1 / tuning.halfLife)
  const slowFade = 0.5 ** (1 / SLOW_HALF_LIFE)
  const cycle = Array.from({ length: tuning.places }, () => ({ sum: 0, base: 0, known: 0 }))
  const level: Level = { sum: 0, weight: 0 }
  const spread = { sum: 0, weight: 0 }
  const stretchSpread = tuning.stretches.map(() => ({ sum: 0, weight: 0 }))
  const misses = { of95: 0.05, of80: 0.2 }
  const trail: Trail[] = []
  const steps: Step[] = []
  let segmentStart = 0

  const factorOf = (place: number): number => {
    const { sum, base } = cycle[place] ?? { sum: 0, base: 0 }
    const mean = level.weight > 0 ? level.sum / level.weight : 0
    // Two numbers' worth of the level keeps the factor of a rarely seen place near 1.
    return mean > 0 ? (sum + 2 * mean) / (base + 2 * mean) : 1
  }
  const distribution = (place: number): CountDistribution => {
    const factor = factorOf(place)
    const rate = level.weight > 0 ? level.sum / level.weight : 0
    const mean = Math.max(factor * rate, 0.02)
    const overdispersion = Math.max(1, (spread.sum + SPREAD_PRIOR) / (spread.weight + SPREAD_PRIOR))
    const unsure = level.weight > 0 ? (factor * mean) / level.weight : mean
    const unsureFactor = mean / Math.max(1, cycle[place]?.known ?? 1)
    return { mean, variance: overdispersion * (mean + unsure + (tuning.places > 1 ? unsureFactor * 0.8 : 0)) }
  }

  for (const [index, value] of values.entries()) {
    const place = places[index] ?? 0
    const known = cycle[place]?.known ?? 0
    const expected = distribution(place)
    const isReady = known >= NEEDED
    const forecast = isReady ? forecastOf(expected, misses) : null
    trail.push(
      trailOf(
        value,
        expected,
        cycle.map((_, each) => factorOf(each)),
        level,
        place,
      ),
    )
    let surprise: Surprise | null = null
    if (forecast !== null && value !== null) {
      const judged = judgeStretches(trail, tuning, segmentStart, stretchSpread)
      surprise = judged.surprise
      correct(misses, forecast, value)
      if (judged.restart !== null) {
        segmentStart = judged.restart
        restart(level, trail, segmentStart, fade)
      }
    }
    steps.push({ known, forecast, surprise })
    if (value !== null) {
      learn({ value, place, expected }, { cycle, level, spread, fade, slowFade, factor: factorOf(place) })
    }
  }
  trail.push(
    trailOf(
      null,
      distribution(0),
      cycle.map((_, place) => factorOf(place)),
      level,
      0,
    ),
  )
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

interface Trail {
  readonly value: number | null
  /** The factor of its place, and those of all places. */
  readonly factor: number
  readonly factors: readonly number[]
  readonly mean: number
  readonly variance: number
  /** The level before the number, and the weight of the numbers that it was made from. */
  readonly rate: number
  readonly weight: number
}

function trailOf(
  value: number | null,
  { mean, variance }: CountDistribution,
  factors: readonly number[],
  level: Level,
  place: number,
): Trail {
  const rate = level.weight > 0 ? level.sum / level.weight : 0
  return { value, factor: factors[place] ?? 1, factors, mean, variance, rate, weight: level.weight }
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

function learn(
  { value, place, expected }: { value: number; place: number; expected: CountDistribution },
  state: {
    cycle: { sum: number; base: number; known: number }[]
    level: Level
    spread: { sum: number; weight: number }
    fade: number
    slowFade: number
    factor: number
  },
): void {
  const { cycle, level, spread, fade, slowFade, factor } = state
  const isFirst = level.weight === 0
  const rate = isFirst ? value : level.sum / level.weight
  const own = cycle[place]
  if (!isFirst) {
    const usual = Math.max(1, expected.variance / expected.mean)
    const off = Math.min(
      usual * SPREAD_CAP ** 2,
      (value - expected.mean) ** 2 / Math.max(expected.mean, 0.05),
    )
    spread.sum = spread.sum * slowFade + off
    spread.weight = spread.weight * slowFade + 1
  }
  if (own) {
    // The factor of a place fades by its own numbers, so that every place remembers equally far.
    const placeFade = slowFade ** cycle.length
    own.sum = own.sum * placeFade + value
    own.base = own.base * placeFade + rate
    own.known++
  }
  level.sum = level.sum * fade + value
  level.weight = level.weight * fade + factor
}

/** Judges the last stretches, each by the level before it began. */
function judgeStretches(
  trail: readonly Trail[],
  { stretches, restartAfter }: Tuning,
  segmentStart: number,
  stretchSpread: { sum: number; weight: number }[],
): { surprise: Surprise; restart: number | null } {
  let best: Surprise = { probability: 1, length: 1, actual: 0, expected: 0 }
  let restart: number | null = null
  for (const [index, length] of stretches.entries()) {
    const start = trail.length - length
    if (start < segmentStart) break
    const last = trail.slice(start)
    const before = last[0]
    if (before === undefined || (length > 1 && before.weight < length)) break
    let [actual, mean, variance, factors, known] = [0, 0, 0, 0, 0]
    for (const each of last) {
      if (each.value === null) continue
      known++
      actual += each.value
      const own = length === 1 ? each.mean : Math.max(each.factor * before.rate, 0.02)
      mean += own
      factors += each.factor
      variance += (each.variance * own) / each.mean
    }
    if (known === 0 || last.at(-1)?.value === null) continue
    if (length > 1) variance += (factors * mean) / Math.max(before.weight, 1)
    const own = stretchSpread[index] ?? { sum: 0, weight: 0 }
    const factor = Math.max(0.9, (own.sum + 4 * SPREAD_PRIOR) / (own.weight + 4 * SPREAD_PRIOR))
    const probability = tailProbability({ mean, variance: Math.max(mean, variance * factor) }, actual)
    own.sum += Math.min(SPREAD_CAP ** 2, (actual - mean) ** 2 / variance)
    own.weight++
    if (probability < best.probability) best = { probability, length, actual, expected: mean }
    const isSteady = length >= restartAfter && isOneSided(last, before.rate)
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
function restart(level: Level, trail: readonly Trail[], start: number, fade: number): void {
  level.sum = 0
  level.weight = 0
  // The last number is learned afterwards, like any other.
  for (const { value, factor } of trail.slice(start, -1)) {
    if (value === null) continue
    level.sum = level.sum * fade + value
    level.weight = level.weight * fade + factor
  }
}

/**
 * Judges how unusual the last numbers of a series are, alone and several in a row together, and whether the
 * series has reached a new level.
 */
import { type CountDistribution, tailProbability } from './count-distribution.ts'

/** A number further off than this many deviations tells no more about the spread. */
export const SPREAD_CAP = 3.5
/** No expected number is smaller. */
export const MEAN_MIN = 0.02
/** A stretch this unlikely starts a new level. */
const RESTART_BELOW = 1e-4
/** So many independent stretches have about the same chance of a rare value as all stretches of a day. */
const STRETCHES_WORTH = 3.5
/** The weight of the spread that single numbers explain, as a number of stretches. */
const STRETCH_PRIOR = 60
/** A stretch nearer to its mean than this, in squared deviations, is not looked at closer. */
const TELLING = 1.5

/** The most unusual run of values that ends with the latest one. The shortest run is that value alone. */
export interface Surprise {
  /** The chance of something as unusual if nothing changed, from 0 to 1. */
  readonly probability: number
  /** The length of the most unusual stretch; 1 for the number alone. */
  readonly length: number
  /** The sum of the stretch, and what was to be expected of it before it began. */
  readonly actual: number
  readonly expected: number
}

/** A number of a series, with the mean and the variance that were expected from the numbers before it. */
export interface Trail extends CountDistribution {
  readonly value: number | null
  /** The value, but no further from the mean than a single number may move what is learned. */
  readonly clipped: number
  /** The factor of its place in the cycle, such as its weekday, and the factors of all places. */
  readonly factor: number
  readonly factors: readonly number[]
  /** The variance of the number if events are independent. */
  readonly plain: number
  /** The level before the number, and the weight of the numbers that it was made from. */
  readonly rate: number
  readonly weight: number
}

/** A weighted sum, and its weight: for the level, the sums of the numbers and of their factors. */
export interface Weighed {
  sum: number
  weight: number
}

export interface Stretches {
  /** The lengths of the last stretches that are judged together. */
  readonly stretches: readonly number[]
  /** The least length after which the level may start anew. */
  readonly restartAfter: number
}

/** Judges the last stretches, each by the level before it began. */
export function judgeStretches(
  trail: readonly Trail[],
  { stretches, restartAfter }: Stretches,
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

/**
 * Judges how unusual the last numbers of a series are, alone and several in a row together, and whether the
 * series has reached a new level. A window is a run of numbers that ends with the latest one.
 */
import { type CountDistribution, tailProbability } from './count-distribution.ts'

/** The number of deviations at which the effect of a number on the spread is capped. */
export const SPREAD_CAP = 3.5
/** The least value of an expected number. */
export const MEAN_MIN = 0.02
/** A window with a smaller chance than this starts a new level. */
const RESTART_BELOW = 1e-4
/** The windows of a day overlap. Together they find a rare value about as often as this many independent windows. */
const INDEPENDENT_WINDOWS = 3.5
/** The weight of the spread that single numbers explain, as a number of windows. */
const WINDOW_PRIOR = 60
/** A window is not examined further if its squared deviation from the mean, divided by the variance, is below this. */
const LOOKED_AT_FROM = 1.5

/** The most unusual window. The shortest window is the latest number alone. */
export interface Anomaly {
  /** The chance of a window as unusual as this one if nothing changed, from 0 to 1. */
  readonly probability: number
  /** The number of values in the window; 1 for the latest number alone. */
  readonly length: number
  /** The sum of the window, and the sum that was expected before the window began. */
  readonly actual: number
  readonly expected: number
}

/** A number of a series, with the mean and the variance that the numbers before it let expect. */
export interface HistoryPoint extends CountDistribution {
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
export interface WeightedSum {
  sum: number
  weight: number
}

/** The windows that are judged in a series of days, weeks or months. */
export interface Windows {
  /** The lengths of the last windows that are judged together. */
  readonly windows: readonly number[]
  /** The least length of a window after which the level may start again. */
  readonly restartAfter: number
}

/**
 * Judges the last windows, each by the level before it began.
 * @param history all numbers so far; each window ends with the last one
 * @param segmentStart the place at which the present level began; no window begins before it
 * @param windowSpread what was learned of the spread of each window; is changed
 * @returns `restart` is the place from which on the level is new; null if it is the same
 */
export function judgeWindows(
  history: readonly HistoryPoint[],
  { windows, restartAfter }: Windows,
  segmentStart: number,
  windowSpread: WeightedSum[],
): { anomaly: Anomaly; restart: number | null } {
  let best: Anomaly = { probability: 1, length: 1, actual: 0, expected: 0 }
  let restart: number | null = null
  let [actual, clipped, factors, spread] = [0, 0, 0, 0]
  let start = history.length
  for (const [index, length] of windows.entries()) {
    if (history.length - length < segmentStart) break
    while (start > history.length - length) {
      const each = history[--start]
      if (each === undefined || each.value === null) continue
      actual += each.value
      clipped += each.clipped
      factors += each.factor
      spread += (each.factor * each.variance) / each.mean
    }
    const before = history[start]
    if (before === undefined || (length > 1 && before.weight < length)) break
    const isSingle = length === 1
    const mean = isSingle ? before.mean : Math.max(factors * before.rate, MEAN_MIN)
    const unsure = isSingle ? 0 : (factors * mean) / Math.max(before.weight, 1)
    const variance = isSingle ? before.variance : Math.max(mean, spread * before.rate) + unsure
    const own = windowSpread[index] ?? { sum: 0, weight: 0 }
    const factor = Math.max(0.9, (own.sum + WINDOW_PRIOR) / (own.weight + WINDOW_PRIOR))
    const judged = isSingle ? actual : clipped
    const square = (judged - mean) ** 2 / variance
    own.sum += Math.min(SPREAD_CAP ** 2, square)
    own.weight++
    if (square < LOOKED_AT_FROM * factor) continue
    const probability = tailProbability(
      { mean, variance: Math.max(mean, variance * factor) },
      Math.round(judged),
    )
    if (probability < best.probability) best = { probability, length, actual, expected: mean }
    const isSteady = length >= restartAfter && isOneSided(history.slice(start), before.rate)
    if (restart === null && isSteady && probability < RESTART_BELOW) restart = start
  }
  const probability = 1 - (1 - best.probability) ** INDEPENDENT_WINDOWS
  return { anomaly: { ...best, probability }, restart }
}

/** Tells whether nearly all numbers of a window are off to the same side, and not a single one alone. */
function isOneSided(window: readonly HistoryPoint[], rate: number): boolean {
  const sides = window.flatMap(({ value, factor }) =>
    value === null ? [] : [Math.sign(value - factor * rate)],
  )
  const sum = Math.abs(sides.reduce((all, each) => all + each, 0))
  return sides.length > 0 && sum >= 0.6 * sides.length
}

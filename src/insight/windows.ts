/** Judges the latest number, alone and with those before it (a window), and finds new levels. */
import { type CountDistribution, tailProbability } from './count-distribution.ts'

/** The effect of one number on the learned spread is limited to this many standard deviations. */
export const SPREAD_CAP = 3.5
/** The minimum of an expected number. It prevents a division by zero. */
export const MEAN_MIN = 0.02
/** If the chance of a window is below this, the series is taken to have a new level. */
const RESTART_BELOW = 1e-4
/** Windows with the same end overlap, and raise as many false alarms as this many independent ones. */
const INDEPENDENT_WINDOWS = 3.5
/** The spread that is predicted from single numbers counts as much as this many windows. */
const WINDOW_PRIOR = 60
/** A window is skipped if its squared deviation from the mean, divided by the variance, is below this. */
const LOOKED_AT_FROM = 1.5

/** The most unusual window: the latest number alone, or several numbers up to the latest. */
export interface Anomaly {
  /** The chance, from 0 to 1, that a window as unusual as this one occurs although nothing has changed. */
  readonly probability: number
  /** The number of values in the window; 1 for the latest number alone. */
  readonly length: number
  readonly actual: number
  /** The sum that was expected before the window began. */
  readonly expected: number
}

/** A number of a series, with the mean and the variance that were expected from the numbers before it. */
export interface HistoryPoint extends CountDistribution {
  readonly value: number | null
  /** The value, but limited if it is extreme, so that a single number does not change the level much. */
  readonly clipped: number
  /** The factor of the number's place in the cycle, such as its weekday. */
  readonly factor: number
  /** The factors of all places in the cycle. */
  readonly factors: readonly number[]
  /** The variance that the number would have if leads arrived independently of each other. */
  readonly plain: number
  /** The level (recent average) before this number. */
  readonly rate: number
  /** The sum of the weights of the numbers that the level averages. */
  readonly weight: number
}

export interface WeightedSum {
  sum: number
  weight: number
}

/** The windows that are judged for each number of a series. */
export interface Windows {
  /** The lengths of the windows. Each ends with the latest number. */
  readonly windows: readonly number[]
  /** The minimum length of a window that can show a new level. */
  readonly restartAfter: number
}

/**
 * Judges the windows that end with the last number, each by the level before the window began.
 * @param history all numbers so far
 * @param segmentStart the index at which the present level began; no window begins before it
 * @param windowSpread the learned spread of each window length; this function updates it
 * @returns `restart` is the index at which a new level began; null if the level is the same
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

/** Returns whether at least 80 % of the numbers of a window lie on the same side of the expected numbers. */
function isOneSided(window: readonly HistoryPoint[], rate: number): boolean {
  const sides = window.flatMap(({ value, factor }) =>
    value === null ? [] : [Math.sign(value - factor * rate)],
  )
  const sum = Math.abs(sides.reduce((all, each) => all + each, 0))
  return sides.length > 0 && sum >= 0.6 * sides.length
}

/** Counts how often the ranges of a series held, and decides whether they may still be shown. */
import type { RangeRecord } from '../domain/insight.ts'
import { normalQuantile } from './count-distribution.ts'
import { isWithin, type Ranges, type Step } from './usual-range.ts'

/** The share of numbers that a range is meant to hold. */
export const MEANT = 0.95
/** The number of last judged numbers that a record counts. */
const LAST = 365
/** Below this many judged numbers a series is trusted, because nothing speaks against it yet. */
export const JUDGED_MIN = 60
/** As `JUDGED_MIN`, but for ranges of a month or 30 days, which are wide and few. */
export const WINDOWS_MIN = 15
/**
 * Ranges are withheld if ranges that hold as often as meant would have such a record with a smaller chance than this.
 */
const WITHHELD_BELOW = 0.01

/** `learning`: too few earlier numbers are known. `withheld`: earlier claims were right too rarely. */
export type Shown = 'printed' | 'withheld' | 'learning'

/** Returns how a range is shown whose earlier ranges are believed, once enough earlier numbers are known. */
export function shownOf(isReady: boolean, isBelieved: boolean): Shown {
  return !isReady ? 'learning' : isBelieved ? 'printed' : 'withheld'
}

/** A count of the numbers that had ranges, and of those that lay within them. */
export interface Hits {
  readonly judged: number
  readonly hits95: number
  readonly hits80: number
}

/** Counts how many numbers lay within their ranges. Leaves out unknown numbers, and those without ranges. */
export function countHits(
  numbers: readonly { readonly forecast: Ranges | null; readonly value: number | null }[],
): Hits {
  const counted = { judged: 0, hits95: 0, hits80: 0 }
  for (const { forecast, value } of numbers) {
    if (forecast === null || value === null) continue
    counted.judged++
    if (isWithin(forecast.range95, value)) counted.hits95++
    if (isWithin(forecast.range80, value)) counted.hits80++
  }
  return counted
}

/** Counts how many of the last judged numbers lay within the ranges that were made before them. */
export function recordOf(steps: readonly Step[], values: readonly (number | null)[]): RangeRecord {
  const record = { hits: 0, of: 0 }
  for (let index = steps.length - 1; index >= 0 && record.of < LAST; index--) {
    const [forecast, value] = [steps[index]?.forecast, values[index]]
    if (!forecast || value === null || value === undefined) continue
    record.of++
    if (isWithin(forecast.range95, value)) record.hits++
  }
  return record
}

/**
 * Returns whether a record does not speak against the ranges: they did not hold clearly too rarely.
 * @param least the number of judged numbers from which on a record can speak against them
 * @param meant the share of numbers that the ranges are meant to hold
 */
export function isTrusted({ hits, of }: RangeRecord, least = JUDGED_MIN, meant = MEANT): boolean {
  if (of < least) return true
  const deviation = Math.sqrt(of * meant * (1 - meant))
  return hits + 0.5 >= of * meant + normalQuantile(WITHHELD_BELOW) * deviation
}

/** Counts how often numbers lay within their usual ranges, and decides whether ranges may still be shown. */
import type { RangeRecord } from '../domain/insight.ts'
import { normalQuantile } from './count-distribution.ts'
import { isWithin, type Ranges, type Step } from './usual-range.ts'

/** The share of numbers that should lie within their ranges. */
export const MEANT = 0.95
/** A record counts at most this many numbers with ranges: the last ones. */
const LAST = 365
/**
 * The minimum number of tested ranges for a decision. With fewer tested ranges, a series is always trusted.
 */
export const JUDGED_MIN = 60
/** The same limit as `JUDGED_MIN` for windows of 30 days, of which there are only a few. */
export const WINDOWS_MIN = 15
/** Ranges are not shown if ranges of the right width would hold so rarely with less than this chance. */
const WITHHELD_BELOW = 0.01

/** The count of numbers that had ranges, and of those within their ranges of 95 % and of 80 %. */
export interface Hits {
  readonly judged: number
  readonly hits95: number
  readonly hits80: number
}

/** Counts how many numbers lay within their ranges. Skips unknown numbers and numbers without ranges. */
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

/** Counts how many of the last numbers with ranges lay within their range of 95 %. */
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
 * Returns false if the ranges held clearly too rarely. Fewer than `least` tested ranges are always trusted.
 */
export function isTrusted({ hits, of }: RangeRecord, least = JUDGED_MIN, meant = MEANT): boolean {
  if (of < least) return true
  const deviation = Math.sqrt(of * meant * (1 - meant))
  return hits + 0.5 >= of * meant + normalQuantile(WITHHELD_BELOW) * deviation
}

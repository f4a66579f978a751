/** Counts how often numbers lay within their normal ranges, and decides whether ranges may still be shown. */
import type { RangeRecord } from '../domain/insight.ts'
import { isWithin, type Ranges, type Step } from './normal-range.ts'

/** The share of numbers that should lie within their ranges. */
export const MEANT = 0.95
/** A record counts at most this many numbers with ranges: the last ones. */
const LAST = 365
/** The minimum number of tested ranges for a decision. With fewer, ranges are always trusted. */
const JUDGED_MIN = 12
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
 * Returns false if the ranges held clearly too rarely, by the exact binomial probability. Fewer than
 * `JUDGED_MIN` tested ranges are always trusted. A part of a hit counts as a hit.
 */
export function isTrusted({ hits, of }: RangeRecord, meant = MEANT): boolean {
  if (of < JUDGED_MIN) return true
  let [probability, fewer] = [meant ** of, 0]
  for (let misses = 0; misses < of - Math.ceil(hits); misses++) {
    fewer += probability
    probability *= ((of - misses) / (misses + 1)) * ((1 - meant) / meant)
  }
  return 1 - fewer >= WITHHELD_BELOW
}

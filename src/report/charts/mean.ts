/** The running mean that the thick lines of a chart are made of, and how it is written beside them. */
import type { Numbers } from '../numbers.ts'

/** Days in a mean: a whole week, so that weekends do not move it. */
export const MEAN_DAYS = 7

/** For each day the mean of it and the six before; null where any of them is missing. */
export function meansOfWeek(counts: readonly (number | null)[]): readonly (number | null)[] {
  return counts.map((_, last) => {
    const week = counts.slice(Math.max(0, last - MEAN_DAYS + 1), last + 1).filter((count) => count !== null)
    if (week.length < MEAN_DAYS) return null
    return week.reduce((sum, count) => sum + count, 0) / MEAN_DAYS
  })
}

/** `47`, `3.4`, `0`: as exact as it may be taken. */
export function writeMean(mean: number, numbers: Numbers): string {
  return mean === 0 || mean >= 9.95 ? numbers.count(mean) : numbers.fixed(mean, 1)
}

/**
 * Computes the scheduled runs of a schedule in its time zone. A schedule with times of day runs once a date:
 * a skipped time is due right after the clock change, and a repeated time only the first time. A schedule
 * that repeats all day follows the clock: it has no run in a skipped hour, and it runs in both passes of a
 * repeated hour.
 */

import type { Pattern } from './cron.ts'
import type { Timing } from './timing.ts'
import { parseExpression } from './timing.ts'
import { DAY_MS, firstInstant, instantOf, isLeftOut, offsetMs, wallMs } from './zone.ts'

export interface DueTime {
  readonly due_at: Date
  /** The local time in ms as if it were UTC, even if a clock change skips that time. */
  readonly shownMs: number
}

const patterns = new WeakMap<Timing, Pattern>()

/** Returns the next scheduled run after an instant; null if there is none. */
export function nextScheduledRun(timing: Timing, after: Date): Date | null {
  return nextDueTime(timing, after)?.due_at ?? null
}

export function nextDueTime(timing: Timing, after: Date): DueTime | null {
  const pattern = patternOf(timing)
  return pattern.isContinuous
    ? nextShown(pattern, timing.timeZone, after.getTime())
    : nextOfDay(pattern, timing.timeZone, after.getTime())
}

/**
 * Returns the parsed expression of a timing.
 * @throws Error if the expression is invalid, which the settings prevent
 */
export function patternOf(timing: Timing): Pattern {
  const known = patterns.get(timing)
  if (known) return known
  const pattern = parseExpression(timing.expression, timing.holidays)
  if ('fault' in pattern) throw new Error(`${timing.expression}: ${pattern.fault}`)
  patterns.set(timing, pattern)
  return pattern
}

function nextOfDay({ next }: Pattern, timeZone: string, afterMs: number): DueTime | null {
  for (let shownMs = next(wallMs(afterMs, timeZone)); shownMs !== null; shownMs = next(shownMs)) {
    const dueMs = instantOf(shownMs, timeZone)
    const isInGap = wallMs(dueMs, timeZone) !== shownMs
    if (isInGap && isLeftOut(Math.floor(shownMs / DAY_MS), timeZone)) continue
    // Skips a local time that the clock shows for the second time.
    if (dueMs > afterMs) return { due_at: new Date(dueMs), shownMs }
  }
  return null
}

function nextShown({ next }: Pattern, timeZone: string, afterMs: number): DueTime | null {
  let atMs = afterMs
  let shownMs = next(wallMs(atMs, timeZone))
  while (shownMs !== null) {
    const offset = offsetMs(atMs, timeZone)
    const dueMs = shownMs - offset
    if (offsetMs(dueMs, timeZone) === offset) return { due_at: new Date(dueMs), shownMs }
    // The clock changes before that time. The search continues from the local time at the clock change.
    atMs = firstInstant(atMs, dueMs, (ms) => offsetMs(ms, timeZone) !== offset)
    shownMs = next(wallMs(atMs, timeZone) - 1)
  }
  return null
}

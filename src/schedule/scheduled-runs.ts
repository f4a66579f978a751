/**
 * Computes when a schedule runs in its time zone, and says what a clock change does to a run. A
 * schedule with a time of day, such as `at 07:00`, runs exactly once at that time on each of its dates.
 */
import type { Pattern, Timing } from './timing.ts'
import { parseExpression } from './timing.ts'
import { DAY_MS, firstInstant, instantOf, isLeftOut, offsetMs, wallMs } from './zone.ts'

interface DueTime {
  readonly due_at: Date
  /** The local time of the schedule, in ms as if it were UTC. A clock change may skip this time. */
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

/** @throws Error if the expression is invalid, which the settings prevent */
function patternOf(timing: Timing): Pattern {
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
    // A repeated local time is due only at its first occurrence, so that no run happens twice.
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
    // The clock changes before `dueMs`, so the search continues from the local time at the clock change.
    atMs = firstInstant(atMs, dueMs, (ms) => offsetMs(ms, timeZone) !== offset)
    shownMs = next(wallMs(atMs, timeZone) - 1)
  }
  return null
}

/** The maximum size of a clock change, in ms. Changes that leave out a whole date are larger. */
const CHANGE_MAX_MS = 3 * 3_600_000

interface ClockChange {
  readonly at: Date
  /** The milliseconds by which the clock goes forward; negative if the clock goes back. */
  readonly forwardMs: number
}

/** Lists the clock changes after `from`, up to and including `to`. */
export function clockChanges(timeZone: string, from: Date, to: Date): ClockChange[] {
  const changes: ClockChange[] = []
  for (let atMs = from.getTime(); atMs < to.getTime(); ) {
    const untilMs = Math.min(atMs + DAY_MS, to.getTime())
    const offset = offsetMs(atMs, timeZone)
    const forwardMs = offsetMs(untilMs, timeZone) - offset
    if (forwardMs !== 0) {
      const changeMs = firstInstant(atMs, untilMs, (ms) => offsetMs(ms, timeZone) !== offset)
      changes.push({ at: new Date(changeMs), forwardMs })
    }
    atMs = untilMs
  }
  return changes
}

/** @param previous the time of the previous scheduled run, or the start of the list of runs */
export function clockNote(timing: Timing, { due_at, shownMs }: DueTime, previous: Date): string | null {
  const { timeZone } = timing
  const dueMs = due_at.getTime()
  const time = formatClock(shownMs).slice(11)
  if (wallMs(dueMs, timeZone) !== shownMs) return `there is no ${time} on that day`
  const around = [new Date(dueMs - CHANGE_MAX_MS), new Date(dueMs + CHANGE_MAX_MS)] as const
  for (const { at, forwardMs } of clockChanges(timeZone, ...around)) {
    const sinceMs = dueMs - at.getTime()
    if (sinceMs >= forwardMs && sinceMs < 0) return `the first ${time} of two`
    if (sinceMs >= 0 && sinceMs < -forwardMs) return `the second ${time} of two`
    if (forwardMs > 0 && sinceMs >= 0 && at > previous && patternOf(timing).isContinuous) {
      const changedMs = wallMs(at.getTime(), timeZone)
      return `the clock goes from ${formatClock(changedMs - forwardMs).slice(11)} to ${formatClock(changedMs).slice(11)}`
    }
  }
  return null
}

/** Formats a local time, such as `2026-03-29 02:30`. */
export function formatClock(shownMs: number): string {
  return new Date(shownMs).toISOString().slice(0, 16).replace('T', ' ')
}

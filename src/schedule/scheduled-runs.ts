/**
 * Computes when a schedule runs in its time zone. A schedule with a time of day, such as `at 07:00`, runs
 * exactly once at that time on each of its dates.
 */
import type { Pattern, Timing } from './timing.ts'
import { parseExpression } from './timing.ts'
import { DAY_MS, firstInstant, instantOf, isLeftOut, offsetMs, wallMs } from './zone.ts'

const patterns = new WeakMap<Timing, Pattern>()

/** Returns the next scheduled run after an instant; null if there is none. */
export function nextScheduledRun(timing: Timing, after: Date): Date | null {
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

function nextOfDay({ next }: Pattern, timeZone: string, afterMs: number): Date | null {
  for (let shownMs = next(wallMs(afterMs, timeZone)); shownMs !== null; shownMs = next(shownMs)) {
    const dueMs = instantOf(shownMs, timeZone)
    const isInGap = wallMs(dueMs, timeZone) !== shownMs
    if (isInGap && isLeftOut(Math.floor(shownMs / DAY_MS), timeZone)) continue
    // A repeated local time is due only at its first occurrence, so that no run happens twice.
    if (dueMs > afterMs) return new Date(dueMs)
  }
  return null
}

function nextShown({ next }: Pattern, timeZone: string, afterMs: number): Date | null {
  let atMs = afterMs
  let shownMs = next(wallMs(atMs, timeZone))
  while (shownMs !== null) {
    const offset = offsetMs(atMs, timeZone)
    const dueMs = shownMs - offset
    if (offsetMs(dueMs, timeZone) === offset) return new Date(dueMs)
    // The clock changes before `dueMs`, so the search continues from the local time at the clock change.
    atMs = firstInstant(atMs, dueMs, (ms) => offsetMs(ms, timeZone) !== offset)
    shownMs = next(wallMs(atMs, timeZone) - 1)
  }
  return null
}

/** The report for a schedule: which of those that come with the program, and what it has to cover so that no day is left out. */

import { nextDueTime } from '../schedule/scheduled-runs.ts'
import type { Timing } from '../schedule/timing.ts'
import { DAY_MS } from '../schedule/zone.ts'

export interface FirstReport {
  readonly name: 'daily' | 'weekly' | 'monthly'
  /** Null for what the report covers by itself. */
  readonly period: 'day' | 'working_day' | 'since_last' | null
}

const WEEKS = 8

/** @param timing of a schedule that the settings take */
export function reportFor(timing: Timing, now: Date): FirstReport {
  const days = dueDays(timing, now)
  const weekdays = new Set(days.map((day) => new Date(day * DAY_MS).getUTCDay()))
  const hasWeekend = weekdays.has(0) || weekdays.has(6)
  if (days.length <= 2) return { name: 'monthly', period: null }
  if (weekdays.size === 1 && days.length >= WEEKS - 1) return { name: 'weekly', period: null }
  if (weekdays.size === 7 && days.length >= 7 * WEEKS - 1) return { name: 'daily', period: 'day' }
  if (!hasWeekend && days.length >= 5 * WEEKS - 1) return { name: 'daily', period: 'working_day' }
  return { name: 'daily', period: 'since_last' }
}

/** The days on which it is due within the next weeks, as numbers of days. */
function dueDays(timing: Timing, now: Date): number[] {
  const end = now.getTime() + WEEKS * 7 * DAY_MS
  const days = new Set<number>()
  for (let after = now; ; ) {
    const due = nextDueTime(timing, after)
    if (due === null || due.due_at.getTime() > end) return [...days]
    days.add(Math.floor(due.shownMs / DAY_MS))
    // What is due all day long counts once.
    after = new Date(due.due_at.getTime() + DAY_MS - (due.shownMs % DAY_MS) - 1)
  }
}

/**
 * The periods that reports cover: whole local days as half-open spans of UTC instants.
 * A day is not 24 hours: where clocks change it has 23 or 25, and a week before is counted on the calendar.
 */
import type { Period } from '../model.ts'
import { dayHolding, startOfDay } from './zone.ts'

/** The whole local day before the one that `at` lies in. */
export function dayBefore(at: Date, timeZone: string): Period {
  const today = dayHolding(at.getTime(), timeZone)
  const to = startOfDay(today, timeZone)
  // Skips a date that the zone left out (Samoa had no 30 December 2011).
  return periodOf(dayHolding(to - 1, timeZone), today, timeZone)
}

/** The same weekdays a week before, on the local calendar. */
export function weekBefore(period: Period): Period {
  const from = dayHolding(Date.parse(period.from), period.timeZone)
  const to = dayHolding(Date.parse(period.to), period.timeZone)
  return periodOf(from - 7, to - 7, period.timeZone)
}

function periodOf(fromDay: number, toDay: number, timeZone: string): Period {
  const instant = (day: number) => new Date(startOfDay(day, timeZone)).toISOString()
  return { from: instant(fromDay), to: instant(toDay), timeZone }
}

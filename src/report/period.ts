/**
 * The periods that reports cover: whole local days as half-open spans of UTC instants.
 * A day is not 24 hours: where clocks change it has 23 or 25, and a week before is counted on the calendar.
 */
import type { Period } from '../model.ts'
import { dayHolding, startOfDay } from './zone.ts'

const DAY_MS = 86_400_000

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

/**
 * Whole local days, from the beginning of one date up to that of another.
 * @param from such as `2026-11-14`
 */
export function periodBetween(from: string, to: string, timeZone: string): Period {
  return periodOf(Date.parse(from) / DAY_MS, Date.parse(to) / DAY_MS, timeZone)
}

/** The last whole local days before `at`. */
export function daysBefore(at: Date, days: number, timeZone: string): Period {
  const today = dayHolding(at.getTime(), timeZone)
  return periodOf(today - days, today, timeZone)
}

/** The period of as many local days that ends where this one begins. */
export function periodBefore(period: Period): Period {
  const from = dayHolding(Date.parse(period.from), period.timeZone)
  const to = dayHolding(Date.parse(period.to), period.timeZone)
  return periodOf(from - (to - from), from, period.timeZone)
}

function periodOf(fromDay: number, toDay: number, timeZone: string): Period {
  const instant = (day: number) => new Date(startOfDay(day, timeZone)).toISOString()
  return { from: instant(fromDay), to: instant(toDay), timeZone }
}

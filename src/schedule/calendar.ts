/** Dates as numbers of days since 1970-01-01, a Thursday: what no clock change touches. */

export const DAY_MS = 86_400_000

/** `2026-11-20` */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** 1 is Monday, 7 Sunday, as in ISO 8601. */
export function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

export function mondayOf(day: number): number {
  return day - weekdayOf(day) + 1
}

/** The first date of the month of a date, or of one so many months later. */
export function firstOfMonth(day: number, later = 0): number {
  const date = new Date(day * DAY_MS)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1) / DAY_MS
}

export function lastOfMonth(day: number): number {
  return firstOfMonth(day, 1) - 1
}

/** @param holidays dates on which nobody works, besides Saturdays and Sundays: `2026-12-25` */
export function isWorkingDay(day: number, holidays: readonly string[]): boolean {
  return weekdayOf(day) <= 5 && !holidays.includes(dateOf(day))
}

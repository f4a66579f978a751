/**
 * Computes local times of a time zone with Intl. Local times are milliseconds as if they were UTC, and local
 * dates are days since 1970-01-01, so that no clock change affects arithmetic with them.
 */

const clocks = new Map<string, Intl.DateTimeFormat>()

/** Returns the local date of an instant, in days since 1970-01-01. */
export function localDay(atMs: number, timeZone: string): number {
  return Math.floor(wallMs(atMs, timeZone) / DAY_MS)
}

/**
 * Returns the first instant of a local date, in ms. If a clock change skips midnight, that is the first
 * instant after the gap; if midnight occurs twice, the first midnight. A date that the time zone left out
 * begins when the next date begins.
 */
export function startOfDay(day: number, timeZone: string): number {
  return instantOf(day * DAY_MS, timeZone)
}

/** Returns whether the time zone left out a whole date, as Samoa left out 30 December 2011. */
export function isLeftOut(day: number, timeZone: string): boolean {
  return startOfDay(day, timeZone) === startOfDay(day + 1, timeZone)
}

/** The first of the two instants of a repeated local time; after the gap for a skipped one. */
export function instantOf(shownMs: number, timeZone: string): number {
  const offsets = [shownMs - DAY_MS, shownMs + DAY_MS].map((atMs) => offsetMs(atMs, timeZone))
  const candidates = offsets.map((offset) => shownMs - offset)
  const real = candidates.filter((atMs) => wallMs(atMs, timeZone) === shownMs)
  return real.length > 0 ? Math.min(...real) : endOfGap(shownMs, timeZone)
}

/** Returns by how many milliseconds the local clock is ahead of UTC. */
export function offsetMs(atMs: number, timeZone: string): number {
  return wallMs(atMs, timeZone) - atMs
}

/**
 * Returns the date that an instant belongs to, in days since 1970-01-01. If the clock is put back over
 * midnight, the repeated time belongs to the new date, although {@link localDay} returns the old date.
 */
export function dayHolding(atMs: number, timeZone: string): number {
  const day = localDay(atMs, timeZone)
  return startOfDay(day + 1, timeZone) <= atMs ? day + 1 : day
}

function endOfGap(shownMs: number, timeZone: string): number {
  const isPast = (atMs: number) => wallMs(atMs, timeZone) >= shownMs
  return firstInstant(shownMs - 2 * DAY_MS, shownMs + 2 * DAY_MS, isPast)
}

/**
 * Returns the first millisecond between `before` and `after` at which the condition holds; `after` if there is
 * none. From that instant on, the condition must keep holding.
 */
export function firstInstant(before: number, after: number, holds: (atMs: number) => boolean): number {
  let [no, yes] = [before, after]
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2)
    if (holds(middle)) yes = middle
    else no = middle
  }
  return yes
}

/** Returns the local time of an instant, in ms as if it were UTC. */
export function wallMs(atMs: number, timeZone: string): number {
  // Parses a text like `11/23/2026, 05:06:41`, because `formatToParts` would take twice as long.
  const numbers = clockOf(timeZone).format(atMs).match(/\d+/g) ?? []
  const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = numbers.map(Number)
  const wholeSeconds = Date.UTC(year, month - 1, day, hour, minute, second)
  return wholeSeconds + (((atMs % 1000) + 1000) % 1000)
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone)
  if (known) return known
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  clocks.set(timeZone, clock)
  return clock
}

export const DAY_MS = 86_400_000

/** Formats a day as a date such as `2026-11-20`. */
export function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Returns the weekday as in ISO 8601: 1 is Monday, 7 is Sunday. Day 0, 1970-01-01, is a Thursday. */
export function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

export function mondayOf(day: number): number {
  return day - weekdayOf(day) + 1
}

/** The days on which a week can begin. */
export const WEEK_STARTS = ['monday', 'sunday'] as const
export type WeekStart = (typeof WEEK_STARTS)[number]

/** Returns the first day of the week of a day, in days since 1970-01-01. */
export function firstOfWeek(day: number, start: WeekStart = 'monday'): number {
  return start === 'monday' ? mondayOf(day) : mondayOf(day + 1) - 1
}

/** @param later the number of months to add */
export function firstOfMonth(day: number, later = 0): number {
  const date = new Date(day * DAY_MS)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1) / DAY_MS
}

/**
 * Quarters begin in January.
 * @param later the number of quarters to add
 */
export function firstOfQuarter(day: number, later = 0): number {
  return firstOfMonth(day, 3 * later - (new Date(day * DAY_MS).getUTCMonth() % 3))
}

export function lastOfMonth(day: number): number {
  return firstOfMonth(day, 1) - 1
}

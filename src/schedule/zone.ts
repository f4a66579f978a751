/**
 * The clock of a time zone, by Intl alone: what it shows at an instant, and when it shows a time or a date begins.
 * What it shows is told in ms as if it were UTC, and a date in days since 1970-01-01, so that calculating with them
 * never meets a clock change.
 */

const clocks = new Map<string, Intl.DateTimeFormat>()

/** The local date of an instant, in days since 1970-01-01. */
export function localDay(atMs: number, timeZone: string): number {
  return Math.floor(wallMs(atMs, timeZone) / DAY_MS)
}

/**
 * The first instant of a local date, in ms. Midnight that does not exist: the first instant after the gap.
 * Midnight that comes twice: its first occurrence. A date that a zone left out is empty: it begins where the next does.
 */
export function startOfDay(day: number, timeZone: string): number {
  return instantOf(day * DAY_MS, timeZone)
}

/** Whether the zone jumped over a whole date. */
export function isLeftOut(day: number, timeZone: string): boolean {
  return startOfDay(day, timeZone) === startOfDay(day + 1, timeZone)
}

/**
 * The instant at which the clock shows a time: the first of two, and for one that it jumps over the first instant
 * after the jump.
 */
export function instantOf(shownMs: number, timeZone: string): number {
  const offsets = [shownMs - DAY_MS, shownMs + DAY_MS].map((atMs) => offsetMs(atMs, timeZone))
  const candidates = offsets.map((offset) => shownMs - offset)
  const real = candidates.filter((atMs) => wallMs(atMs, timeZone) === shownMs)
  return real.length > 0 ? Math.min(...real) : endOfGap(shownMs, timeZone)
}

/** How far the clock is ahead of UTC. */
export function offsetMs(atMs: number, timeZone: string): number {
  return wallMs(atMs, timeZone) - atMs
}

/** The date whose span holds the instant; differs from {@link localDay} where a clock is put back over midnight. */
export function dayHolding(atMs: number, timeZone: string): number {
  const day = localDay(atMs, timeZone)
  return startOfDay(day + 1, timeZone) <= atMs ? day + 1 : day
}

function endOfGap(shownMs: number, timeZone: string): number {
  const isPast = (atMs: number) => wallMs(atMs, timeZone) >= shownMs
  return firstInstant(shownMs - 2 * DAY_MS, shownMs + 2 * DAY_MS, isPast)
}

/** The first instant after `before`, and no later than `after`, from which on it holds. */
export function firstInstant(before: number, after: number, holds: (atMs: number) => boolean): number {
  let [no, yes] = [before, after]
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2)
    if (holds(middle)) yes = middle
    else no = middle
  }
  return yes
}

/** What the local clock shows, read as if it were UTC, in ms. */
export function wallMs(atMs: number, timeZone: string): number {
  const parts = clockOf(timeZone).formatToParts(atMs)
  const read = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value)
  const wholeSeconds = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  )
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

/* Dates as numbers of days since 1970-01-01, a Thursday: what no clock change touches. */

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

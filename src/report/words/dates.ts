/** Formats instants in the recipient's time zone, and periods in that of the report. */
import type { PeriodKind } from '../../domain/figures.ts'
import type { Instant, Period } from '../../domain/model.ts'
import { DAY_MS, localDay, mondayOf } from '../../schedule/zone.ts'

export interface Dates {
  /** Formats `Fri 20 Nov, 14:10`; in another year than the current one, `Fri 20 Nov 2025, 14:10`. */
  readonly instant: (at: Instant) => string
  /** Formats an instant of today as its time, `06:00`, and any other instant like `instant`. */
  readonly recent: (at: Instant) => string
  /** Formats a day: `Fri 20 Nov`. */
  readonly day: (at: Instant) => string
  /** Formats a time: `06:00`. */
  readonly time: (at: Instant) => string
  readonly areSameDay: (one: Instant, other: Instant) => boolean
}

type PeriodShape = 'day' | 'days' | 'week' | 'month' | 'quarter'

export interface PeriodNames {
  readonly shape: PeriodShape
  /** The full name: `Friday 20 November 2026`, `16–22 November 2026`, `November 2026`. */
  readonly long: string
  /** The name in a subject: `Fri 20 Nov`, `Fri 20 Nov – Sun 22 Nov`, `16–22 Nov`, `Nov 2026`. */
  readonly short: string
  /** The name in a column heading: `20 Nov`, `20–22 Nov`, `Nov`. */
  readonly brief: string
  /** The name within a sentence: `Friday`, `Friday – Sunday`, `20–29 November`, `November`. */
  readonly name: string
  /** The ISO 8601 number of a week; null for other periods. */
  readonly week: number | null
  /** The number of a quarter in its year, from 1; null for other periods. */
  readonly quarter: number | null
}

export function datesOf(locale: string, timeZone: string, now: Instant): Dates {
  const dayOf = (at: Instant) => localDay(Date.parse(at), timeZone)
  const year = format(locale, timeZone, { year: 'numeric' })
  const isThisYear = (at: Instant) => year(at) === year(now)
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  const date = { day: 'numeric', month: 'short' } as const
  const write = {
    day: format(locale, timeZone, { weekday: 'short', ...date }),
    time: format(locale, timeZone, clock),
    instant: format(locale, timeZone, { weekday: 'short', ...date, ...clock }),
    instantOfYear: format(locale, timeZone, { weekday: 'short', ...date, year: 'numeric', ...clock }),
  }
  const instant = (at: Instant) => (isThisYear(at) ? write.instant : write.instantOfYear)(at)
  return {
    instant,
    recent: (at) => (dayOf(at) === dayOf(now) ? write.time(at) : instant(at)),
    day: write.day,
    time: write.time,
    areSameDay: (one, other) => dayOf(one) === dayOf(other),
  }
}

export function namePeriod(locale: string, kind: PeriodKind, period: Period): PeriodNames {
  const { timeZone } = period
  const last = new Date(Date.parse(period.to) - 1).toISOString()
  const isOneDay = localDay(Date.parse(period.from), timeZone) === localDay(Date.parse(last), timeZone)
  const isLong = kind === 'week' || kind === 'month' || kind === 'quarter'
  const shape = isLong ? kind : isOneDay ? 'day' : 'days'
  const range = (options: Intl.DateTimeFormatOptions) =>
    formatOf(locale, timeZone, options).formatRange(Date.parse(period.from), Date.parse(last))
  const month = { day: undefined, month: 'long' } as const
  if (shape === 'month' || shape === 'quarter') {
    return {
      shape,
      long: range({ ...month, year: 'numeric' }),
      short: range({ month: 'short', year: 'numeric' }),
      brief: range({ month: 'short' }),
      name: range({ month: 'long' }),
      week: null,
      quarter: shape === 'quarter' ? quarterOf(localDay(Date.parse(period.from), timeZone)) : null,
    }
  }
  const weekday = shape === 'week' ? undefined : 'short'
  const isWeekdays = shape !== 'week' && Date.parse(period.to) - Date.parse(period.from) < 6.5 * DAY_MS
  return {
    shape,
    long: range({
      ...(shape === 'week' ? {} : { weekday: 'long' }),
      day: 'numeric',
      month: 'long',
      year: 'numeric',
    }),
    short: range({ ...(weekday === undefined ? {} : { weekday }), day: 'numeric', month: 'short' }),
    brief: range({ day: 'numeric', month: 'short' }),
    name: isWeekdays ? range({ weekday: 'long' }) : range({ day: 'numeric', month: 'long' }),
    week: shape === 'week' ? isoWeek(localDay(Date.parse(period.from), timeZone)) : null,
    quarter: null,
  }
}

/** Formats the local date `2026-11-20` as `20 Nov`. A local date has no time zone. */
export function formatLocalDay(locale: string, day: string): string {
  return formatOf(locale, 'UTC', { day: 'numeric', month: 'short' }).format(Date.parse(day))
}

/** Formats local dates as `20 Nov`, or `20–22 Nov` for several days. */
export function formatLocalDays(locale: string, first: string, last: string): string {
  const format = formatOf(locale, 'UTC', { day: 'numeric', month: 'short' })
  return format.formatRange(Date.parse(first), Date.parse(last))
}

/**
 * Returns the number of a week: that of the ISO week in which its fourth day lies. An ISO week belongs to the
 * year of its Thursday, so a week that begins on Sunday has the number of the Monday after it.
 * @param day the first day of the week, in days since 1970-01-01
 */
function isoWeek(day: number): number {
  const fourth = day + 3
  const thursday = new Date((mondayOf(fourth) + 3) * DAY_MS)
  const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  return Math.floor((thursday.getTime() - newYear) / (7 * DAY_MS)) + 1
}

function quarterOf(day: number): number {
  return Math.floor(new Date(day * DAY_MS).getUTCMonth() / 3) + 1
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(
  locale: string,
  timeZone: string,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const key = `${locale} ${timeZone} ${JSON.stringify(options)}`
  const found = formats.get(key) ?? new Intl.DateTimeFormat(locale, { ...options, timeZone })
  formats.set(key, found)
  return found
}

function format(locale: string, timeZone: string, options: Intl.DateTimeFormatOptions) {
  const found = formatOf(locale, timeZone, options)
  return (at: Instant): string => found.format(Date.parse(at))
}

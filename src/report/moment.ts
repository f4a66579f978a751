/** Instants, days and spans of time in words, on the clock of the report's zone. */
import type { Instant, Period } from '../model.ts'
import { localDay } from './zone.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Where and when the reader is: the zone of the report and the moment it was made. */
export interface Reader {
  readonly timeZone: string
  readonly now: Instant
}

/** `Fri 20 Nov, 14:10`; another year than the reader's is named: `Fri 20 Nov 2026, 14:10`. */
export function formatInstant(at: Instant, reader: Reader): string {
  const read = partsOf(at, reader.timeZone, 'short')
  const year = read.year === partsOf(reader.now, reader.timeZone, 'short').year ? '' : ` ${read.year}`
  return `${read.weekday} ${read.day} ${read.month}${year}, ${read.hour}:${read.minute}`
}

/** As {@link formatInstant}, without the date where it is the reader's own: `06:00`. */
export function formatRecent(at: Instant, reader: Reader): string {
  const [day, today] = [at, reader.now].map((instant) => localDay(Date.parse(instant), reader.timeZone))
  const read = partsOf(at, reader.timeZone, 'short')
  return day === today ? `${read.hour}:${read.minute}` : formatInstant(at, reader)
}

export interface DayNames {
  /** `Friday 20 November` */
  readonly long: string
  readonly year: string
  /** `Fri 20 Nov` */
  readonly short: string
  /** `20 Nov` */
  readonly date: string
  /** `Friday` */
  readonly weekday: string
}

/** The names of the day that a period begins with. */
export function nameDay(period: Period): DayNames {
  const long = partsOf(period.from, period.timeZone, 'long')
  const short = partsOf(period.from, period.timeZone, 'short')
  return {
    long: `${long.weekday} ${long.day} ${long.month}`,
    year: long.year,
    short: `${short.weekday} ${short.day} ${short.month}`,
    date: `${short.day} ${short.month}`,
    weekday: long.weekday,
  }
}

/** `4 minutes`, `3 hours`, `19 days`: the largest unit, rounded down. */
export function formatDuration(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute'
  if (ms < HOUR_MS) return count(ms / MINUTE_MS, 'minute')
  if (ms < 2 * DAY_MS) return count(ms / HOUR_MS, 'hour')
  return count(ms / DAY_MS, 'day')
}

function count(size: number, unit: string): string {
  const units = Math.floor(size)
  return `${units} ${unit}${units === 1 ? '' : 's'}`
}

type Parts = Record<'weekday' | 'day' | 'month' | 'year' | 'hour' | 'minute', string>

const clocks = new Map<string, Intl.DateTimeFormat>()

function partsOf(at: Instant, timeZone: string, width: 'long' | 'short'): Parts {
  const key = `${width} ${timeZone}`
  const clock =
    clocks.get(key) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      weekday: width,
      day: 'numeric',
      month: width,
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
  clocks.set(key, clock)
  const found = new Map(clock.formatToParts(Date.parse(at)).map(({ type, value }) => [type, value]))
  const read = (type: Intl.DateTimeFormatPartTypes) => found.get(type) ?? ''
  return {
    weekday: read('weekday'),
    day: read('day'),
    month: read('month'),
    year: read('year'),
    hour: read('hour'),
    minute: read('minute'),
  }
}

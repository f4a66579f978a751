/** Periods are whole local days, computed with calendar dates because days have 23 to 25 hours. */

import { isWorkingDay } from '../schedule/holidays.ts'
import { nextScheduledRun } from '../schedule/scheduled-runs.ts'
import type { Timing } from '../schedule/timing.ts'
import {
  DAY_MS,
  dateOf,
  dayHolding,
  firstOfMonth,
  firstOfQuarter,
  firstOfWeek,
  instantOf,
  isLeftOut,
  startOfDay,
  type WeekStart,
  wallMs,
} from '../schedule/zone.ts'
import type { PeriodKind } from './figures.ts'
import type { Instant, Period } from './model.ts'

const SPARK_DAYS = 14
const SPARK_WEEKS = 12
const SPARK_MONTHS = 12
const SPARK_QUARTERS = 8

export interface PeriodOptions {
  /** The regions and dates whose days are not working days, besides Saturdays and Sundays. */
  readonly holidays: readonly string[]
  /** The end of the period of the last report that was sent; null before the first report. */
  readonly lastEnd: Instant | null
  /** The first day of a week; Monday if absent. */
  readonly weekStarts?: WeekStart | undefined
}

/**
 * Returns the last whole local day, week, month or quarter that had ended at `at`. `working_day` begins with the last
 * working day and ends with the day before `at`. `since_last` begins at the end of the last issue. If there
 * is no last issue, or if it ends with the day before `at` or later, `since_last` is that day alone.
 */
export function periodOf(
  kind: PeriodKind,
  at: Date,
  timeZone: string,
  { holidays, lastEnd, weekStarts }: PeriodOptions,
): Period {
  const today = dayHolding(at.getTime(), timeZone)
  switch (kind) {
    case 'day':
      return dayBefore(at, timeZone)
    case 'working_day':
      return spanOf(lastWorkingDay(today, timeZone, holidays), today, timeZone)
    case 'week':
      return spanOf(firstOfWeek(today - 7, weekStarts), firstOfWeek(today, weekStarts), timeZone)
    case 'month':
      return spanOf(firstOfMonth(today, -1), firstOfMonth(today), timeZone)
    case 'quarter':
      return spanOf(firstOfQuarter(today, -1), firstOfQuarter(today), timeZone)
    case 'since_last': {
      const day = dayBefore(at, timeZone)
      return lastEnd !== null && lastEnd < day.to ? { ...day, from: lastEnd } : day
    }
  }
}

/** A coming run of a schedule, and the period of the report that it makes. */
export interface CoveringRun {
  readonly due: Date
  readonly period: Period
}

/** The runs that are looked at to find out what the reports of a schedule cover: those of a quarter or more. */
const RUNS = 70
/** Bounds the search for a schedule that repeats all day. */
const TRIES = 1000

/** Lists the coming runs with their periods. With `isOnceADay`, only the first run of each day counts. */
export function listCoveringRuns(
  kind: PeriodKind,
  timing: Timing,
  { isOnceADay, weekStarts }: Pick<PeriodOptions, 'weekStarts'> & { readonly isOnceADay: boolean },
  now: Date,
): CoveringRun[] {
  const runs: CoveringRun[] = []
  const dayOf = (at: Date) => dayHolding(at.getTime(), timing.timeZone)
  let due = nextScheduledRun(timing, now)
  for (let tries = 0; due !== null && runs.length < RUNS && tries < TRIES; tries++) {
    const last = runs.at(-1)
    const lastEnd = last?.period.to ?? null
    const period = periodOf(kind, due, timing.timeZone, { ...timing, weekStarts, lastEnd })
    const isSameDay = last !== undefined && dayOf(last.due) === dayOf(due)
    if (!isOnceADay || !isSameDay) runs.push({ due, period })
    due = nextScheduledRun(timing, due)
  }
  return runs
}

/**
 * Returns the same weekdays of an earlier week, the month or quarter before, or as many days directly before.
 */
export function priorOf(kind: PeriodKind, period: Period): Period {
  const { from, to } = daysOf(period)
  switch (kind) {
    case 'day':
    case 'week':
      return weekBefore(period)
    case 'working_day': {
      // Goes back more than one week if there are many holidays, so that the two periods do not overlap.
      const weeks = Math.ceil((to - from) / 7)
      return spanOf(from - 7 * weeks, to - 7 * weeks, period.timeZone)
    }
    case 'month':
      return spanOf(firstOfMonth(from, -1), from, period.timeZone)
    case 'quarter':
      return spanOf(firstOfQuarter(from, -1), from, period.timeZone)
    case 'since_last':
      return periodBefore(period)
  }
}

/** Returns the last 8 quarters, 12 months, 12 weeks or 14 days up to the end of a period, oldest first. */
export function periodsUpTo(kind: PeriodKind, { to: end, timeZone }: Period): Period[] {
  if (kind === 'week' || kind === 'month' || kind === 'quarter') {
    const to = dayHolding(Date.parse(end), timeZone)
    const startOf = (ago: number) =>
      kind === 'week' ? to - 7 * ago : firstOfMonth(to, kind === 'month' ? -ago : -3 * ago)
    const count = { week: SPARK_WEEKS, month: SPARK_MONTHS, quarter: SPARK_QUARTERS }[kind]
    return Array.from({ length: count }, (_, at) =>
      spanOf(startOf(count - at), startOf(count - at - 1), timeZone),
    )
  }
  return daysUpTo(end, SPARK_DAYS, timeZone)
}

export function daysUpTo(end: Instant, count: number, timeZone: string): Period[] {
  const days: Period[] = []
  for (let from = end; days.length < count; ) {
    const day = dayBefore(new Date(from), timeZone)
    days.unshift(day)
    from = day.from
  }
  return days
}

export function dayBefore(at: Date, timeZone: string): Period {
  const today = dayHolding(at.getTime(), timeZone)
  const to = startOfDay(today, timeZone)
  // Skips a date that the time zone left out, as Samoa left out 30 December 2011.
  return spanOf(dayHolding(to - 1, timeZone), today, timeZone)
}

/** Returns the period one week earlier on the local calendar, with the same weekdays. */
export function weekBefore(period: Period): Period {
  const { from, to } = daysOf(period)
  return spanOf(from - 7, to - 7, period.timeZone)
}

/** Returns the whole local days from one date, such as `2026-11-14`, up to the beginning of another. */
export function periodBetween(from: string, to: string, timeZone: string): Period {
  return spanOf(Date.parse(from) / DAY_MS, Date.parse(to) / DAY_MS, timeZone)
}

export function daysBefore(at: Date, days: number, timeZone: string): Period {
  const today = dayHolding(at.getTime(), timeZone)
  return spanOf(today - days, today, timeZone)
}

/** Returns the instant at which the local clock showed the same time, a number of days earlier. */
export function localDaysEarlier(at: Instant, days: number, timeZone: string): Instant {
  return new Date(instantOf(wallMs(Date.parse(at), timeZone) - days * DAY_MS, timeZone)).toISOString()
}

/** Returns the period with the same number of local days that ends where the given period begins. */
export function periodBefore(period: Period): Period {
  const { from, to } = daysOf(period)
  return spanOf(from - (to - from), from, period.timeZone)
}

/** Formats the local dates of a period: `2026-11-20`, or `2026-11-16 to 2026-11-22` for several days. */
export function formatDates(period: Period): string {
  return localDates(period).replace('--', ' to ')
}

/** Formats dates for a file name (ISO 8601): `2026-11-20`, or `2026-11-16--2026-11-22` for several days. */
export function localDates(period: Period): string {
  const { from, to } = daysOf(period)
  // Skips a date that the time zone left out, because it does not belong to the period.
  const last = dayHolding(startOfDay(to, period.timeZone) - 1, period.timeZone)
  return from >= last ? dateOf(from) : `${dateOf(from)}--${dateOf(last)}`
}

/** Returns the first local date of a period and the local date of its end, in days since 1970-01-01. */
function daysOf({ from, to, timeZone }: Period): { from: number; to: number } {
  return { from: dayHolding(Date.parse(from), timeZone), to: dayHolding(Date.parse(to), timeZone) }
}

function lastWorkingDay(today: number, timeZone: string, holidays: readonly string[]): number {
  let day = today - 1
  while (!isWorkingDay(day, holidays) || isLeftOut(day, timeZone)) day--
  return day
}

function spanOf(fromDay: number, toDay: number, timeZone: string): Period {
  const instant = (day: number) => new Date(startOfDay(day, timeZone)).toISOString()
  return { from: instant(fromDay), to: instant(toDay), timeZone }
}

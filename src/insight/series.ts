/**
 * Makes series from daily numbers. A left-out day counts neither in the number nor in the expected number.
 */
import type { CountedPipeline, ExpectedFigure, RangeKind } from '../domain/insight.ts'
import type { CountSeries, Scale } from './usual-range.ts'

const DAY_MS = 86_400_000
/** If less of a week or month than this remains after left-out days, its number counts as unknown. */
const LEAST_SHARE = 0.5

/** The numbers of one figure, such as new leads, for each local day. */
export interface DailyNumbers {
  readonly figure: ExpectedFigure
  readonly pipeline: CountedPipeline
  readonly values: readonly number[]
  /** True for each day that is left out because of a holiday or an annotation; by default no day is. */
  readonly isLeftOut?: readonly boolean[]
  /** True if an operator's annotation explains a day of the period. Such a period is not judged. */
  readonly isExplained?: boolean
  /** The kinds of ranges that held too rarely when reports published them; by default none. */
  readonly distrusted?: readonly RangeKind[]
}

interface PeriodSeries extends CountSeries {
  /** The sum of the left-out days in each week or month; 0 for a day, and if the number is unknown. */
  readonly leftOut: readonly number[]
}

/** The last day, week or month ends with the last date. */
export function seriesOf(
  { values, isLeftOut = [] }: Pick<DailyNumbers, 'values' | 'isLeftOut'>,
  dates: readonly string[],
  scale: Scale,
): PeriodSeries {
  if (scale === 'day') {
    const known = values.map((value, day) => (isLeftOut[day] ? null : value))
    return { values: known, places: dates.map(weekdayOf), scale, leftOut: values.map(() => 0) }
  }
  const groups = groupsOf(dates, scale).map((group) => {
    const sums = { known: 0, leftOut: 0 }
    for (let day = group.from; day < group.to; day++)
      sums[isLeftOut[day] ? 'leftOut' : 'known'] += values[day] ?? 0
    return { ...group, ...sums }
  })
  const shares = isLeftOut.includes(true) ? sharesOf(groups, values, isLeftOut, dates) : groups.map(() => 1)
  const isKnown = shares.map((share) => share >= LEAST_SHARE)
  return {
    values: groups.map(({ known }, index) => (isKnown[index] ? known : null)),
    shares: shares.map((share, index) => (isKnown[index] ? share : 1)),
    leftOut: groups.map(({ leftOut }, index) => (isKnown[index] ? leftOut : 0)),
    places: groups.map(({ place }) => place),
    scale,
  }
}

/** A span of days, as indexes in the list of dates. `to` is the first day after the span. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** `place` is the weekday or the month's place in its quarter, from 0; it is 0 for a week. */
interface Group extends Span {
  readonly place: number
}

function groupsOf(dates: readonly string[], scale: Scale): Group[] {
  const days = dates.length
  if (scale === 'day') return dates.map((date, day) => ({ from: day, to: day + 1, place: weekdayOf(date) }))
  if (scale === 'week')
    return spansOf(dates, (_, day) => (days - day) % 7 === 0).map((week) => ({ ...week, place: 0 }))
  return spansOf(dates, isFirstOfMonth).map((month) => ({
    ...month,
    place: (Number(dates[month.from]?.slice(5, 7)) - 1) % 3,
  }))
}

/** Divides the dates where `isFirst` returns true. The last span may be incomplete. */
export function spansOf(
  dates: readonly string[],
  isFirst: (date: string, position: number) => boolean,
): Span[] {
  const starts = dates.flatMap((date, index) => (isFirst(date, index) ? [index] : []))
  return starts.map((from, index) => ({ from, to: starts[index + 1] ?? dates.length }))
}

function isFirstOfMonth(date: string): boolean {
  return date.endsWith('-01')
}

/** The share that is not left out, from 0 to 1. Days weigh as much as their weekday's average before. */
function sharesOf(
  groups: readonly Group[],
  values: readonly number[],
  isLeftOut: readonly boolean[],
  dates: readonly string[],
): number[] {
  // Each weekday begins with one invented lead on one day, so that all weekdays weigh the same at first.
  const weekdays = Array.from({ length: 7 }, () => ({ sum: 1, days: 1 }))
  let next = 0
  return groups.map(({ from, to }) => {
    for (; next < from; next++) {
      const own = weekdays[weekdayOf(dates[next] ?? '')]
      if (own === undefined || isLeftOut[next]) continue
      own.sum += values[next] ?? 0
      own.days++
    }
    let [known, all] = [0, 0]
    for (let day = from; day < to; day++) {
      const { sum, days } = weekdays[weekdayOf(dates[day] ?? '')] ?? { sum: 1, days: 1 }
      all += sum / days
      if (!isLeftOut[day]) known += sum / days
    }
    return known / all
  })
}

/** Returns the weekday of a date, from 0 for a Monday to 6 for a Sunday. */
export function weekdayOf(date: string): number {
  return (Math.floor(Date.parse(date) / DAY_MS) + 3) % 7
}

export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

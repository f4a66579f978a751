/**
 * Makes series from daily numbers. A left-out day counts neither in the number nor in the expected number.
 */
import type { CountedPipeline, ExpectedFigure, RangeKind } from '../domain/insight.ts'
import type { CountSeries, Scale } from './normal-range.ts'

const DAY_MS = 86_400_000
/** If less of a week or month than this remains after left-out days, its number counts as unknown. */
const LEAST_SHARE = 0.5
/** A week is a dip if it had at most this share of a normal week, and clearly less: by so many deviations. */
const [DIP, CLEAR] = [0.5, 3]
/** At most this many days are dips at first, and later one day in twelve. */
const DIP_DAYS = 20
/** The share of a single day is that of the week around it, if the day usually has few leads: up to so many. */
const DIP_PRIOR = 5

/** The numbers of one figure, such as new leads, for each local day. */
export interface DailyNumbers {
  readonly figure: ExpectedFigure
  readonly pipeline: CountedPipeline
  readonly values: readonly number[]
  /** True for each day that is left out because of a holiday or an annotation; by default no day is. */
  readonly isLeftOut?: readonly boolean[]
  /** True for each day that an operator's annotation explains. A period with such a day is not judged. */
  readonly isExplained?: readonly boolean[]
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
  const dips = dipsOf(values, dates, isLeftOut)
  if (scale === 'day') {
    const known = values.map((value, day) => (isLeftOut[day] ? null : value))
    return { values: known, shares: dips, places: dates.map(weekdayOf), scale, leftOut: values.map(() => 0) }
  }
  const groups = groupsOf(dates, scale).map((group) => {
    const sums = { known: 0, leftOut: 0 }
    for (let day = group.from; day < group.to; day++)
      sums[isLeftOut[day] ? 'leftOut' : 'known'] += values[day] ?? 0
    return { ...group, ...sums }
  })
  const sharesWith = (weightOf: (day: number) => number) =>
    sharesOf(groups, values, isLeftOut, dates, weightOf)
  const isKnown = sharesWith((day) => (isLeftOut[day] ? 0 : 1)).map((share) => share >= LEAST_SHARE)
  const shares = sharesWith((day) => (isLeftOut[day] ? 0 : (dips[day] ?? 1)))
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

/** Divides the dates into days, weeks or months. The last of them ends with the last date. */
export function groupsOf(dates: readonly string[], scale: Scale): Group[] {
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

/** The mean of `weightOf` of its days. A day counts as much as its weekday's average before. */
function sharesOf(
  groups: readonly Group[],
  values: readonly number[],
  isLeftOut: readonly boolean[],
  dates: readonly string[],
  weightOf: (day: number) => number,
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
      known += (weightOf(day) * sum) / days
    }
    return known / all
  })
}

/**
 * Returns for each day the share of a normal day that the same date of the year before had, if a week with
 * that date was a clear dip, as around Christmas; otherwise 1. Dates after the last day, such as those until the
 * end of a month, may follow in `dates`.
 */
export function dipsOf(
  values: readonly number[],
  dates: readonly string[],
  isLeftOut: readonly boolean[] = [],
): number[] {
  const places = new Map(dates.map((date, day) => [date, day]))
  // The weeks before and after show what was normal then.
  const around = Array.from({ length: 4 }, (_, week) => [-42 + 7 * week, 21 + 7 * week]).flat()
  const near = dates.map((_, day) => {
    const normal = around.flatMap((away) =>
      day + away < 0 || isLeftOut[day + away] ? [] : [values[day + away] ?? 0],
    )
    return { came: values[day] ?? 0, normal: total(normal) / Math.max(1, normal.length) }
  })
  let [found, known] = [0, 0]
  return dates.map((date) => {
    const before = places.get(`${Number(date.slice(0, 4)) - 1}${date.slice(4)}`)
    if (before === undefined || before < 6 || isLeftOut[before]) return 1
    known++
    // The lowest of three weeks that contain the day, so that the first and the last day of a dip are found too.
    const weeks = [0, 3, 6].map((from) => {
      const days = near.slice(before - 6 + from, before + 1 + from)
      return { came: total(days.map(({ came }) => came)), normal: total(days.map(({ normal }) => normal)) }
    })
    const { came, normal } = weeks.reduce((least, week) =>
      week.came * least.normal < least.came * week.normal ? week : least,
    )
    if (came >= DIP * normal || normal - came < CLEAR * Math.sqrt(2 * normal)) return 1
    // If there are many dips, they are how the series scatters, and need not come again.
    if (++found > Math.max(DIP_DAYS, known / 12)) return 1
    const own = near[before] ?? { came, normal }
    return Math.min(1, (own.came + (DIP_PRIOR * came) / normal) / (own.normal + DIP_PRIOR))
  })
}

/** Returns the weekday of a date, from 0 for a Monday to 6 for a Sunday. */
export function weekdayOf(date: string): number {
  return (Math.floor(Date.parse(date) / DAY_MS) + 3) % 7
}

export function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

/** Makes series of days, weeks or months from the numbers of days. Days that are left out count on neither side. */
import type { ExpectedFigure, RangeKind } from '../domain/insight.ts'
import type { CountSeries, Scale } from './usual-range.ts'

const DAY_MS = 86_400_000
/**
 * The least share of a week or month that must remain after days are left out. Below this share, the number is
 * neither judged nor learned from.
 */
const LEAST_SHARE = 0.5

/** The numbers of one figure by local day. */
export interface DailyNumbers {
  readonly figure: ExpectedFigure
  /** The pipeline that is counted; null for all leads of the report. */
  readonly pipeline: { readonly id: string; readonly name: string } | null
  readonly values: readonly number[]
  /** Tells for each day whether it is left out because of a holiday or an annotation; by default none is. */
  readonly isLeftOut?: readonly boolean[]
  /** Tells whether an annotation explains a day of the report's period, so that the period is not judged. */
  readonly isExplained?: boolean
  /** The kinds of ranges that held too rarely when reports published them; by default none. */
  readonly distrusted?: readonly RangeKind[]
}

export interface PeriodSeries extends CountSeries {
  /** The sum of the left-out days of each week or month; 0 in a series of days, and for a span that is not judged. */
  readonly leftOut: readonly number[]
}

/** Makes a series of days, weeks or months from the numbers of days. The last week or month is the report's period. */
export function seriesOf(
  { values, isLeftOut = [] }: Pick<DailyNumbers, 'values' | 'isLeftOut'>,
  dates: readonly string[],
  scale: Scale,
): PeriodSeries {
  if (scale === 'day') {
    const known = values.map((value, day) => (isLeftOut[day] ? null : value))
    return { values: known, places: dates.map(weekdayOf), scale, leftOut: values.map(() => 0) }
  }
  const groups = (scale === 'week' ? weeksOf(values.length) : monthsOf(dates)).map((group) => {
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

interface Group {
  /** The first day, and the day after the last one, as places of the dates. */
  readonly from: number
  readonly to: number
  readonly place: number
}

function weeksOf(days: number): Group[] {
  const count = Math.floor(days / 7)
  return Array.from({ length: count }, (_, week) => {
    const to = days - 7 * (count - 1 - week)
    return { from: to - 7, to, place: 0 }
  })
}

/** Lists the months whose first day is among the dates. The last month ends with the dates. */
function monthsOf(dates: readonly string[]): Group[] {
  const starts = dates.flatMap((date, index) => (date.endsWith('-01') ? [index] : []))
  return starts.map((from, index) => ({
    from,
    to: starts[index + 1] ?? dates.length,
    place: (Number(dates[from]?.slice(5, 7)) - 1) % 3,
  }))
}

/**
 * Returns how much of each week or month is not left out, from 0 to 1. A day weighs what its weekday had on
 * average before the week or month.
 */
function sharesOf(
  groups: readonly Group[],
  values: readonly number[],
  isLeftOut: readonly boolean[],
  dates: readonly string[],
): number[] {
  // Begins each weekday with one lead on one day, so that all weigh the same at first.
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

/** Returns the weekday of a date from 0, a Monday. */
export function weekdayOf(date: string): number {
  return (Math.floor(Date.parse(date) / DAY_MS) + 3) % 7
}

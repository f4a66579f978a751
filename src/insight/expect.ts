/**
 * Judges the numbers of one report: makes a series of each, finds its usual range, and tells which numbers are
 * unusual among all of them.
 */
import type { PeriodKind } from '../domain/figures.ts'
import type { Expectation, ExpectedFigure, Shift, UsualRange } from '../domain/insight.ts'
import { type CountDistribution, probabilitiesOf, rangeWith, tailProbability } from './count-distribution.ts'
import { findUnusual } from './false-discovery.ts'
import { isTrusted, recordOf } from './record.ts'
import { type CountSeries, judgeSeries, NEEDED, type Scale, type Step } from './usual-range.ts'

const DAY_MS = 86_400_000
/** A report of more days than this is only judged if it is of a week or a month. */
const DAYS_MAX = 7
/** The numbers of a sparkline, as in `domain/period.ts`. */
const SPARK: Readonly<Record<Scale, number>> = { day: 14, week: 12, month: 12 }

/** The numbers of one figure by local day. */
export interface DailyNumbers {
  readonly figure: ExpectedFigure
  /** The pipeline that is counted; null for all leads of the report. */
  readonly pipeline: { readonly id: string; readonly name: string } | null
  /** The numbers of the days; null where one is unknown or must not be learned from. */
  readonly values: readonly (number | null)[]
}

export interface ReportDays {
  readonly kind: PeriodKind
  /** The local dates, in order and without a gap. The last ones are those of the period. */
  readonly dates: readonly string[]
  /** The number of days of the period. */
  readonly length: number
}

/** A judged number, with the values that split its difference. */
export interface Judged {
  readonly expectation: Expectation
  /** The days at the end of the series that are unusual together; those of the period unless a shift is told. */
  readonly days: number
  /** The expected sum of these days, and the ratio of the variance to that of independent leads. */
  readonly expected: number
  readonly overdispersion: number
}

/** Judges all numbers of a report together. A period that cannot be compared gives nothing. */
export function judgeReport(days: ReportDays, numbers: readonly DailyNumbers[]): Judged[] {
  const scale = scaleOf(days)
  if (scale === null) return []
  const judged = numbers.map((each) => judgeOne(each, days, scale))
  const unusual = findUnusual(
    judged.map(({ probability, expectation }) => ({
      probability,
      isOfAll: expectation.pipeline === null,
    })),
  )
  return judged.map(({ told, ...each }, index) => (unusual[index] ? { ...each, ...told() } : each))
}

function scaleOf({ kind, length }: ReportDays): Scale | null {
  if (kind === 'week' || kind === 'month') return kind
  return length <= DAYS_MAX ? 'day' : null
}

interface One extends Judged {
  readonly probability: number | null
  /** Returns what changes if the number is unusual. */
  readonly told: () => Partial<Judged>
}

function judgeOne(numbers: DailyNumbers, days: ReportDays, scale: Scale): One {
  const { figure, pipeline } = numbers
  const series = seriesOf(numbers.values, days, scale)
  const { steps, outlook } = judgeSeries(series)
  const count = scale === 'day' ? days.length : 1
  const first = series.values.length - count
  const last = steps.at(-1)
  const parts = series.values.slice(first)
  const isWhole = parts.length > 0 && parts.every((value) => value !== null)
  const actual = parts.reduce<number>((sum, value) => sum + (value ?? 0), 0)
  const record = recordOf(steps, series.values)
  const isReady = steps.slice(first).every(({ forecast }) => forecast !== null) && last?.forecast != null
  const expected: CountDistribution =
    count === 1 && last?.forecast ? last.forecast : outlook(first, series.places.slice(first))
  const range =
    count === 1
      ? last?.forecast?.range95
      : rangeWith(probabilitiesOf(expected), last?.forecast?.misses.of95 ?? 0.05)
  const isShown = isReady && isWhole && isTrusted(record)
  const surprise = last?.surprise ?? null
  const base: Expectation = {
    ...{ figure, pipeline, actual, record: record.of > 0 ? record : null, shift: null },
    judgement: isShown ? 'usual' : isReady && isWhole ? 'withheld' : 'learning',
    range: isShown && range ? range : null,
    expected: isShown ? expected.mean : null,
    periods: { known: Math.min(...steps.slice(first).map(({ known }) => known)), needed: NEEDED },
    band: bandOf(steps, scale, isTrusted(record)),
  }
  const own = count === 1 ? 1 : tailProbability(expected, actual)
  const overdispersion = Math.max(1, expected.variance / Math.max(expected.mean, 0.05))
  const direction = actual > expected.mean ? 'high' : 'low'
  return {
    expectation: base,
    days: days.length,
    expected: expected.mean,
    overdispersion,
    probability: isShown && surprise ? Math.min(own, surprise.probability) : null,
    told() {
      const isOfStretch = surprise !== null && surprise.length > count && surprise.probability < own
      if (!isOfStretch) return { expectation: { ...base, judgement: direction } }
      const shift = shiftOf(surprise, days, scale)
      const isOutside = range !== undefined && (actual < range.low || actual > range.high)
      return {
        expectation: { ...base, judgement: isOutside ? direction : 'usual', shift: isOutside ? null : shift },
        ...(isOutside ? {} : { days: shift.days, expected: surprise.expected }),
      }
    },
  }
}

function shiftOf(
  { length, actual, expected }: { length: number; actual: number; expected: number },
  { dates, length: periodDays }: ReportDays,
  scale: Scale,
): Shift {
  const days = scale === 'day' ? length : length * periodDays
  return { since: dates.at(-days) ?? dates[0] ?? '', days, actual, expected }
}

function bandOf(steps: readonly Step[], scale: Scale, isShown: boolean): (UsualRange | null)[] {
  return steps.slice(-SPARK[scale]).map(({ forecast }) => (isShown && forecast ? forecast.range95 : null))
}

/** Makes the series of a scale from the numbers of days. The last week or month is that of the period. */
export function seriesOf(
  values: readonly (number | null)[],
  { dates }: Pick<ReportDays, 'dates'>,
  scale: Scale,
): CountSeries {
  if (scale === 'day') return { values, places: dates.map(weekdayOf), scale }
  const groups: { values: (number | null)[]; place: number; isWhole: boolean }[] = []
  if (scale === 'week') {
    for (let end = values.length; end >= 7; end -= 7)
      groups.unshift({ values: [...values.slice(end - 7, end)], place: 0, isWhole: true })
  } else {
    for (const [index, date] of dates.entries()) {
      const isFirst = date.endsWith('-01')
      if (isFirst || groups.length === 0)
        groups.push({ values: [], place: (Number(date.slice(5, 7)) - 1) % 3, isWhole: isFirst })
      groups.at(-1)?.values.push(values[index] ?? null)
    }
  }
  const whole = groups.filter(({ isWhole }) => isWhole)
  return {
    values: whole.map((group) =>
      group.values.includes(null) ? null : group.values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
    ),
    places: whole.map(({ place }) => place),
    scale,
  }
}

/** Returns the weekday of a date from 0, a Monday. */
export function weekdayOf(date: string): number {
  return (Math.floor(Date.parse(date) / DAY_MS) + 3) % 7
}

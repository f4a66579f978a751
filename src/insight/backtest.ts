/**
 * Checks how right reports would have been in the past. A report gives each number a usual range and calls
 * some numbers unusual. The backtest repeats this for each past day, and uses only the numbers before that
 * day.
 */
import type { CountedPipeline, ExpectedFigure, RangeRecord, UsualRange } from '../domain/insight.ts'
import type { PeriodOptions } from '../domain/period.ts'
import { findUnusual, isNewAnomaly } from './false-discovery.ts'
import { type MoneyNumbers, type MoneyTest, testMoney } from './money-range.ts'
import { forecastEnd, monthsOf } from './pace.ts'
import { countHits, type Hits, isTrusted, recordOf, type Shown, shownOf } from './record.ts'
import { type DailyNumbers, groupsOf, type Span, seriesOf, total, weekdayOf } from './series.ts'
import { isWithin, judgeSeries, NEEDED, type Scale, type Step } from './usual-range.ts'
import { judgeRate, RATE_NEEDED, type RateNumbers, replayRate } from './win-rate.ts'

export const SCALES: readonly Scale[] = ['day', 'week', 'month']
/** The numbers of days after which the total of a month is forecast. */
const END_POINTS = [5, 10, 15, 20, 25]
/** The day of a month after which the forecast is compared with two simpler methods. */
const COMPARED_DAY = 10
const TRAILING_DAYS = 28
const LAST_DAYS = 90

/** The test of one series of days, weeks or months: how often its usual ranges contained the real number. */
export interface RangeTest extends Hits {
  readonly figure: ExpectedFigure
  readonly pipeline: CountedPipeline
  readonly scale: Scale
  /** The number of times that a report would have called a number unusual for the first time. */
  readonly claims: number
  readonly shown: Shown
  /**
   * The number of earlier numbers that the next range can use, and the number that it needs. A range for a
   * Monday uses only Mondays.
   */
  readonly periods: { readonly known: number; readonly needed: number }
}

/** The test of the win rate of 30 days: how often its usual range contained the real number of wins. */
export interface RateTest extends Hits, Pick<RangeTest, 'pipeline' | 'shown' | 'periods'> {
  /**
   * `judged` is the number of days whose report had a range. `withClaims` is the number of days whose report
   * would have called the rate unusual. Null for a single pipeline, because its rate is never called unusual.
   */
  readonly claimDays: { readonly judged: number; readonly withClaims: number } | null
}

/**
 * The number of daily, weekly or monthly reports that judged numbers, and the number of those that called a
 * number unusual.
 */
interface ReportTest {
  readonly scale: Scale
  readonly judged: number
  readonly withClaims: number
}

/**
 * The test of the forecast totals of months, for all leads together: how near they were to the real totals.
 */
export interface EndTest {
  readonly figure: ExpectedFigure
  /**
   * The forecasts after 5, 10, 15, 20 and 25 days. `of` is the number of their ranges (of 80 %), and `hits`
   * is the number of ranges that contained the real total.
   */
  readonly ranges: RangeRecord
  /** The number of forecasts that were not made, because too little was known or earlier ranges failed. */
  readonly notForecast: number
  /**
   * The mean errors of three methods after 10 days, as shares of the real totals. `months` is the number of
   * compared months. Null if no month with leads could be compared.
   */
  readonly errors: {
    readonly months: number
    readonly forecast: number
    readonly line: number
    readonly trailing: number
  } | null
  readonly shown: Shown
}

/** One day of a series as a report would have shown it. */
interface TestedDay {
  readonly date: string
  readonly value: number
  readonly range: UsualRange | null
  readonly isUnusual: boolean
  /** True if the day was left out. Such a day is not judged, and the ranges do not learn from it. */
  readonly isLeftOut: boolean
}

export interface Backtest {
  readonly from: string | null
  readonly to: string | null
  /** The number of days that were left out, because of holidays or because of annotations by operators. */
  readonly leftOut: { readonly holidays: number; readonly annotated: number }
  readonly ranges: readonly RangeTest[]
  /** The tests of the win rates. A pipeline in which no lead was ever won or lost has no test. */
  readonly winRates: readonly RateTest[]
  readonly wonValues: readonly MoneyTest[]
  readonly reports: readonly ReportTest[]
  readonly ends: readonly EndTest[]
  /** The last 90 days of each series, in the order of `numbers`. */
  readonly lastDays: readonly (readonly TestedDay[])[]
}

/**
 * Tests for past days what reports would have said about each number.
 * @param dates the local dates, in order and without a gap
 * @param numbers the series that one report has
 * @param holidays local dates that all series leave out
 * @param rates the won and lost leads on each day (0 on days that are left out): first of all pipelines
 * together, then of each pipeline
 * @param moneys the money that was won on each day, one entry for each main currency
 * @param weekStarts the first day of a week
 */
export function backtest(
  dates: readonly string[],
  numbers: readonly DailyNumbers[],
  holidays: readonly string[] = [],
  rates: readonly RateNumbers[] = [],
  moneys: readonly MoneyNumbers[] = [],
  weekStarts: PeriodOptions['weekStarts'] = 'monday',
): Backtest {
  const wholeOf = (scale: Scale) => wholeDays(scale, dates, weekStarts)
  const isHoliday = dates.map((date) => holidays.includes(date))
  const isAnnotated = (_: string, day: number) =>
    !isHoliday[day] && numbers.some(({ isLeftOut }) => isLeftOut?.[day])
  const ofAll = replayRate(rates[0] ?? { won: [], lost: [] })
  const ofDay = ofAll.map((probability, day) => (isHoliday[day] ? null : probability))
  const scales = SCALES.map((scale) =>
    testScale(scale, dates.slice(0, wholeOf(scale)), numbers, scale === 'day' ? ofDay : ofAll),
  )
  const days = scales[0]?.series ?? []
  return {
    from: dates[0] ?? null,
    to: dates.at(-1) ?? null,
    leftOut: {
      holidays: isHoliday.filter(Boolean).length,
      annotated: dates.filter(isAnnotated).length,
    },
    ranges: scales.flatMap(({ tests }) => tests),
    winRates: rates.flatMap((rate, index) => {
      const days = ofDay.filter((each) => each !== null).length
      return testRate(rate, index > 0 ? null : { judged: days, withClaims: scales[0]?.rateClaims ?? 0 }) ?? []
    }),
    wonValues: moneys.flatMap((money) =>
      (['day', 'week'] as const).map((scale) => testMoney(money, scale, wholeOf(scale))),
    ),
    reports: scales.map(({ report }) => report),
    ends: numbers.filter(({ pipeline }) => pipeline === null).map((each) => testEnds(dates, each, isHoliday)),
    lastDays: days.map(({ steps, unusual }, series) => {
      const first = Math.max(0, dates.length - LAST_DAYS)
      return dates.slice(first).map((date, place) => ({
        date,
        value: numbers[series]?.values[first + place] ?? 0,
        range: steps[first + place]?.forecast?.range95 ?? null,
        isUnusual: unusual[first + place] ?? false,
        isLeftOut: numbers[series]?.isLeftOut?.[first + place] ?? false,
      }))
    }),
  }
}

/** A series, and for each of its numbers whether a report would have called the number unusual. */
interface ReplayedSeries {
  readonly values: readonly (number | null)[]
  readonly steps: readonly Step[]
  readonly unusual: readonly boolean[]
}

/** Returns whether a number is news: it is unusual, and no earlier report named the same lasting change. */
export function isNews({ values, steps, unusual }: ReplayedSeries, index: number): boolean {
  const { anomaly, forecast } = steps[index] ?? {}
  const value = values[index] ?? null
  if (!unusual[index] || !anomaly || !forecast || value === null) return false
  const isOfNumber = anomaly.length === 1 || !isWithin(forecast.range95, value)
  return isOfNumber || isNewAnomaly(anomaly.length, (back) => unusual[index - back] ?? false)
}

interface Replayed extends Omit<DailyNumbers, 'values'>, ReplayedSeries {
  readonly places: readonly number[]
  readonly unusual: boolean[]
}

function testScale(
  scale: Scale,
  dates: readonly string[],
  numbers: readonly DailyNumbers[],
  rates: readonly (number | null)[],
): {
  readonly series: readonly Replayed[]
  readonly report: ReportTest
  readonly rateClaims: number
  readonly tests: RangeTest[]
} {
  const series = numbers.map((each): Replayed => {
    const days = {
      values: each.values.slice(0, dates.length),
      isLeftOut: each.isLeftOut?.slice(0, dates.length) ?? [],
    }
    const series = seriesOf(days, dates, scale)
    const { values, places } = series
    return { ...each, steps: judgeSeries(series).steps, values, places, unusual: values.map(() => false) }
  })
  const report = { scale, judged: 0, withClaims: 0 }
  const groups = groupsOf(dates, scale)
  let rateClaims = 0
  for (let index = 0; index < (series[0]?.values.length ?? 0); index++) {
    const probabilities = series.map(({ steps, values }) => {
      const anomaly = steps[index]?.anomaly ?? null
      if (anomaly === null) return null
      return isTrusted(recordOf(steps.slice(0, index + 1), values)) ? anomaly.probability : null
    })
    const ofRate = rates[(groups[index]?.to ?? 0) - 1] ?? null
    if (ofRate === null && probabilities.every((each) => each === null)) continue
    report.judged++
    const unusual = findUnusual([
      ...probabilities.map((probability, place) => ({
        probability,
        isOfAll: series[place]?.pipeline === null,
      })),
      { probability: ofRate, isOfAll: false },
    ])
    for (const [place, each] of series.entries()) each.unusual[index] = unusual[place] ?? false
    const isRateUnusual = unusual.at(-1) ?? false
    if (isRateUnusual) rateClaims++
    if (isRateUnusual || series.some((each) => isNews(each, index))) report.withClaims++
  }
  return { series, report, rateClaims, tests: series.map((each) => testRanges(scale, each)) }
}

function testRanges(scale: Scale, series: Replayed): RangeTest {
  const { figure, pipeline, steps, values, places, distrusted } = series
  const test = countHits(steps.map(({ forecast }, index) => ({ forecast, value: values[index] ?? null })))
  const known = knownNext(places, values)
  const isReady = known >= NEEDED && test.judged > 0
  return {
    ...{ figure, pipeline, scale, ...test },
    claims: values.filter((_, index) => isNews(series, index)).length,
    shown: shownOf(isReady, isTrusted(recordOf(steps, values)) && !distrusted?.includes(scale)),
    periods: { known, needed: NEEDED },
  }
}

function testRate(
  { pipeline, isDistrusted, ...days }: RateNumbers,
  claimDays: RateTest['claimDays'],
): RateTest | null {
  const { steps, isTrusted } = judgeRate(days)
  if (steps.every(({ decided }) => decided === 0)) return null
  const last = steps.at(-1)
  return {
    ...countHits(steps.map(({ forecast, won }) => ({ forecast, value: won }))),
    ...{ pipeline, claimDays },
    shown: shownOf(last?.forecast != null, isTrusted && !isDistrusted),
    periods: { known: last?.known ?? 0, needed: RATE_NEEDED },
  }
}

/** Counts the known numbers of each weekday (or other place in the cycle), and returns the smallest count. */
function knownNext(places: readonly number[], values: readonly (number | null)[]): number {
  const known = new Map(places.map((place) => [place, 0]))
  for (const [index, place] of places.entries())
    if (values[index] !== null) known.set(place, (known.get(place) ?? 0) + 1)
  return known.size === 0 ? 0 : Math.min(...known.values())
}

/** Returns the number of days up to the end of the last whole week or month. */
function wholeDays(scale: Scale, dates: readonly string[], weekStarts: PeriodOptions['weekStarts']): number {
  if (scale === 'day') return dates.length
  const isLast = (date: string) => {
    const next = new Date(Date.parse(date) + 86_400_000)
    return scale === 'week' ? next.getUTCDay() === (weekStarts === 'sunday' ? 0 : 1) : next.getUTCDate() === 1
  }
  return dates.findLastIndex(isLast) + 1
}

/**
 * Forecasts the totals of past months after some of their days, and compares the forecasts with the real
 * totals.
 */
function testEnds(
  dates: readonly string[],
  { figure, values, isLeftOut = [], distrusted = [] }: DailyNumbers,
  isHoliday: readonly boolean[],
): EndTest {
  const places = dates.map(weekdayOf)
  // A forecast cannot foresee that a later day will be annotated as unusual. So that such a day does not
  // count for or against the forecast, it counts as 0 in the total that the forecast is compared with.
  const usual = values.map((value, day) => (isLeftOut[day] && !isHoliday[day] ? 0 : value))
  const months = monthsOf(dates)
  const ranges = { hits: 0, of: 0 }
  const errors = { months: 0, sum: 0, forecast: 0, line: 0, trailing: 0 }
  let notForecast = 0
  const forecast = (now: Span, at: number) =>
    forecastEnd(
      {
        ...{ values: values.slice(0, at), places: places.slice(0, at) },
        ...{ isLeftOut: isLeftOut.slice(0, at), isHoliday: isHoliday.slice(0, now.to) },
      },
      months.filter(({ to }) => to <= now.from),
      now,
    )
  for (const now of months.filter(({ to }) => to <= dates.length)) {
    for (const point of END_POINTS) {
      const at = now.from + point
      const outcome = forecast(now, at)
      if (outcome === null) {
        notForecast++
        continue
      }
      const soFar = total(values.slice(now.from, at))
      const whole = soFar + total(usual.slice(at, now.to))
      ranges.of++
      if (isWithin(outcome.range, whole)) ranges.hits++
      if (point !== COMPARED_DAY) continue
      const perDay = total(values.slice(Math.max(0, at - TRAILING_DAYS), at)) / Math.min(TRAILING_DAYS, at)
      errors.months++
      errors.sum += whole
      errors.forecast += Math.abs(outcome.expected - whole)
      errors.line += Math.abs((soFar / point) * (now.to - now.from) - whole)
      errors.trailing += Math.abs(soFar + perDay * (now.to - at) - whole)
    }
  }
  const last = months.at(-1)
  const isShown = last !== undefined && forecast(last, dates.length) !== null
  return {
    ...{ figure, ranges, notForecast },
    errors:
      errors.sum === 0
        ? null
        : {
            months: errors.months,
            forecast: errors.forecast / errors.sum,
            line: errors.line / errors.sum,
            trailing: errors.trailing / errors.sum,
          },
    shown: shownOf(isShown || ranges.of > 0, isShown && !distrusted.includes('month_end')),
  }
}

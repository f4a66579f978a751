/** Counts how often a report of twelve series tells of a change, without a change and with a planted one. */
import { findUnusual } from '../../../src/insight/false-discovery.ts'
import { isWithin, judgeSeries, type Step } from '../../../src/insight/normal-range.ts'
import { isTrusted, recordOf } from '../../../src/insight/record.ts'
import { judgeRate } from '../../../src/insight/win-rate.ts'
import { dailyNumbers, weekdaysOf } from '../../support/reports/daily-numbers.ts'
import { type Result, resultOf } from './result.ts'
import { KINDS, type Kind } from './series.ts'

/** The share of all leads that each of five pipelines has, and the wins among all leads. */
const SHARES = [0.45, 0.25, 0.15, 0.1, 0.05]
const WINS = 0.15
const DAYS = 430
/** The companies with a shift have other seeds. */
const SEEDS = 9000
/** The first day of a report: half a year is known. */
const FIRST = 180

/** Twelve series of one company: new and won leads, in all and by pipeline. The first two are of all leads. */
export function companyOf({ given }: Pick<Kind, 'given'>, days: number, seed: number): number[][] {
  const parts = [1, WINS].map((part) =>
    SHARES.map((share, index) =>
      dailyNumbers({ ...given, mean: given.mean * part * share, days, seed: seed * 100 + part * 20 + index }),
    ),
  )
  const all = parts.map((series) =>
    Array.from({ length: days }, (_, day) => series.reduce((sum, values) => sum + (values[day] ?? 0), 0)),
  )
  return [...all, ...parts.flat()]
}

/** Makes the lost leads of a company by day. They are twice as many as the won ones. */
export function lostOf({ given }: Pick<Kind, 'given'>, days: number, seed: number): number[] {
  return dailyNumbers({ ...given, mean: given.mean * WINS * 2, days, seed: seed * 100 + 40 })
}

/** The number of days judged before the first report, because a claim that they made is no news in it. */
const DAYS_BEFORE = 14

/** A day with the places of the unusual series, and the places of those that are news. */
interface NewsDay {
  readonly day: number
  readonly unusual: readonly number[]
  readonly news: readonly number[]
}

/**
 * Lists the days, from `from` on, on which one of the series is unusual. The win rate has the place after the last
 * series.
 * @param lost the lost leads in all, of which the wins are the second series; null to judge no rate
 */
export function headlinesOf(
  company: readonly number[][],
  lost: readonly number[] | null,
  from: number,
): NewsDay[] {
  const judged: ReplayedSeries[] = company.map((values) => ({
    values,
    ...judgeSeries({ values, places: weekdaysOf(values), scale: 'day' }),
    unusual: [],
  }))
  const found: NewsDay[] = []
  let shown: boolean[] = []
  for (let day = from - DAYS_BEFORE; day < (company[0]?.length ?? 0); day++) {
    if (shown.length === 0 || day % 30 === 0)
      shown = judged.map(({ steps, values }) => isTrusted(recordOf(steps.slice(0, day), values)))
    const counted = judged.map(({ steps }, index) => ({
      probability: shown[index] ? (steps[day]?.anomaly?.probability ?? null) : null,
      isOfAll: index < 2,
    }))
    const rate = lost && judgeRate({ won: company[1]?.slice(0, day + 1) ?? [], lost: lost.slice(0, day + 1) })
    const ofRate = rate?.isTrusted ? (rate.steps.at(-1)?.forecast?.probability ?? null) : null
    const unusual = findUnusual([...counted, { probability: ofRate, isOfAll: false }])
    for (const [index, each] of judged.entries()) each.unusual[day] = unusual[index] ?? false
    const places = unusual.flatMap((is, index) => (is ? [index] : []))
    const news = places.filter((index) => isNews(judged[index], day))
    if (day >= from && places.length > 0) found.push({ day, unusual: places, news })
  }
  return found
}

/** @param years the years without a change, of all kinds together */
export function measureFalseHeadlines(years: number): Result[] {
  const kinds = KINDS.filter(({ given, isChanging }) => given.mean >= 3 && !isChanging)
  const each = Math.max(1, Math.round(years / kinds.length))
  let [sum, of] = [0, 0]
  const results = kinds.map((kind) => {
    let found = 0
    for (let seed = 1; seed <= each; seed++)
      found += headlinesOf(companyOf(kind, DAYS, seed), lostOf(kind, DAYS, seed), FIRST).filter(
        ({ day, news }) => news.length > 0 && !kind.isOdd?.(day),
      ).length
    sum += found
    of += each
    return falseHeadlines(kind.name, found, each)
  })
  return [...results, falseHeadlines('all', sum, of)]
}

function falseHeadlines(series: string, found: number, years: number): Result {
  const measured = (found / years / (DAYS - FIRST)) * 30
  return resultOf('false-headlines', series, '30 days of reports', measured, years)
}

/** No leads on weekends. */
const WORKDAYS = [1.4, 1.5, 1.5, 1.4, 1.2, 0, 0]

const MANY = { name: '40 a day', given: { mean: 40 } }
const FEW = { name: '25 a workday', given: { mean: 18, week: WORKDAYS } }
const SHIFTS = [
  { goal: 'shift-found', share: 0.4, within: 3, ...MANY },
  { goal: 'shift-of-few-found', share: 0.4, within: 3, ...FEW },
  { goal: 'small-shift-found', share: 0.2, within: 10, ...MANY },
] as const

/** Plants a shift of all new leads of a company, and looks whether it is found in time. */
export function measureShifts(rounds: number): Result[] {
  const both = SHIFTS.flatMap((each) => [{ ...each, share: -each.share }, each])
  return both.map(({ goal, share, within, name, given }) => {
    let found = 0
    for (let seed = 1; seed <= rounds; seed++) {
      const at = 330 + (seed % 7)
      const times = (day: number) => (day < at ? 1 : 1 + share)
      const kind = { given: { ...given, times } }
      const days = at + within
      const [company, lost] = [companyOf(kind, days, seed + SEEDS), lostOf(kind, days, seed + SEEDS)]
      if (headlinesOf(company, lost, at).some(({ news }) => news.includes(0))) found++
    }
    const sign = share > 0 ? '+' : '−'
    const series = `${sign}${Math.abs(share) * 100} % of ${name}`
    return resultOf(goal, series, `within ${within} days`, found / rounds, rounds)
  })
}

/** A series, and for each of its numbers whether a report would have called the number unusual. */
interface ReplayedSeries {
  readonly values: readonly (number | null)[]
  readonly steps: readonly Step[]
  readonly unusual: boolean[]
}

/**
 * Returns whether a number is news: it is unusual, and no earlier report named the same lasting change. A win rate,
 * which has no series, always is.
 */
function isNews(series: ReplayedSeries | undefined, index: number): boolean {
  if (series === undefined) return true
  const { values, steps, unusual } = series
  const { anomaly, forecast } = steps[index] ?? {}
  const value = values[index] ?? null
  if (!unusual[index] || !anomaly || !forecast || value === null) return false
  if (anomaly.length === 1 || !isWithin(forecast.range95, value)) return true
  return !unusual.slice(Math.max(0, index - anomaly.length + 1), index).includes(true)
}

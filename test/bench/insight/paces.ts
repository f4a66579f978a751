/** Counts how often the expected end of a month holds, and how far off it is, by the day of the report. */

import { isWithin } from '../../../src/insight/normal-range.ts'
import { forecastEnd } from '../../../src/insight/pace.ts'
import type { Span } from '../../../src/insight/series.ts'
import { dailyNumbers, weekdaysOf } from '../../support/reports/daily-numbers.ts'
import { addHit, type Hits, noHits, type Result, resultOf, shareOf } from './result.ts'
import { type Kind, KINDS as OF_RANGES } from './series.ts'

const FIRST_DATE = Date.UTC(2022, 0, 1)
const DAY_MS = 86_400_000
const YEARS = 4
const DAYS_OF_MONTH = [5, 10, 15, 20, 25]
const TRAILING_DAYS = 28

const dateOf = (day: number) => new Date(FIRST_DATE + day * DAY_MS)
/** The months as places of days. */
const MONTHS: readonly Span[] = Array.from({ length: YEARS * 12 }, (_, month) => ({
  from: (Date.UTC(2022, month, 1) - FIRST_DATE) / DAY_MS,
  to: (Date.UTC(2022, month + 1, 1) - FIRST_DATE) / DAY_MS,
}))
const ALL_DAYS = MONTHS.at(-1)?.to ?? 0

/** Tells whether a day is one of the last seven of a quarter, in which leads are pushed to their end. */
function isQuarterEnd(day: number): boolean {
  return dateOf(day).getUTCMonth() % 3 === 2 && dateOf(day + 7).getUTCMonth() % 3 !== 2
}

/** The kinds that are tried with ranges too. */
const SHARED = /^(?:independent, (?:12|40)|3 times the variance, 40|grows|yearly|auto|level that|nothing on)/

const KINDS: readonly Pick<Kind, 'name' | 'given'>[] = [
  ...OF_RANGES.filter(({ name }) => SHARED.test(name)),
  { name: 'independent, 1 a day', given: { mean: 1 } },
  {
    name: 'falls by 30 % in the third year, 40 a day',
    given: { mean: 40, times: (day) => (day < 900 ? 1 : 0.7) },
  },
  {
    name: 'twice as many in the last week of a quarter, 6 a day',
    given: { mean: 6, times: (day) => (isQuarterEnd(day) ? 2 : 1) },
  },
  {
    name: 'twice as many on the last five days of a month, 12 a day',
    given: { mean: 12, times: (day) => (dateOf(day + 5).getUTCDate() <= 5 ? 2 : 1) },
  },
]

interface Sum {
  readonly hits: Hits
  error: number
  line: number
  trailing: number
}

export function measurePaces(rounds: number): Result[] {
  return KINDS.flatMap(({ name, given }) => {
    const series = Array.from({ length: rounds }, (_, index) =>
      dailyNumbers({ ...given, days: ALL_DAYS, seed: 700 + index }),
    )
    return DAYS_OF_MONTH.flatMap((day) => {
      const sum = sumOf(series, day)
      const horizon = `day ${day} of the month`
      const results = [shareOf('pace-hits', name, horizon, sum.hits)]
      const error = sum.error / Math.min(sum.line, sum.trailing)
      return day === 10 ? [...results, resultOf('pace-error', name, horizon, error, sum.hits.of)] : results
    })
  })
}

/** Tells every second month of the last two years by what was known at the end of a day. */
function sumOf(series: readonly number[][], day: number): Sum {
  const sum: Sum = { hits: noHits(), error: 0, line: 0, trailing: 0 }
  const totalOf = (values: readonly number[]) => values.reduce((all, each) => all + each, 0)
  for (const [index, all] of series.entries()) {
    for (let month = 24 + (index % 2); month < MONTHS.length; month += 2) {
      const span = MONTHS[month]
      if (span === undefined) continue
      const values = all.slice(0, span.from + day)
      const days = { values, places: weekdaysOf(values) }
      // A report looks back two years.
      const outcome = forecastEnd(days, MONTHS.slice(month - 24, month), span)
      if (outcome === null) continue
      const whole = totalOf(all.slice(span.from, span.to))
      const soFar = totalOf(all.slice(span.from, span.from + day))
      const trailing = totalOf(values.slice(-TRAILING_DAYS)) / TRAILING_DAYS
      addHit(sum.hits, isWithin(outcome.range, whole))
      sum.error += Math.abs(outcome.expected - whole)
      sum.line += Math.abs((soFar / day) * (span.to - span.from) - whole)
      sum.trailing += Math.abs(soFar + trailing * (span.to - span.from - day) - whole)
    }
  }
  return sum
}

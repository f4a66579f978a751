/** Forecasts how a month, quarter or year will end, and how much of each goal is reached. */

import type { CountedFigure, DriverDimension, Goal, GoalPeriod, Pace } from '../../domain/insight.ts'
import { type Annotation, leftOutOf } from '../../domain/insight.ts'
import { forecastEnd } from '../../insight/pace.ts'
import { dipsOf, spansOf, total, weekdayOf } from '../../insight/series.ts'
import { DAY_MS, dateBefore } from '../../time.ts'
import type { TrackRecord } from './track-record.ts'

/** The figures that are forecast even if the settings have no goal for them. */
const FORECAST_FIGURES = ['new_leads', 'won'] as const
/** The number of days, up to the last counted day, from which the average per day is computed. */
const PER_DAY_DAYS = 28

export interface DailyReader {
  readonly dates: readonly string[]
  /** Reads a figure for each member of a dimension. Each list has one number for each date in `dates`. */
  readonly read: (
    figure: CountedFigure,
    dimension: DriverDimension,
    currency?: string,
  ) => Promise<ReadonlyMap<string, number[]>>
}

interface Wanted {
  readonly goals: readonly Goal[]
  readonly fiscalYearStarts: number
  readonly names: ReadonlyMap<string, string>
  readonly pipelineIds: readonly string[] | null
  readonly isWithMonths: boolean
  readonly annotations: readonly Annotation[]
  readonly holidays: readonly string[]
  readonly trackRecord: TrackRecord
}

/** A goal, or (if `goal` is null) a figure that reports always forecast to the end of the month. */
type ForecastTarget = Pick<Goal, 'figure' | 'period' | 'currency' | 'pipelines'> & {
  readonly goal: Goal | null
}

/**
 * Forecasts the goals whose pipelines the report covers, then the month of new and won leads without a goal.
 */
export async function forecastEnds(reader: DailyReader, wanted: Wanted): Promise<Pace[]> {
  const { goals, pipelineIds, isWithMonths } = wanted
  const concerned = goals.filter(
    ({ pipelines }) => pipelineIds === null || pipelines?.every((id) => pipelineIds.includes(id)),
  )
  const targets: ForecastTarget[] = concerned.map((goal) => ({ ...goal, goal }))
  for (const figure of isWithMonths ? FORECAST_FIGURES : []) {
    const isGoal = (each: Goal) =>
      each.figure === figure && each.period === 'month' && each.pipelines === null
    if (!concerned.some(isGoal))
      targets.push({ figure, period: 'month', currency: null, pipelines: null, goal: null })
  }
  const paces: Pace[] = []
  for (const each of targets) paces.push(await forecastOne(reader, each, wanted))
  return paces
}

async function forecastOne(
  reader: DailyReader,
  { figure, period, currency, pipelines, goal }: ForecastTarget,
  { fiscalYearStarts, names, pipelineIds, annotations, holidays, trackRecord }: Wanted,
): Promise<Pace> {
  const { dates } = reader
  const byPipeline = await reader.read(figure, 'pipeline_id', currency ?? '')
  const counted = [...byPipeline].filter(([id]) => pipelines === null || pipelines.includes(id))
  const values = sumOf(
    counted.map(([, numbers]) => numbers),
    dates.length,
  )
  const last = dates.at(-1) ?? ''
  const begin = beginOf(last, period, fiscalYearStarts)
  const lastDay = dateBefore(beginOf(last, period, fiscalYearStarts, 1))
  const from = Math.max(0, dates.indexOf(begin))
  const daysLeft = daysBetween(last, lastDay)
  const spans = spansOf(dates, (date) => date === beginOf(date, period, fiscalYearStarts))
  const now = { from, to: dates.length + daysLeft }
  const ahead = Array.from({ length: daysLeft }, (_, day) => dateBefore(last, -1 - day))
  // Amounts of money are not forecast, because money comes in few large amounts.
  const isForecast =
    figure !== 'won_value' &&
    !trackRecord.distrusted(figure, pipelines ?? pipelineIds).includes(`${period}_end`)
  const isLeftOut = leftOutOf(dates, annotations, pipelines ?? pipelineIds)
  const end =
    isForecast && daysLeft > 0
      ? forecastEnd(
          {
            values,
            places: dates.map(weekdayOf),
            isLeftOut,
            shares: dipsOf(values, [...dates, ...ahead], isLeftOut),
            isHoliday: [...dates, ...ahead].map((date) => holidays.includes(date)),
          },
          spans.filter((span) => span.from < from),
          now,
        )
      : null
  return {
    figure,
    currency,
    span: period,
    lastDay,
    daysLeft,
    pipelines: pipelines === null ? null : pipelines.map((id) => names.get(id) ?? id),
    goal: goal && { name: goal.name, target: goal.target, owner: goal.owner },
    soFar: total(values.slice(from)),
    perDay: total(values.slice(-PER_DAY_DAYS)) / Math.min(PER_DAY_DAYS, values.length),
    end: end && { ...end.range, expected: end.expected, record: end.record },
  }
}

export const MONTHS = { month: 1, quarter: 3, fiscal_year: 12 } as const satisfies Record<GoalPeriod, number>

/** With `later` 1, the first date of the next month, quarter or year. */
function beginOf(date: string, period: GoalPeriod, fiscalYearStarts: number, later = 0): string {
  const [year, month] = [Number(date.slice(0, 4)), Number(date.slice(5, 7))]
  const length = MONTHS[period]
  const into = (((month - fiscalYearStarts) % length) + length) % length
  return new Date(Date.UTC(year, month - 1 - into + later * length, 1)).toISOString().slice(0, 10)
}

function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
}

export function sumOf(lists: readonly (readonly number[])[], length: number): number[] {
  return Array.from({ length }, (_, index) => lists.reduce((sum, numbers) => sum + (numbers[index] ?? 0), 0))
}

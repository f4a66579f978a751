/** Lists the ranges that an issue publishes, to be compared with the real numbers later. */
import type { ReportFigures } from '../../domain/figures.ts'
import type { Goal, GoalPeriod, Pace, PublishedRange } from '../../domain/insight.ts'
import { localDates } from '../../domain/period.ts'
import { RATE_DAYS } from '../../insight/win-rate.ts'
import { dateBefore } from '../../time.ts'
import { MONTHS } from './forecast.ts'
import { scaleOf } from './track-record.ts'

/** Empty if the data does not cover the period, or contains implausible times. */
export function rangesOf(
  { kind, period, filter, insight, freshness }: ReportFigures,
  goals: readonly Goal[],
): PublishedRange[] {
  if (insight === null || !freshness.coversPeriod || freshness.implausibleTimes?.length) return []
  const [firstDay = '', lastDay = firstDay] = localDates(period).split('--')
  const pipelinesOf = (pipeline: { readonly id: string } | null) =>
    pipeline === null ? filter.pipelineIds : [pipeline.id]
  const ofPeriod = { kind: scaleOf(kind), asOfDay: lastDay, firstDay, lastDay }
  const numbers = insight.expectations.flatMap(({ figure, pipeline, range, actual }): PublishedRange[] => {
    const of = { figure, pipelineIds: pipelinesOf(pipeline) }
    return range === null ? [] : [{ ...of, ...ofPeriod, range, actual }]
  })
  const rates = insight.winRates.flatMap(({ pipeline, range, won }): PublishedRange[] => {
    const of = { figure: 'win_rate', kind: '30_days', pipelineIds: pipelinesOf(pipeline) } as const
    const days = { asOfDay: lastDay, firstDay: dateBefore(lastDay, RATE_DAYS - 1), lastDay }
    return range === null ? [] : [{ ...of, ...days, range, actual: won }]
  })
  const ends = insight.pace.flatMap((pace): PublishedRange[] => {
    const { figure, span, end } = pace
    if (end === null || figure === 'won_value') return []
    const pipelineIds = pipelinesOfEnd(pace, goals, filter)
    const of = { figure, kind: `${span}_end`, pipelineIds } as const
    const days = { asOfDay: lastDay, firstDay: firstDayOf(pace.lastDay, span), lastDay: pace.lastDay }
    return [{ ...of, ...days, range: { low: end.low, high: end.high }, actual: null }]
  })
  return [...numbers, ...rates, ...ends]
}

/** Null for all. A forecast contains only names of pipelines, so the ids come from its goal. */
function pipelinesOfEnd(
  { goal, pipelines }: Pace,
  goals: readonly Goal[],
  { pipelineIds }: ReportFigures['filter'],
): readonly string[] | null {
  return pipelines === null ? pipelineIds : (goals.find(({ name }) => name === goal?.name)?.pipelines ?? null)
}

function firstDayOf(lastDay: string, span: GoalPeriod): string {
  const [year, month] = [Number(lastDay.slice(0, 4)), Number(lastDay.slice(5, 7))]
  return new Date(Date.UTC(year, month - MONTHS[span], 1)).toISOString().slice(0, 10)
}

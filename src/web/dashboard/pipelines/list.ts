/** The table of pipelines, with a row for all of them together. */

import type { Money } from '../../../domain/model.ts'
import { PERIOD_DAYS } from '../../../jobs/overview.ts'
import { layoutSparkline } from '../../../report/charts/draw.ts'
import { type Point, pathOf } from '../../../report/charts/svg.ts'
import { capitalise } from '../../../report/words/clean-text.ts'
import type { PipelineOverview } from '../../../store/figures/pipeline-overview.ts'
import { count, moneys, nameOf, share } from '../format.ts'

export interface PipelineLine {
  /** The link to the page of the pipeline; null in the row for all pipelines. */
  readonly href: string | null
  readonly name: string
  /** The upstream's word for the state; empty if there is none. */
  readonly status: string
  readonly leads: string
  readonly open: string
  readonly openValue: string
  readonly stalled: string
  readonly newLeads: string
  readonly won: string
  readonly conversion: string
  readonly winRate: string
  readonly spark: Spark
}

/** A sparkline of the new leads on each day. */
interface Spark {
  readonly label: string
  /** The attribute `d` of each path. */
  readonly lines: readonly string[]
  readonly end: Point | null
}

type Counted = Pick<
  PipelineOverview,
  'leads' | 'open' | 'openValue' | 'stalled' | 'newLeads' | 'won' | 'winRate' | 'trend'
>

/** Composes the rows. If there are several pipelines, the last row is for all of them. */
export function composeList(pipelines: readonly PipelineOverview[]): PipelineLine[] {
  const lines = pipelines.map((pipeline) => ({
    href: `/pipelines/${encodeURIComponent(pipeline.id)}`,
    name: nameOf(pipeline.name),
    status: pipeline.status === null ? '' : capitalise(pipeline.status),
    ...cellsOf(pipeline),
  }))
  if (pipelines.length < 2) return lines
  return [...lines, { href: null, name: 'All pipelines', status: '', ...cellsOf(sumOf(pipelines)) }]
}

export function cellsOf(counted: Counted): Omit<PipelineLine, 'href' | 'name' | 'status'> {
  const { leads, open, openValue, stalled, newLeads, won, winRate, trend } = counted
  return {
    leads: count(leads),
    open: count(open),
    openValue: moneys(openValue),
    stalled: count(stalled),
    newLeads: count(newLeads),
    won: count(won),
    conversion: share({ part: won, whole: newLeads }),
    winRate: share(winRate),
    spark: sparkOf(trend.slice(-PERIOD_DAYS).map((day) => day.newLeads)),
  }
}

function sparkOf(values: readonly (number | null)[]): Spark {
  const { runs, end } = layoutSparkline(values)
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return {
    label:
      known.length === 0
        ? 'New leads a day: not known yet'
        : `New leads a day: ${count(low)} to ${count(high)}, on the last day ${count(known.at(-1) ?? 0)}`,
    lines: runs.filter((run) => run.length > 1).map(pathOf),
    end,
  }
}

function sumOf(pipelines: readonly PipelineOverview[]): Counted {
  const sum = (of: (pipeline: PipelineOverview) => number) =>
    pipelines.reduce((total, pipeline) => total + of(pipeline), 0)
  const days = pipelines[0]?.trend.map(({ day }) => day) ?? []
  const onDay = (index: number, of: 'newLeads' | 'won') => {
    const counts = pipelines.map(({ trend }) => trend[index]?.[of] ?? null)
    return counts.includes(null) ? null : counts.reduce<number>((total, each) => total + (each ?? 0), 0)
  }
  return {
    leads: sum(({ leads }) => leads),
    open: sum(({ open }) => open),
    openValue: sumMoneys(pipelines.flatMap(({ openValue }) => openValue)),
    stalled: sum(({ stalled }) => stalled),
    newLeads: sum(({ newLeads }) => newLeads),
    won: sum(({ won }) => won),
    winRate: { part: sum(({ winRate }) => winRate.part), whole: sum(({ winRate }) => winRate.whole) },
    trend: days.map((day, index) => ({
      ...{ day, newLeads: onDay(index, 'newLeads'), won: onDay(index, 'won') },
    })),
  }
}

/**
 * Adds amounts by currency, because currencies are never mixed. The currency of most pipelines comes first.
 */
function sumMoneys(values: readonly Money[]): Money[] {
  return [...Map.groupBy(values, ({ currency }) => currency)]
    .sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .map(([currency, all]) => ({ amount: all.reduce((sum, { amount }) => sum + amount, 0), currency }))
}

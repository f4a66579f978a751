/**
 * What the dashboard shows of pipelines and agents, read all at once because most queries cost the same for
 * one pipeline as for all. With a million leads this takes seconds, so that
 * `store/figures/overview-subprocess.ts` runs it in a child process.
 */
import type { Funnel, Outage, TrendDay } from '../../domain/figures.ts'
import type { Instant, Money, Period, Ratio } from '../../model.ts'
import type { Db } from '../db/store.ts'
import { type AgentSpans, type AgentWords, readAgentSpans } from './agent-spans.ts'
import {
  COUNTS_BY_PIPELINE,
  type Counts,
  LEVELS_BY_PIPELINE,
  type Level,
  openValueOf,
  STALLED_BY_PIPELINE,
} from './breakdown.ts'
import { OUTAGES } from './freshness-figures.ts'
import { readFunnels } from './funnel.ts'
import { EVERY_LEAD } from './lead-filter.ts'
import { type FigureScope, readRows } from './query.ts'
import { atOneMoment, type Moment } from './read-transaction.ts'
import { readTrends } from './series.ts'
import { readStatPairs, type StatPair } from './service-stats.ts'

export interface OverviewRequest {
  /** The time up to which all leads have been read. Levels, such as the open value, are of this time. */
  readonly asOf: Instant
  /** Whole local days. New and won leads are counted in them. */
  readonly period: Period
  /** Whole local days up to the end of the period, in order. */
  readonly trendDays: readonly Period[]
  readonly stalledDays: number
  /** The span of time of the agents' samples, and the meaning of their statuses. */
  readonly agents: Pick<Period, 'from' | 'to'> & AgentWords
}

export interface Overview extends Pick<OverviewRequest, 'asOf' | 'period' | 'stalledDays'> {
  /** The pipelines in order of name. */
  readonly pipelines: readonly PipelineOverview[]
  readonly agents: AgentSpans & Pick<Period, 'from' | 'to'> & { readonly outages: readonly Outage[] }
}

export interface PipelineOverview {
  readonly id: string
  readonly name: string
  /** The upstream's word for the status; null where the upstream gives none. */
  readonly status: string | null
  readonly leads: number
  readonly open: number
  readonly openValue: readonly Money[]
  readonly stalled: number
  readonly newLeads: number
  readonly won: number
  readonly winRate: Ratio
  readonly trend: readonly TrendDay[]
  readonly funnel: Funnel
  /** Each figure of the upstream's own statistics, with our count of it. */
  readonly statistics: readonly StatPair[]
}

const NO_FUNNEL: Funnel = {
  ...{ source: 'service', coverage: null, daysCoverage: { known: 0, of: 0 } },
  ...{ asOf: null, stages: [] },
}

/**
 * Reads the whole overview from one consistent read of the database.
 * @param db must not be inside a transaction
 */
export async function readOverview(db: Db, request: OverviewRequest): Promise<Overview> {
  const { asOf, period, stalledDays, agents } = request
  const scope = { filter: EVERY_LEAD, stalledDays, asKnownAt: null, from: period.from, to: period.to }
  return atOneMoment(db, async (moment) => ({
    asOf,
    period,
    stalledDays,
    pipelines: await readPipelines(moment, scope, request),
    agents: {
      ...{ from: agents.from, to: agents.to },
      ...(await readAgentSpans(moment, { ...scope, ...agents }, agents)),
      outages: await readRows<Outage>(moment, OUTAGES, { ...scope, ...agents }),
    },
  }))
}

async function readPipelines(
  moment: Moment,
  scope: FigureScope,
  { asOf, trendDays }: OverviewRequest,
): Promise<PipelineOverview[]> {
  const pipelines = await moment.db
    .selectFrom('pipeline')
    .select(['id', 'name', 'status'])
    .orderBy('name')
    .orderBy('id')
    .execute()
  const ids = pipelines.map(({ id }) => id)
  const now = { ...scope, to: asOf }
  const counts = keyed(await readRows<Counts>(moment, COUNTS_BY_PIPELINE, scope))
  const levels = Map.groupBy(await readRows<Level>(moment, LEVELS_BY_PIPELINE, now), (row) => row.of)
  const stalled = keyed(await readRows<{ of: string; stalled: number }>(moment, STALLED_BY_PIPELINE, now))
  const trends = await readTrends(moment, scope, ids, trendDays, asOf)
  const funnels = await readFunnels(moment, now, ids)
  const statistics = Map.groupBy(await readStatPairs(moment, now), ({ pipelineId }) => pipelineId)
  return pipelines.map(({ id, name, status }) => {
    const level = levels.get(id) ?? []
    const { newLeads = 0, won = 0, part = 0, whole = 0 } = counts.get(id) ?? {}
    return {
      ...{ id, name, status },
      leads: level.reduce((sum, row) => sum + row.leads, 0),
      open: level.reduce((sum, row) => sum + row.open, 0),
      openValue: openValueOf(level),
      stalled: stalled.get(id)?.stalled ?? 0,
      ...{ newLeads, won, winRate: { part, whole } },
      trend: trends.get(id) ?? [],
      funnel: funnels.get(id) ?? NO_FUNNEL,
      statistics: statistics.get(id) ?? [],
    }
  })
}

function keyed<Row extends { readonly of: string | null }>(rows: readonly Row[]): Map<string | null, Row> {
  return new Map(rows.map((row) => [row.of, row]))
}

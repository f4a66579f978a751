/**
 * The data that the dashboard shows of pipelines and agents. All pipelines are read at once, because most
 * queries cost the same for one pipeline as for all. With a million leads this takes seconds and would block
 * the daemon, so a child process reads an SQLite store. PostgreSQL counts in its own server.
 */
import { dirname } from 'node:path'
import { sql } from 'kysely'
import type { Funnel, TrendDay } from '../../domain/figures.ts'
import type { Outage } from '../../domain/lists.ts'
import type { Instant, Money, Period, Ratio } from '../../domain/model.ts'
import type { Db, Store } from '../db/store.ts'
import { askChild, programFile } from '../db/subprocess.ts'
import type { Counts, Level } from './breakdown.ts'
import { COUNTS_BY_PIPELINE, LEVELS_BY_PIPELINE, openValueOf, STALLED_BY_PIPELINE } from './breakdown.ts'
import { OUTAGES } from './freshness-figures.ts'
import { readFunnels } from './funnel.ts'
import { EVERY_LEAD } from './lead-filter.ts'
import type { FigureScope, ReadTrx } from './query.ts'
import { inReadTransaction, readRows } from './query.ts'
import { scopeOf } from './report-figures.ts'
import { readTrends } from './series.ts'
import type { StatPair } from './service-stats.ts'
import { readStatPairs } from './service-stats.ts'

export interface OverviewRequest {
  /** The time up to which all leads have been read. Levels, such as the open value, are of this time. */
  readonly asOf: Instant
  /** The period has whole local days. */
  readonly period: Period
  /** The days of the trend: whole local days up to the end of the period, in order. */
  readonly trendDays: readonly Period[]
  readonly stalledDays: number
  /** The span of time whose samples of agents are shown, and the words for the statuses of agents. */
  readonly agents: Pick<Period, 'from' | 'to'> & AgentWords
}

export interface Overview extends Pick<OverviewRequest, 'asOf' | 'period' | 'stalledDays'> {
  readonly pipelines: readonly PipelineOverview[]
  readonly agents: AgentSpans & Pick<Period, 'from' | 'to'> & { readonly outages: readonly Outage[] }
}

export interface PipelineOverview {
  readonly id: string
  readonly name: string
  /** The upstream's word for the status; null where the upstream gives no status. */
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
  /** Each figure of the upstream's own statistics, with our count of the same figure. */
  readonly statistics: readonly StatPair[]
}

export interface OverviewJob {
  readonly file: string
  readonly request: OverviewRequest
}

const CHILD = programFile(import.meta.url, 'overview-child')

/**
 * Does not block the daemon.
 * @throws any error of the store, and the reason of an aborted signal
 */
export async function countOverview(
  { db, place }: Pick<Store, 'db' | 'place'>,
  request: OverviewRequest,
  signal: AbortSignal,
): Promise<Overview> {
  if (place.kind === 'postgres') return readOverview(db, request)
  const { file } = place
  return askChild<OverviewJob, Overview>(CHILD, { file, request }, { folder: dirname(file), signal })
}

/** Changes when a sync ends or rows are pruned. With the same text, the overview is the same. */
export async function readOverviewMark(db: Db): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    SELECT (SELECT coalesce(max(rowid), 0) FROM sync_run WHERE outcome IS NOT NULL)
      || ' ' || (SELECT coalesce(sum("rows"), 0) FROM pruned) AS mark`.execute(db)
  return rows[0]?.mark ?? ''
}

const NO_FUNNEL: Funnel = {
  source: 'service',
  coverage: null,
  daysCoverage: { known: 0, of: 0 },
  asOf: null,
  stages: [],
}

/** Reads all from one state of the database. `db` must not be inside a transaction. */
export async function readOverview(db: Db, request: OverviewRequest): Promise<Overview> {
  const { asOf, period, stalledDays, agents } = request
  const scope = scopeOf({ filter: EVERY_LEAD, stalledDays }, period)
  return inReadTransaction(db, async (trx) => ({
    asOf,
    period,
    stalledDays,
    pipelines: await readPipelines(trx, scope, request),
    agents: {
      from: agents.from,
      to: agents.to,
      ...(await readAgentSpans(trx, { ...scope, ...agents }, agents)),
      outages: await readRows<Outage>(trx, OUTAGES, { ...scope, ...agents }),
    },
  }))
}

async function readPipelines(
  trx: ReadTrx,
  scope: FigureScope,
  { asOf, trendDays }: OverviewRequest,
): Promise<PipelineOverview[]> {
  const pipelines = await trx.db
    .selectFrom('pipeline')
    .select(['id', 'name', 'status'])
    .orderBy('name')
    .orderBy('id')
    .execute()
  const ids = pipelines.map(({ id }) => id)
  const now = { ...scope, to: asOf }
  const counts = keyed(await readRows<Counts>(trx, COUNTS_BY_PIPELINE, scope))
  const levels = Map.groupBy(await readRows<Level>(trx, LEVELS_BY_PIPELINE, now), (row) => row.of)
  const stalled = keyed(await readRows<{ of: string; stalled: number }>(trx, STALLED_BY_PIPELINE, now))
  const trends = await readTrends(trx, scope, ids, trendDays, asOf)
  const funnels = await readFunnels(trx, now, ids)
  const statistics = Map.groupBy(await readStatPairs(trx, now), ({ pipelineId }) => pipelineId)
  return pipelines.map(({ id, name, status }) => {
    const level = levels.get(id) ?? []
    const { newLeads = 0, won = 0, part = 0, whole = 0 } = counts.get(id) ?? {}
    return {
      id,
      name,
      status,
      leads: level.reduce((sum, row) => sum + row.leads, 0),
      open: level.reduce((sum, row) => sum + row.open, 0),
      openValue: openValueOf(level),
      stalled: stalled.get(id)?.stalled ?? 0,
      newLeads,
      won,
      winRate: { part, whole },
      trend: trends.get(id) ?? [],
      funnel: funnels.get(id) ?? NO_FUNNEL,
      statistics: statistics.get(id) ?? [],
    }
  })
}

function keyed<Row extends { readonly of: string | null }>(rows: readonly Row[]): Map<string | null, Row> {
  return new Map(rows.map((row) => [row.of, row]))
}

/*
 * The states of agents over a span of time, computed from their samples. A sample describes one moment only,
 * so an agent is taken to keep its state until its next sample. When the next sample comes too late, the
 * state in between is unknown.
 */

export type AgentState = 'well' | 'failing' | 'other'

/** Lists the upstream's status words for each state, in lower case. Every other word means `other`. */
interface AgentWords {
  readonly well: readonly string[]
  readonly failing: readonly string[]
}

export interface AgentSpan {
  readonly agentId: string
  readonly state: AgentState
  readonly from: Instant
  /** Equals `from` if only one sample shows the state. */
  readonly to: Instant
}

export interface AgentSpans {
  readonly spans: readonly AgentSpan[]
  /** The longest distance between two samples that does not leave a gap, in milliseconds. */
  readonly gapMs: number
}

/** The minimum of `gapMs`. It is so long that hourly samples leave no gap, even if one of them is missing. */
const LEAST_GAP_MS = 2 * 60 * 60_000
const USUAL_DISTANCES = 3

const USUAL_DISTANCE = {
  reads: [],
  sql: `SELECT ms FROM (
    SELECT ms, row_number() OVER (ORDER BY ms) AS place, count(*) OVER () AS rows FROM (
      SELECT 1000 * (unixepoch(observed_at, 'subsec') - unixepoch(lag(observed_at) OVER (ORDER BY observed_at), 'subsec')) AS ms
      FROM (SELECT DISTINCT observed_at FROM agent_sample WHERE observed_at >= :from AND observed_at < :to) AS reading) AS distance
    WHERE ms IS NOT NULL) AS placed
  WHERE place = (rows + 1) / 2`,
} as const

const SPANS = {
  reads: [],
  sql: `WITH reading AS (
    SELECT agent_id, observed_at AS at, unixepoch(observed_at, 'subsec') AS seconds,
      CASE WHEN lower(status) IN (SELECT value FROM json_each(:failing)) THEN 'failing'
        WHEN lower(status) IN (SELECT value FROM json_each(:well)) THEN 'well' ELSE 'other' END AS state
    FROM agent_sample WHERE observed_at >= :from AND observed_at < :to),
  placed AS (
    SELECT *, lead(at) OVER of_agent AS next_at, lead(seconds) OVER of_agent - seconds AS until_next,
      lag(state) OVER of_agent IS DISTINCT FROM state OR 1000 * (seconds - lag(seconds) OVER of_agent) > :gap_ms AS is_first
    FROM reading WINDOW of_agent AS (PARTITION BY agent_id ORDER BY at)),
  numbered AS (SELECT *, count(*) FILTER (WHERE is_first) OVER (PARTITION BY agent_id ORDER BY at) AS number FROM placed)
  SELECT agent_id AS "agentId", state, min(at) AS "from", max(iif(1000 * until_next <= :gap_ms, next_at, at)) AS "to"
  FROM numbered GROUP BY agent_id, number, state ORDER BY agent_id, number`,
} as const

/** Uses the scope's period as the span of time, but not its filter. */
export async function readAgentSpans(
  trx: ReadTrx,
  scope: FigureScope,
  { well, failing }: AgentWords,
): Promise<AgentSpans> {
  const [usual] = await readRows<{ ms: number }>(trx, USUAL_DISTANCE, scope)
  const gapMs = Math.max(LEAST_GAP_MS, USUAL_DISTANCES * Math.round(usual?.ms ?? 0))
  const spans = await readRows<AgentSpan>(trx, SPANS, scope, {
    well: JSON.stringify(well),
    failing: JSON.stringify(failing),
    gap_ms: gapMs,
  })
  return { spans, gapMs }
}

/**
 * The figures of the daily report, read at one moment. Numbers come from the definitions of `definition.ts`; the
 * funnel is the upstream's own, of its last reading, summed over the pipelines that have leads.
 */
import { type RawBuilder, sql } from 'kysely'
import type {
  AgentLine,
  Compared,
  DailyFigures,
  Freshness,
  FunnelStage,
  Instant,
  Money,
  Period,
  Ratio,
} from '../../model.ts'
import { countHeldRows } from '../held-row.ts'
import type { Db } from '../open.ts'
import { listOf } from '../sqlite.ts'
import { findLastFailure, findLastWholeRun } from '../sync-run.ts'
import type { FigureName } from './definition.ts'
import { readStalled, readTopLeads } from './lead-lists.ts'
import { type FigureRow, type FigureScope, readFigure } from './query.ts'

export interface FiguresRequest {
  readonly period: Period
  readonly prior: Period
  /** Only these pipelines; null for all. */
  readonly pipelineIds: readonly string[] | null
  readonly topScore: number
  readonly stalledDays: number
}

/** All figures of the daily report, from one moment of the store. */
export async function readDailyFigures(db: Db, request: FiguresRequest): Promise<DailyFigures> {
  const { period, prior, pipelineIds, stalledDays, topScore } = request
  const scopeOf = ({ from, to }: Period): FigureScope => ({
    from,
    to,
    filter: { pipelineIds, conditions: [] },
    stalledDays,
    asKnownAt: null,
  })
  const compared = async <T>(
    name: FigureName,
    read: (rows: readonly FigureRow[]) => T,
  ): Promise<Compared<T>> => ({
    current: read(await readFigure(db, name, scopeOf(period))),
    prior: read(await readFigure(db, name, scopeOf(prior))),
  })
  return {
    period,
    prior,
    freshness: await readFreshness(db, period.to),
    pipelines: await listPipelineNames(db, pipelineIds),
    leads: countIn(await readFigure(db, 'leads', scopeOf(period))),
    newLeads: await compared('new_leads', countIn),
    won: await compared('won', countIn),
    wonValue: await compared('won_value', moneyIn),
    winRate: await compared('win_rate', ratioIn),
    openValue: await compared('open_value', moneyIn),
    funnel: await readFunnel(db, pipelineIds),
    topLeads: await readTopLeads(db, scopeOf(period), topScore),
    stalled: await readStalled(db, scopeOf(period)),
    agents: await readAgents(db),
  }
}

function countIn(rows: readonly FigureRow[]): number {
  return rows[0]?.value ?? 0
}

function moneyIn(rows: readonly FigureRow[]): Money[] {
  return rows.map(({ of, value }) => ({ amount: value ?? 0, currency: of ?? '' }))
}

function ratioIn(rows: readonly FigureRow[]): Ratio {
  return { part: rows[0]?.part ?? 0, whole: rows[0]?.whole ?? 0 }
}

function inScope(pipelineIds: readonly string[] | null): RawBuilder<unknown> {
  return pipelineIds === null ? sql`true` : sql`pipeline_id IN ${listOf(pipelineIds)}`
}

async function readFunnel(db: Db, pipelineIds: readonly string[] | null): Promise<DailyFigures['funnel']> {
  const { rows } = await sql<{ status: string; reached: number; as_of: Instant }>`
    SELECT status, sum(reached) AS reached, min(as_of) AS as_of FROM funnel_latest
    WHERE ${inScope(pipelineIds)} AND status IN (SELECT status FROM stage WHERE in_funnel = 1)
      AND EXISTS (SELECT 1 FROM lead WHERE lead.pipeline_id = funnel_latest.pipeline_id AND removed_at IS NULL)
    GROUP BY status ORDER BY min(position)`.execute(db)
  const stages = rows.map((row, index): FunnelStage => {
    const before = rows[index - 1]?.reached ?? 0
    return { status: row.status, reached: row.reached, conversion: before > 0 ? row.reached / before : null }
  })
  const asOf = rows.reduce<Instant | null>(
    (oldest, row) => (oldest !== null && oldest < row.as_of ? oldest : row.as_of),
    null,
  )
  return { asOf, stages }
}

async function readAgents(db: Db): Promise<DailyFigures['agents']> {
  const { rows } = await sql<AgentLine & { observedAt: Instant }>`SELECT agent.name, kind, agent.status,
      status_changed_at AS "statusChangedAt", task_type AS "taskType", pipeline.name AS "taskPipelineName",
      last_seen_at AS "lastSeenAt", errors_24h AS "errors24h", last_error_message AS "lastErrorMessage",
      agent.observed_at AS "observedAt"
    FROM agent LEFT JOIN pipeline ON pipeline.id = agent.task_pipeline_id
    WHERE gone_at IS NULL ORDER BY agent.name`.execute(db)
  return { asOf: rows[0]?.observedAt ?? null, rows: rows.map(({ observedAt: _, ...line }) => line) }
}

async function listPipelineNames(db: Db, pipelineIds: readonly string[] | null): Promise<string[]> {
  const all = db.selectFrom('pipeline').select('name').orderBy('name')
  const rows = await (pipelineIds === null ? all : all.where('id', 'in', listOf(pipelineIds))).execute()
  return rows.map((row) => row.name)
}

async function readFreshness(db: Db, periodTo: Instant): Promise<Freshness> {
  const whole = await findLastWholeRun(db)
  return {
    dataAsOf: whole?.asOf ?? null,
    coversPeriod: whole !== undefined && whole.asOf >= periodTo,
    lastFailure: await findLastFailure(db),
    runId: whole?.id ?? null,
    requests: whole?.requests ?? null,
    heldRows: await countHeldRows(db),
  }
}

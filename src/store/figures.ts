/**
 * The figures and their definitions, one query each, all over the view `lead_now`.
 *
 * new        created in the period
 * won        closed as won in the period; its value is the leads' value
 * win rate   won out of won + lost, of those closed in the 30 days up to the end of the period
 * open       created before an instant and not closed by then
 * stalled    open still, and no change of any kind since N days before the end of the period
 * funnel     the upstream's own statistics, last reading, summed over the pipelines that have leads
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
  StalledLead,
  TopLead,
} from '../model.ts'
import { countHeldRows } from './held-row.ts'
import type { Db } from './open.ts'
import { listOf } from './sqlite.ts'
import { findLastFailure, findLastWholeRun } from './sync-run.ts'

const DAY_MS = 24 * 60 * 60_000
const WIN_RATE_DAYS = 30
const ROWS_MAX = 5

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
  const { period, prior } = request
  const scope = scopeOf(request.pipelineIds)
  const compared = async <T>(read: (of: Period) => Promise<T>): Promise<Compared<T>> => ({
    current: await read(period),
    prior: await read(prior),
  })
  return {
    period,
    prior,
    freshness: await readFreshness(db, period.to),
    pipelines: await listPipelineNames(db, request.pipelineIds),
    leads: await count(db, scope),
    newLeads: await compared((of) => count(db, sql`${scope} AND ${within('created_at', of)}`)),
    won: await compared((of) => count(db, sql`${scope} AND ${wonIn(of)}`)),
    wonValue: await compared((of) => sumValue(db, sql`${scope} AND ${wonIn(of)}`)),
    winRate: await compared((of) => readWinRate(db, scope, of.to)),
    openValue: await compared((of) => sumValue(db, sql`${scope} AND ${openAt(of.to)}`)),
    funnel: await readFunnel(db, request.pipelineIds),
    topLeads: await readTopLeads(db, scope, request),
    stalled: await readStalled(db, scope, request),
    agents: await readAgents(db),
  }
}

type Condition = RawBuilder<unknown>

function scopeOf(pipelineIds: readonly string[] | null): Condition {
  return pipelineIds === null ? sql`true` : sql`pipeline_id IN ${listOf(pipelineIds)}`
}

function within(column: 'created_at' | 'closed_at', period: Pick<Period, 'from' | 'to'>): Condition {
  return sql`${sql.ref(column)} >= ${period.from} AND ${sql.ref(column)} < ${period.to}`
}

function wonIn(period: Pick<Period, 'from' | 'to'>): Condition {
  return sql`outcome = 'won' AND ${within('closed_at', period)}`
}

function openAt(at: Instant): Condition {
  return sql`created_at < ${at} AND (closed_at IS NULL OR closed_at >= ${at})`
}

async function count(db: Db, where: Condition): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM lead_now WHERE ${where}`.execute(db)
  return rows[0]?.n ?? 0
}

async function sumValue(db: Db, where: Condition): Promise<Money[]> {
  const { rows } =
    await sql<Money>`SELECT sum(value_amount) AS amount, value_currency AS currency FROM lead_now
    WHERE ${where} AND value_amount IS NOT NULL AND value_currency IS NOT NULL
    GROUP BY value_currency ORDER BY amount DESC`.execute(db)
  return rows
}

async function readWinRate(db: Db, scope: Condition, to: Instant): Promise<Ratio> {
  const from = new Date(Date.parse(to) - WIN_RATE_DAYS * DAY_MS).toISOString()
  const { rows } = await sql<Ratio>`SELECT count(*) FILTER (WHERE outcome = 'won') AS part, count(*) AS whole
    FROM lead_now WHERE ${scope} AND outcome IN ('won', 'lost') AND ${within('closed_at', { from, to })}`.execute(
    db,
  )
  return rows[0] ?? { part: 0, whole: 0 }
}

async function readFunnel(db: Db, pipelineIds: readonly string[] | null): Promise<DailyFigures['funnel']> {
  const { rows } = await sql<{ status: string; reached: number; as_of: Instant }>`
    SELECT status, sum(reached) AS reached, min(as_of) AS as_of FROM funnel_latest
    WHERE ${scopeOf(pipelineIds)} AND status IN (SELECT status FROM stage WHERE in_funnel = 1)
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

async function readTopLeads(
  db: Db,
  scope: Condition,
  request: FiguresRequest,
): Promise<DailyFigures['topLeads']> {
  const where = sql`${scope} AND ${within('created_at', request.period)} AND score >= ${request.topScore}`
  const { rows } = await sql<TopLead>`SELECT id, coalesce(company_name, id) AS "companyName",
      company_one_liner AS "companyOneLiner", company_country AS "companyCountry", contact_name AS "contactName",
      contact_title AS "contactTitle", coalesce(pipeline_name, pipeline_id) AS "pipelineName", status, score, source
    FROM lead_now WHERE ${where} ORDER BY score DESC, created_at, id LIMIT ${ROWS_MAX}`.execute(db)
  return { minScore: request.topScore, total: await count(db, where), rows }
}

async function readStalled(
  db: Db,
  scope: Condition,
  request: FiguresRequest,
): Promise<DailyFigures['stalled']> {
  const before = new Date(Date.parse(request.period.to) - request.stalledDays * DAY_MS).toISOString()
  const where = sql`${scope} AND outcome = 'open' AND updated_at <= ${before}`
  const { rows } = await sql<
    Omit<StalledLead, 'idleDays' | 'value'> & { amount: number | null; currency: string | null }
  >`
    SELECT id, coalesce(company_name, id) AS "companyName", contact_name AS "contactName",
      coalesce(pipeline_name, pipeline_id) AS "pipelineName", status, updated_at AS "updatedAt",
      value_amount AS amount, value_currency AS currency
    FROM lead_now WHERE ${where} ORDER BY updated_at, id LIMIT ${ROWS_MAX}`.execute(db)
  const stalled = rows.map(
    ({ amount, currency, ...lead }): StalledLead => ({
      ...lead,
      idleDays: Math.floor((Date.parse(request.period.to) - Date.parse(lead.updatedAt)) / DAY_MS),
      value: amount !== null && currency !== null ? { amount, currency } : null,
    }),
  )
  return { days: request.stalledDays, total: await count(db, where), rows: stalled }
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

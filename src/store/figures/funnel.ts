/**
 * The funnel: the upstream's own, of its last reading, summed over the pipelines that have leads; counted by us where
 * a filter asks for what those statistics do not tell apart.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Funnel } from '../../figures.ts'
import type { FunnelStage, Instant } from '../../model.ts'
import type { Db } from '../open.ts'
import { listOf } from '../sqlite.ts'
import type { Moment } from './moment.ts'
import { type FigureScope, readFigureAt, readRows } from './query.ts'

const STAY_DAYS = 90
const DAY_MS = 86_400_000

export const REACHED = {
  title: 'Funnel',
  meaning:
    'leads that had come so far or further by the end of the period, as far as is known; each has come to the first stage',
  reads: ['reach'],
  sql: `SELECT status, (SELECT count(*) FROM reach WHERE reach.position >= stage.position) AS reached
  FROM stage WHERE in_funnel = 1 AND EXISTS (SELECT 1 FROM reach) ORDER BY position`,
} as const

export async function readFunnel(
  moment: Moment,
  scope: FigureScope,
  dataAsOf: Instant | null,
): Promise<Funnel> {
  const isOurs = scope.filter.conditions.length > 0
  const { asOf, stages } = isOurs
    ? await countFunnel(moment, scope, dataAsOf)
    : await readServiceFunnel(moment.db, scope.filter.pipelineIds)
  const stays = await readFigureAt(moment, 'time_in_stage', staysOf(scope))
  const days = new Map(stays.map((row) => [row.of, row.value]))
  return {
    source: isOurs ? 'ours' : 'service',
    asOf,
    stages: stages.map((stage) => ({ ...stage, medianDays: days.get(stage.status) ?? null })),
  }
}

/** The stays whose median the funnel tells: those that ended in the last 90 days. */
export function staysOf(scope: FigureScope): FigureScope {
  return { ...scope, from: new Date(Date.parse(scope.to) - STAY_DAYS * DAY_MS).toISOString() }
}

/** The upstream's statistics, as last read. */
export async function readServiceFunnel(
  db: Db,
  pipelineIds: readonly string[] | null,
): Promise<{ asOf: Instant | null; stages: FunnelStage[] }> {
  const { rows } = await sql<{ status: string; reached: number; as_of: Instant }>`
    SELECT status, sum(reached) AS reached, min(as_of) AS as_of FROM funnel_latest
    WHERE ${inPipelines(pipelineIds)} AND status IN (SELECT status FROM stage WHERE in_funnel = 1)
      AND EXISTS (SELECT 1 FROM lead WHERE lead.pipeline_id = funnel_latest.pipeline_id AND removed_at IS NULL)
    GROUP BY status ORDER BY min(position)`.execute(db)
  const asOf = rows.reduce<Instant | null>(
    (oldest, row) => (oldest !== null && oldest < row.as_of ? oldest : row.as_of),
    null,
  )
  return { asOf, stages: withConversion(rows) }
}

async function countFunnel(
  moment: Moment,
  scope: FigureScope,
  dataAsOf: Instant | null,
): Promise<{ asOf: Instant | null; stages: FunnelStage[] }> {
  const rows = await readRows<{ status: string; reached: number }>(moment, REACHED, scope)
  const asOf = dataAsOf !== null && dataAsOf > scope.to ? scope.to : dataAsOf
  return { asOf, stages: withConversion(rows) }
}

function withConversion(rows: readonly { status: string; reached: number }[]): FunnelStage[] {
  return rows.map(({ status, reached }, index) => {
    const before = rows[index - 1]?.reached ?? 0
    return { status, reached, conversion: before > 0 ? reached / before : null }
  })
}

function inPipelines(pipelineIds: readonly string[] | null): RawBuilder<unknown> {
  return pipelineIds === null ? sql`true` : sql`pipeline_id IN ${listOf(pipelineIds)}`
}

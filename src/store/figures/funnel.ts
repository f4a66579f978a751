/**
 * The funnel of a report: how many leads reached each stage. It comes from the last sample of the upstream's
 * statistics, summed over the pipelines that have leads. leadsheet counts the funnel itself where a filter
 * has conditions, where a pipeline lacks statistics, and where the sample was taken long after the period.
 */
import type { Funnel } from '../../domain/figures.ts'
import type { FunnelStage, Instant } from '../../domain/model.ts'
import { isPostgres } from '../db/postgres.ts'
import { readCoverage } from './coverage.ts'
import type { ReadTrx } from './query.ts'
import { type FigureRow, type FigureScope, readFigureAt, readRows, recentFrom } from './query.ts'

interface Reached {
  readonly asOf: Instant | null
  readonly stages: readonly FunnelStage[]
}

type Stay = Pick<FigureRow, 'of' | 'value'>

const STAY_DAYS = 90

const PIPELINES_IN_USE = '(SELECT pipeline_id FROM day_count GROUP BY pipeline_id HAVING sum(leads) > 0)'

/** The leads that ever reached each stage or a later one, as the last statistics of the upstream count them. */
const SERVICE_FUNNEL = {
  reads: ['day_count'],
  sql: `SELECT status, sum(reached) AS reached, min(as_of) AS "asOf" FROM funnel_latest
  WHERE (:pipelines IS NULL OR pipeline_id IN (SELECT value FROM json_each(:pipelines)))
    AND status IN (SELECT status FROM stage WHERE in_funnel = 1)
    AND pipeline_id IN ${PIPELINES_IN_USE}
    -- no funnel if a pipeline with leads has no statistics
    AND NOT EXISTS (SELECT 1 FROM pipeline AS each WHERE id NOT IN (SELECT pipeline_id FROM funnel_latest)
      AND (:pipelines IS NULL OR id IN (SELECT value FROM json_each(:pipelines)))
      AND id IN ${PIPELINES_IN_USE})
  GROUP BY status ORDER BY min(position)`,
} as const

/** The leads that had reached each stage or a later one, among those of known history. Every lead counts in the first stage. */
export const REACHED = {
  reads: ['level'],
  sql: `SELECT status, (SELECT coalesce(sum(leads), 0) FROM level WHERE level.reached >= 0
      AND (level.reached >= stage.position OR stage.position = (SELECT min(position) FROM stage WHERE in_funnel = 1))) AS reached
  FROM stage WHERE in_funnel = 1 AND EXISTS (SELECT 1 FROM level WHERE level.reached >= 0) ORDER BY position`,
} as const

export async function readFunnel(
  trx: ReadTrx,
  scope: FigureScope,
  dataAsOf: Instant | null,
): Promise<Funnel> {
  const theirs = scope.filter.conditions.length > 0 ? null : await readServiceFunnel(trx, scope)
  const isOurs = theirs === null || theirs.stages.length === 0 || isLongAfter(theirs.asOf, scope)
  const funnel = isOurs ? await countFunnel(trx, scope, dataAsOf) : theirs
  const stays = await readStays(trx, staysOf(scope))
  return {
    source: isOurs ? 'ours' : 'service',
    coverage: isOurs ? await readCoverage(trx, 'life', scope) : null,
    daysCoverage: await readCoverage(trx, 'period', staysOf(scope)),
    ...withDays(funnel, stays),
  }
}

/** True if the time between the period's end and the sample is at least as long as the period. */
export function isLongAfter(asOf: Instant | null, { from, to }: Pick<FigureScope, 'from' | 'to'>): boolean {
  return asOf !== null && Date.parse(asOf) - Date.parse(to) >= Date.parse(to) - Date.parse(from)
}

/** The 90 local days up to the end of the period, whose stays give the median lengths. */
export function staysOf(scope: FigureScope): FigureScope {
  return { ...scope, from: recentFrom(scope, STAY_DAYS) }
}

/**
 * The figure time_in_stage for each status. SQLite's `percentile_disc` is faster than the figure, because it
 * does not sort the stays. Each median is the mean of the two middle values, because SQLite's `median` rounds in
 * another way than PostgreSQL.
 */
async function readStays(trx: ReadTrx, scope: FigureScope): Promise<readonly Stay[]> {
  return isPostgres(trx.db) ? readFigureAt(trx, 'time_in_stage', scope) : readRows(trx, MEDIAN_STAYS, scope)
}

const MEDIAN_STAYS = {
  reads: ['ended'],
  sql: `SELECT stage.status AS "of", round((percentile_disc(days, 0.5) - percentile_disc(-days, 0.5)) / 2, 2) AS value
  FROM ended CROSS JOIN stage USING (status)
  WHERE left_at >= :from AND days IS NOT NULL GROUP BY stage.rowid -- numbers are sorted faster than texts`,
} as const

async function readServiceFunnel(trx: ReadTrx, scope: FigureScope): Promise<Reached> {
  const rows = await readRows<{ status: string; reached: number; asOf: Instant }>(trx, SERVICE_FUNNEL, scope)
  const asOf = rows.reduce<Instant | null>(
    (oldest, row) => (oldest !== null && oldest < row.asOf ? oldest : row.asOf),
    null,
  )
  return { asOf, stages: withConversion(rows) }
}

async function countFunnel(trx: ReadTrx, scope: FigureScope, dataAsOf: Instant | null): Promise<Reached> {
  const rows = await readRows<{ status: string; reached: number }>(trx, REACHED, scope)
  const asOf = dataAsOf !== null && dataAsOf > scope.to ? scope.to : dataAsOf
  return { asOf, stages: withConversion(rows) }
}

function withDays({ asOf, stages }: Reached, stays: readonly Stay[]): Pick<Funnel, 'asOf' | 'stages'> {
  const days = new Map(stays.map((row) => [row.of, row.value]))
  return { asOf, stages: stages.map((stage) => ({ ...stage, medianDays: days.get(stage.status) ?? null })) }
}

function withConversion(rows: readonly { status: string; reached: number }[]): FunnelStage[] {
  return rows.map(({ status, reached }, index) => {
    const before = rows[index - 1]?.reached ?? 0
    return { status, reached, conversion: before > 0 ? reached / before : null }
  })
}

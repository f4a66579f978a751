/** Pipelines and the readings of their statistics. */
import type { Instant, PipelineStat } from '../model.ts'
import type { Observation } from './lead.ts'
import type { Db, Trx } from './open.ts'
import { insertRows } from './sqlite.ts'

/** The ids of the pipelines that leads or readings have named, in order. */
export async function listPipelineIds(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('pipeline').select('id').orderBy('id').execute()
  return rows.map((row) => row.id)
}

/** Keeps a reading, and the name and status that it tells. */
export async function savePipelineStat(trx: Trx, stat: PipelineStat, seen: Observation): Promise<void> {
  const pipeline = { id: stat.pipelineId, name: stat.name ?? stat.pipelineId, status: stat.status }
  await insertRows(trx, 'pipeline', [{ ...pipeline, first_seen_at: seen.at, observed_at: seen.at }], {
    key: ['id'],
    update: ['name', 'status', 'observed_at'],
  })
  await insertRows(trx, 'pipeline_stat', [rowOf(stat, seen)])
  await insertRows(trx, 'pipeline_stage_stat', stageRows(stat, seen.at))
}

function rowOf(stat: PipelineStat, seen: Observation) {
  return {
    pipeline_id: stat.pipelineId,
    observed_at: seen.at,
    as_of: stat.asOf,
    run_id: seen.runId,
    leads: stat.leads,
    open: stat.open,
    won: stat.won,
    lost: stat.lost,
    disqualified: stat.disqualified,
    win_rate: stat.winRate,
    open_value_amount: stat.openValue?.amount ?? null,
    open_value_currency: stat.openValue?.currency ?? null,
    won_value_amount: stat.wonValue?.amount ?? null,
    won_value_currency: stat.wonValue?.currency ?? null,
    raw: stat.raw,
  }
}

function stageRows(stat: PipelineStat, at: Instant) {
  return stat.stages.map((stage) => ({
    pipeline_id: stat.pipelineId,
    observed_at: at,
    status: stage.status,
    current: stage.current,
    reached: stage.reached,
    conversion: stage.conversion,
    median_hours: stage.medianHours,
  }))
}

/** Pipelines and the readings of their statistics. */
import type { Instant, PipelineStat } from '../../model.ts'
import { insertRows } from '../db/rows.ts'
import type { Db, Observation, Trx } from '../db/store.ts'

/** The ids of the pipelines that leads belong to which are there upstream, in order. */
export async function listPipelineIdsInUse(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('pipeline')
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('lead')
          .whereRef('lead.pipeline_id', '=', 'pipeline.id')
          .where('lead.deleted_at', 'is', null)
          .select('lead.id'),
      ),
    )
    .select('id')
    .orderBy('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Keeps a reading, and the name and status that it tells; without a name, the one that was known stays. */
export async function savePipelineStat(trx: Trx, stat: PipelineStat, seen: Observation): Promise<void> {
  const pipeline = { id: stat.pipelineId, name: stat.name ?? stat.pipelineId, status: stat.status }
  await insertRows(trx, 'pipeline', [{ ...pipeline, first_seen_at: seen.at, observed_at: seen.at }], {
    key: ['id'],
    update: [...(stat.name === null ? [] : ['name']), 'status', 'observed_at'],
  })
  const key = ['pipeline_id', 'observed_at']
  await insertRows(trx, 'pipeline_stat', [rowOf(stat, seen)], { key })
  await insertRows(trx, 'pipeline_stage_stat', stageRows(stat, seen.at), { key: [...key, 'status'] })
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

/** The agents and pipelines as they were last read, and the samples of their states and statistics. */
import { sql } from 'kysely'
import type { Outage } from '../../domain/lists.ts'
import type { Agent, Instant, PipelineStat } from '../../domain/model.ts'
import { type InCamelCase, inCamelCase, inSnakeCase } from '../../domain/names.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Db, Observation, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

/** An agent that is missing from a complete list is marked as deleted. The last of two entries counts. */
export async function saveAgents(
  trx: Trx,
  agents: readonly Agent[],
  observed: Observation,
  { isWhole }: { readonly isWhole: boolean },
): Promise<void> {
  const rows = agents.map((agent) => rowOf(agent, observed))
  await insertRows(trx, 'agent', rows, { key: ['id'] })
  const readings = agents.map((agent) => readingOf(agent, observed))
  await insertRows(trx, 'agent_sample', readings, { key: ['agent_id', 'observed_at'] })
  if (!isWhole) return
  await trx
    .updateTable('agent')
    .where('deleted_since', 'is', null)
    .where('id', 'not in', listOf(agents.map((agent) => agent.id)))
    .set({ deleted_since: observed.at })
    .execute()
}

export async function countAgents(db: Db): Promise<{ status: string; agents: number }[]> {
  return db
    .selectFrom('agent')
    .where('deleted_since', 'is', null)
    .select((eb) => ['status', eb.fn.countAll<number>().as('agents')])
    .groupBy('status')
    .orderBy('agents', 'desc')
    .orderBy('status')
    .execute()
}

function rowOf({ tasks24h, errors24h, ...agent }: Agent, observed: Observation) {
  return {
    ...inSnakeCase(agent),
    tasks_24h: tasks24h,
    errors_24h: errors24h,
    observed_at: observed.at,
    deleted_since: null,
  }
}

function readingOf(agent: Agent, observed: Observation) {
  return {
    agent_id: agent.id,
    observed_at: observed.at,
    run_id: observed.runId,
    status: agent.status,
    task_type: agent.taskType,
    task_pipeline_id: agent.taskPipelineId,
    tasks_24h: agent.tasks24h,
    errors_24h: agent.errors24h,
  }
}

/** An agent that exists upstream, or was deleted recently. */
export type ListedAgent = InCamelCase<Omit<Row<'agent'>, 'raw'>> & {
  /** The name of the pipeline, or its id if the pipeline's name has not been read. */
  readonly taskPipeline: string | null
}

/** Lists the agents in order of name, but none that was deleted before `deletedAfter`. */
export async function listAgents(db: Db, deletedAfter: Instant): Promise<ListedAgent[]> {
  const rows = await db
    .selectFrom('agent')
    .leftJoin('pipeline', 'pipeline.id', 'agent.task_pipeline_id')
    .where((eb) => eb.or([eb('deleted_since', 'is', null), eb('deleted_since', '>=', deletedAfter)]))
    .selectAll('agent')
    .select((eb) => eb.fn.coalesce('pipeline.name', 'task_pipeline_id').as('task_pipeline'))
    .orderBy('agent.name')
    .orderBy('agent.id')
    .execute()
  return rows.map(inCamelCase)
}

/** Lists the outages that did not end before `since`, the newest first. */
export async function listOutages(db: Db, since: Instant): Promise<Outage[]> {
  const { rows } = await sql<Outage>`
    SELECT agent_name AS "agentName", began_at AS "beganAt", ended_at AS "endedAt", hours FROM agent_outage
    WHERE ended_at IS NULL OR ended_at > ${since} ORDER BY began_at DESC, agent_name`.execute(db)
  return rows
}

export async function listPipelineIdsInUse(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('lead_day')
    .innerJoin('pipeline', 'pipeline.id', 'lead_day.pipeline_id')
    .groupBy('pipeline.id')
    .having((eb) => eb.fn.sum('leads'), '>', 0)
    .select('pipeline.id')
    .orderBy('pipeline.id')
    .execute()
  return rows.map((row) => row.id)
}

/** Updates the pipeline's name and status too, but keeps the stored name if the sample has none. */
export async function savePipelineStat(trx: Trx, stat: PipelineStat, observed: Observation): Promise<void> {
  const pipeline = { id: stat.pipelineId, name: stat.name ?? stat.pipelineId, status: stat.status }
  await insertRows(trx, 'pipeline', [{ ...pipeline, first_seen_at: observed.at, observed_at: observed.at }], {
    key: ['id'],
    update: [...(stat.name === null ? [] : ['name']), 'status', 'observed_at'],
  })
  const key = ['pipeline_id', 'observed_at']
  await insertRows(trx, 'pipeline_stat', [statRowOf(stat, observed)], { key })
  await insertRows(trx, 'pipeline_stage_stat', stageRows(stat, observed.at), { key: [...key, 'status'] })
}

function statRowOf(
  { name, status, openValue, wonValue, stages, ...stat }: PipelineStat,
  observed: Observation,
) {
  return {
    ...inSnakeCase(stat),
    observed_at: observed.at,
    run_id: observed.runId,
    open_value_amount: openValue?.amount ?? null,
    open_value_currency: openValue?.currency ?? null,
    won_value_amount: wonValue?.amount ?? null,
    won_value_currency: wonValue?.currency ?? null,
  }
}

function stageRows(stat: PipelineStat, at: Instant) {
  return stat.stages.map((stage) => ({
    pipeline_id: stat.pipelineId,
    observed_at: at,
    ...inSnakeCase(stage),
  }))
}

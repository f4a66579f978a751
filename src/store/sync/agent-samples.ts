/** Agents as last read, and the time series of their states. */
import type { Agent } from '../../model.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Db, Observation, Trx } from '../db/store.ts'

/**
 * Keeps one reading of all agents; those no longer among them are dated as gone, unless the reading is not whole.
 * Of an agent that comes twice the last stands.
 */
export async function saveAgents(
  trx: Trx,
  agents: readonly Agent[],
  seen: Observation,
  { isWhole }: { readonly isWhole: boolean },
): Promise<void> {
  const rows = agents.map((agent) => rowOf(agent, seen))
  await insertRows(trx, 'agent', rows, { key: ['id'] })
  const readings = agents.map((agent) => readingOf(agent, seen))
  await insertRows(trx, 'agent_sample', readings, { key: ['agent_id', 'observed_at'] })
  if (!isWhole) return
  await trx
    .updateTable('agent')
    .where('deleted_since', 'is', null)
    .where('id', 'not in', listOf(agents.map((agent) => agent.id)))
    .set({ deleted_since: seen.at })
    .execute()
}

/** How many agents are in each state, the most first. */
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

function rowOf(agent: Agent, seen: Observation) {
  return {
    id: agent.id,
    name: agent.name,
    kind: agent.kind,
    status: agent.status,
    status_changed_at: agent.statusChangedAt,
    task_type: agent.taskType,
    task_pipeline_id: agent.taskPipelineId,
    task_lead_id: agent.taskLeadId,
    task_started_at: agent.taskStartedAt,
    task_progress: agent.taskProgress,
    last_seen_at: agent.lastSeenAt,
    tasks_24h: agent.tasks24h,
    errors_24h: agent.errors24h,
    last_error_at: agent.lastErrorAt,
    last_error_message: agent.lastErrorMessage,
    observed_at: seen.at,
    deleted_since: null,
    raw: agent.raw,
  }
}

function readingOf(agent: Agent, seen: Observation) {
  return {
    agent_id: agent.id,
    observed_at: seen.at,
    run_id: seen.runId,
    status: agent.status,
    task_type: agent.taskType,
    task_pipeline_id: agent.taskPipelineId,
    tasks_24h: agent.tasks24h,
    errors_24h: agent.errors24h,
  }
}

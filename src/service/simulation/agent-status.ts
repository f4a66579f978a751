/** The state of the agents at an instant, from their work on leads, their searches and their incidents. */

import { sql } from 'kysely'
import type { WireAgent } from '../../contract/pipeline.ts'
import type { PipelineRow, ServiceDatabase } from '../store/database.ts'
import { instantOf } from '../store/database.ts'
import type { AgentProfile } from './agents.ts'
import { AGENTS } from './agents.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './calendar.ts'
import { listDiscoveries } from './fate.ts'
import { randomFor } from './random.ts'
import { isStep, WORK } from './schedule.ts'
import type { World } from './world.ts'

interface Task {
  readonly agentId: string
  readonly type: string
  readonly pipelineId: string
  readonly leadId: string | null
  readonly startedAt: number
  readonly endsAt: number
}

/** The time between the search rounds of a discovery agent. Most rounds find no company. */
const ROUND_MS = 50 * MINUTE_MS
/** The maximum length of a search. */
const LONGEST_SEARCH_MS = HOUR_MS
const HEARTBEAT_MS = 20_000

export function composeAgents(
  world: World,
  facts: AgentFacts,
  pipelines: readonly PipelineRow[],
  asOf: number,
): WireAgent[] {
  const tasks = [
    ...[...listLeadTasks(facts), ...listSearches(world, pipelines, asOf)],
    ...listRounds(world, facts, pipelines, asOf),
  ]
  return AGENTS.map((agent) => {
    const { status, since, task } = stateOf(world, agent, facts, tasks, asOf)
    const errors = facts.errors.get(agent.id)
    return {
      id: agent.id,
      name: agent.name,
      kind: agent.kind,
      status,
      status_changed_at: instantOf(since),
      current_task: task === undefined ? null : wireTask(task, asOf),
      last_seen_at: instantOf(lastSeenAt(agent, status, since, errors?.lastAt ?? since, asOf)),
      last_24h: { tasks: facts.finished.get(agent.id)?.last24h ?? 0, errors: errors?.last24h ?? 0 },
      last_error: errors === undefined ? null : { at: instantOf(errors.lastAt), message: errors.lastMessage },
    }
  })
}

function listLeadTasks(facts: AgentFacts): readonly Task[] {
  return facts.tasks.map((task) => ({
    agentId: task.agent_id,
    type: isStep(task.next_step) ? WORK[task.next_step].task : 'work_on_lead',
    pipelineId: task.pipeline_id,
    leadId: task.id,
    startedAt: task.started_at,
    endsAt: task.ends_at,
  }))
}

function listSearches(world: World, pipelines: readonly PipelineRow[], asOf: number): readonly Task[] {
  return pipelines
    .flatMap((pipeline) => listDiscoveries(world, pipeline, asOf, asOf + LONGEST_SEARCH_MS))
    .filter((discovery) => discovery.startedAt <= asOf)
    .map((discovery) => ({
      agentId: discovery.agentId,
      type: 'search_companies',
      pipelineId: discovery.pipelineId,
      leadId: null,
      startedAt: discovery.startedAt,
      endsAt: discovery.at,
    }))
    .sort((a, b) => a.endsAt - b.endsAt)
}

/** Rounds begin at different times, so that at any time some agent is searching. */
function listRounds(
  world: World,
  facts: AgentFacts,
  pipelines: readonly PipelineRow[],
  asOf: number,
): readonly Task[] {
  const scouts = AGENTS.filter((agent) => agent.kind === 'discovery')
  return scouts.flatMap((agent, index) => {
    const phaseMs = (index * ROUND_MS) / scouts.length
    const round = Math.floor((asOf - phaseMs) / ROUND_MS)
    const random = randomFor(world.seed, 'round', agent.id, round)
    const startedAt = round * ROUND_MS + phaseMs + Math.round(random.between(0, 8) * MINUTE_MS)
    const endsAt = startedAt + Math.round(random.between(28, 40) * MINUTE_MS)
    const outUntil = facts.incidents.get(agent.id)?.ends_at ?? 0
    const open = pipelines.filter(({ created_at }) => created_at <= startedAt)
    if (open.length === 0 || startedAt > asOf || endsAt <= asOf || startedAt < outUntil) return []
    const type = 'search_companies'
    const pipelineId = random.pick(open).id
    return [{ agentId: agent.id, type, pipelineId, leadId: null, startedAt, endsAt }]
  })
}

function stateOf(
  world: World,
  agent: AgentProfile,
  facts: AgentFacts,
  tasks: readonly Task[],
  asOf: number,
): { readonly status: WireAgent['status']; readonly since: number; readonly task?: Task } {
  const incident = facts.incidents.get(agent.id)
  if (incident !== undefined && asOf < incident.ends_at) {
    return { status: incident.status, since: incident.started_at }
  }
  const own = tasks.filter((task) => task.agentId === agent.id)
  const [task] = own
  if (task !== undefined) {
    return { status: 'running', since: Math.min(...own.map((one) => one.startedAt)), task }
  }
  const lastWorkAt = facts.finished.get(agent.id)?.lastAt ?? world.epochAt
  return { status: 'idle', since: Math.max(lastWorkAt, incident?.ends_at ?? world.epochAt) }
}

function wireTask(task: Task, asOf: number): NonNullable<WireAgent['current_task']> {
  const progress = (asOf - task.startedAt) / (task.endsAt - task.startedAt)
  return {
    type: task.type,
    pipeline_id: task.pipelineId,
    lead_id: task.leadId,
    started_at: instantOf(task.startedAt),
    progress: Math.round(progress * 100) / 100,
  }
}

/** The start of a pause, the last error of a failing agent, otherwise a moment ago. */
function lastSeenAt(
  agent: AgentProfile,
  status: WireAgent['status'],
  since: number,
  lastErrorAt: number,
  asOf: number,
): number {
  if (status === 'paused') return since
  if (status === 'failing') return lastErrorAt
  const phase = (AGENTS.indexOf(agent) * HEARTBEAT_MS) / AGENTS.length
  return Math.max(since, Math.floor(asOf - ((asOf - phase) % HEARTBEAT_MS)))
}

type AgentFacts = Awaited<ReturnType<typeof readAgentFacts>>

export async function readAgentFacts(db: ServiceDatabase, asOf: number) {
  const since = asOf - DAY_MS
  // SQLite takes the other columns from the row that has the maximum `started_at`.
  const incidents = await db
    .selectFrom('agent_incident')
    .select((eb) => ['agent_id', 'status', 'ends_at', eb.fn.max('started_at').as('started_at')])
    .groupBy('agent_id')
    .execute()
  const tasks = await db
    .selectFrom('lead')
    .select((eb) => [
      'id',
      'pipeline_id',
      'next_step',
      eb.ref('next_agent_id').$notNull().as('agent_id'),
      eb.ref('next_task_at').$notNull().as('started_at'),
      eb.ref('next_at').$notNull().as('ends_at'),
    ])
    .where('next_at', '>', asOf)
    .where('next_task_at', '<=', asOf)
    .orderBy('next_at')
    .orderBy('id')
    .execute()
  // The query looks up each agent in the index, because `group by` would read the whole history.
  const finished = await sql<{ agent_id: string; last24h: number; lastAt: number | null }>`
    select agent.value as agent_id,
      (select count(*) from activity where agent_id = agent.value and at > ${since} and type != 'error') as last24h,
      (select max(at) from activity where agent_id = agent.value) as lastAt
    from json_each(${JSON.stringify(AGENTS.map((agent) => agent.id))}) agent
  `.execute(db)
  const errors = await db
    .selectFrom('agent_error')
    .select((eb) => [
      'agent_id',
      'message as lastMessage',
      eb.fn.max('at').as('lastAt'),
      eb.fn.countAll<number>().filterWhere('at', '>', since).as('last24h'),
    ])
    .groupBy('agent_id')
    .execute()
  return {
    /** The latest incident of each agent that had one. */
    incidents: byAgent(incidents),
    /** The tasks under way. The task that ends first comes first. */
    tasks,
    /** The time is null if the agent has finished no task. */
    finished: byAgent(finished.rows),
    errors: byAgent(errors),
  }
}

function byAgent<T extends { readonly agent_id: string }>(rows: readonly T[]): ReadonlyMap<string, T> {
  return new Map(rows.map((row) => [row.agent_id, row]))
}

/** Reads the facts about agents: incidents, errors, finished and current work. */
import { sql } from 'kysely'
import { AGENTS } from '../simulation/agents.ts'
import { DAY_MS } from '../simulation/calendar.ts'
import type { ServiceDatabase } from './database.ts'
import type { AgentIncidentRow, LeadRow } from './tables.ts'

type Task = Pick<LeadRow, 'id' | 'pipeline_id' | 'next_step'> & {
  readonly agent_id: string
  readonly started_at: number
  readonly ends_at: number
}

export interface AgentFacts {
  /** The latest incident of each agent that had one. */
  readonly incidents: ReadonlyMap<string, AgentIncidentRow>
  /** The tasks under way. The task that ends first comes first. */
  readonly tasks: readonly Task[]
  /**
   * The finished tasks by agent: their number in the last 24 hours, and the time of the last; null if the
   * agent has finished none.
   */
  readonly finished: ReadonlyMap<string, { readonly last24h: number; readonly lastAt: number | null }>
  readonly errors: ReadonlyMap<
    string,
    { readonly last24h: number; readonly lastAt: number; readonly lastMessage: string }
  >
}

export async function readAgentFacts(db: ServiceDatabase, asOf: number): Promise<AgentFacts> {
  const since = asOf - DAY_MS
  // SQLite takes the other columns from the row that has the maximum.
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
  // The query looks up each agent in the index, because grouping would read the whole history.
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
  return { incidents: byAgent(incidents), tasks, finished: byAgent(finished.rows), errors: byAgent(errors) }
}

function byAgent<T extends { readonly agent_id: string }>(rows: readonly T[]): ReadonlyMap<string, T> {
  return new Map(rows.map((row) => [row.agent_id, row]))
}

/**
 * Stores the state of the simulation and the changes that it makes. The changes of a span of simulated time
 * are collected in memory and written in one transaction. Every change of a lead goes through `record`, which
 * adds an activity and an event.
 */
import type { Insertable } from 'kysely'
import type { EventData } from '../../contract/webhook.ts'
import { LeadsheetError } from '../../errors.ts'
import type {
  AgentIncidentRow,
  LeadRow,
  NewActivity,
  NewAgentError,
  NewEvent,
  PipelineRow,
  RemovedLeadRow,
  ServiceDatabase,
  ServiceTables,
} from './database.ts'
import { searchText } from './lead.ts'

export type SimulationState = Readonly<NonNullable<Awaited<ReturnType<typeof readSimulation>>>>

export async function readSimulation(db: ServiceDatabase) {
  const row = await db.selectFrom('simulation').selectAll().executeTakeFirst()
  return (
    row && {
      seed: row.seed,
      epochAt: row.epoch_at,
      /** The real time at which this history was created. */
      madeAt: row.made_at,
      simulatedUntil: row.simulated_until,
    }
  )
}

/** Stores the state of a new history, and the pipelines that exist from the start. */
export async function insertSimulation(
  db: ServiceDatabase,
  state: SimulationState,
  pipelines: readonly PipelineRow[],
): Promise<void> {
  const { seed, epochAt, madeAt, simulatedUntil } = state
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('simulation')
      .values({ id: 1, seed, epoch_at: epochAt, made_at: madeAt, simulated_until: simulatedUntil })
      .execute()
    await trx.insertInto('pipeline').values(pipelines).execute()
  })
}

/** Lists the leads whose next step is due at or before the instant. */
export function listDueLeads(db: ServiceDatabase, to: number): Promise<LeadRow[]> {
  return db.selectFrom('lead').selectAll().where('next_at', '<=', to).execute()
}

/** Lists the ids of the companies that the pipeline already had as leads, deleted leads included. */
export async function listTakenCompanies(db: ServiceDatabase, pipelineId: string): Promise<Set<number>> {
  const rows = await db
    .selectFrom('lead')
    .select('company_id')
    .where('pipeline_id', '=', pipelineId)
    .unionAll(db.selectFrom('removed_lead').select('company_id').where('pipeline_id', '=', pipelineId))
    .execute()
  return new Set(rows.map((row) => row.company_id))
}

/**
 * Writes all changes of one span of simulated time.
 * @param from the start of the span; `simulated_until` must still have this value, so that two processes
 * never simulate the same time
 * @throws LeadsheetError job_busy if another process has changed `simulated_until`
 */
export async function writeChanges(
  db: ServiceDatabase,
  changes: Changes,
  from: number,
  to: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const moved = await trx
      .updateTable('simulation')
      .set({ simulated_until: to })
      .where('simulated_until', '=', from)
      .executeTakeFirst()
    if (moved.numUpdatedRows !== 1n) {
      throw new LeadsheetError('job_busy', 'Another process is serving from the same service database.', {
        hint: 'Stop the other one, or name another database file.',
      })
    }
    await upsertLeads(trx, [...changes.leads.values()])
    await insertBatches(trx, 'activity', changes.activities)
    await insertBatches(trx, 'event', changes.events)
    await insertBatches(trx, 'agent_incident', changes.incidents)
    await insertBatches(trx, 'agent_error', changes.agentErrors)
    await insertBatches(trx, 'removed_lead', changes.removed)
    for (const { lead_id } of changes.removed) {
      await trx.deleteFrom('lead').where('id', '=', lead_id).execute()
    }
    for (const { id, status, updated_at } of changes.pipelines.values()) {
      await trx.updateTable('pipeline').set({ status, updated_at }).where('id', '=', id).execute()
    }
  })
}

const BATCH_ROWS = 200

async function upsertLeads(db: ServiceDatabase, leads: readonly LeadRow[]): Promise<void> {
  for (const batch of batches(leads)) {
    await db
      .insertInto('lead')
      .values(batch)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((eb) => {
          const columns = Object.keys(batch[0] ?? {}) as (keyof LeadRow)[]
          return Object.fromEntries(columns.map((name) => [name, eb.ref(`excluded.${name}`)]))
        }),
      )
      .execute()
  }
}

async function insertBatches<T extends keyof ServiceTables>(
  db: ServiceDatabase,
  table: T,
  rows: readonly Insertable<ServiceTables[T]>[],
): Promise<void> {
  for (const batch of batches(rows)) await db.insertInto(table).values(batch).execute()
}

/** Splits rows into batches, because SQLite allows only 32,766 variables in a statement. */
function batches<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / BATCH_ROWS) }, (_, index) =>
    rows.slice(index * BATCH_ROWS, (index + 1) * BATCH_ROWS),
  )
}

export interface Changes {
  /** The new and changed leads by id, as they are at the end of the simulated span. */
  readonly leads: Map<string, LeadRow>
  readonly removed: RemovedLeadRow[]
  readonly pipelines: Map<string, PipelineRow>
  readonly activities: NewActivity[]
  readonly events: NewEvent[]
  readonly incidents: AgentIncidentRow[]
  readonly agentErrors: NewAgentError[]
}

export function noChanges(): Changes {
  return {
    leads: new Map(),
    removed: [],
    pipelines: new Map(),
    activities: [],
    events: [],
    incidents: [],
    agentErrors: [],
  }
}

export interface LeadChange {
  readonly type: NewActivity['type']
  readonly at: number
  readonly agentId: string | null
  readonly summary: string
  /** The columns of the lead that change, with their new values. */
  readonly set?: Partial<LeadRow>
}

/** Changes a lead, and adds the activity and the event for the change. */
export function record(changes: Changes, lead: LeadRow, change: LeadChange): void {
  const from = lead.status
  const to = change.set?.status ?? from
  const moves = to !== from
  const { at, agentId, set } = change
  Object.assign(lead, set, { agent_id: agentId, updated_at: at })
  if (set?.contact_name !== undefined) lead.search_text = searchText(lead)
  if (moves) lead.status_changed_at = at
  changes.leads.set(lead.id, lead)
  changes.activities.push(activityOf(lead, change, moves ? from : null, moves ? to : null))
  if (moves) {
    const data = { ...leadKeys(lead), from_status: from, to_status: to }
    recordEvent(changes, at, { type: 'lead.status_changed', data })
  } else {
    const changed = [...changedFields(set ?? {}), 'activity']
    recordEvent(changes, at, { type: 'lead.updated', data: { ...leadKeys(lead), changed } })
  }
}

/** Adds a lead that has just been discovered, with its activity and its event. */
export function recordDiscovery(changes: Changes, lead: LeadRow, summary: string): void {
  const at = lead.created_at
  changes.leads.set(lead.id, lead)
  changes.activities.push(
    activityOf(lead, { type: 'discovered', at, agentId: lead.agent_id, summary }, null, lead.status),
  )
  const data = { ...leadKeys(lead), status: lead.status, company_name: lead.company_name }
  recordEvent(changes, at, { type: 'lead.created', data })
}

export function recordRemoval(changes: Changes, lead: LeadRow, at: number, reason: string): void {
  const { id, pipeline_id, company_id } = lead
  changes.removed.push({ lead_id: id, pipeline_id, company_id, deleted_at: at })
  recordEvent(changes, at, { type: 'lead.removed', data: { ...leadKeys(lead), reason } })
}

export function recordEvent(changes: Pick<Changes, 'events'>, at: number, event: EventData): void {
  changes.events.push(eventRow(at, event))
}

/** Makes the row of an event. */
export function eventRow(at: number, { type, data }: EventData): NewEvent {
  return {
    type,
    at,
    pipeline_id: 'pipeline_id' in data ? data.pipeline_id : null,
    lead_id: 'lead_id' in data ? data.lead_id : null,
    agent_id: 'agent_id' in data ? data.agent_id : null,
    data: JSON.stringify(data),
  }
}

function activityOf(
  lead: LeadRow,
  change: LeadChange,
  from: LeadRow['status'] | null,
  to: LeadRow['status'] | null,
): NewActivity {
  const { type, at, agentId, summary } = change
  return { lead_id: lead.id, type, at, agent_id: agentId, summary, from_status: from, to_status: to }
}

function leadKeys(lead: LeadRow): { lead_id: string; pipeline_id: string } {
  return { lead_id: lead.id, pipeline_id: lead.pipeline_id }
}

/** Converts the names of changed columns to the names of the API's fields. */
function changedFields(set: Partial<LeadRow>): readonly string[] {
  const fields = Object.keys(set).map((column) => column.replace(/^(contact|value)_.*/, '$1'))
  return [...new Set(fields)]
}

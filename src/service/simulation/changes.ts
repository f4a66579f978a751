/**
 * Collects the changes of a stretch of simulated time in memory. One transaction then writes them. Every
 * change of a lead goes through `record`, which also sets `updated_at` and adds the activity and the event.
 */
import type { EventData } from '../../contract/webhook.ts'
import { searchText } from '../store/lead.ts'
import type {
  AgentIncidentRow,
  LeadRow,
  NewActivity,
  NewAgentError,
  NewEvent,
  PipelineRow,
  RemovedLeadRow,
} from '../store/tables.ts'

export interface Changes {
  /** The new or changed leads by id, in their state at the end of the stretch. */
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
  /** The columns of the lead that change, including the status. */
  readonly set?: Partial<LeadRow>
}

/** Applies a change to a lead that already exists. */
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

/** Adds a lead that has just been discovered. */
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

/** Returns the names of the changed columns as fields of the API. */
function changedFields(set: Partial<LeadRow>): readonly string[] {
  const fields = Object.keys(set).map((column) => column.replace(/^(contact|value)_.*/, '$1'))
  return [...new Set(fields)]
}

/** The tables of leads, their history, their details, the events and the pruned rows, as Kysely types. */
import type { Generated, GeneratedAlways } from 'kysely'
import type { LeadColumns, LeadField } from '../../domain/lead-fields.ts'
import type { EventResource } from '../../domain/model.ts'

export interface LeadTable extends LeadColumns {
  no: number
  first_seen_at: string
  observed_at: string
  deleted_at: string | null
  run_id: string
  derived_version: number | null
}

/** The columns of the tracked fields: if one of them changes, the lead gets a new version. */
export type TrackedColumn = Extract<LeadField, { hasHistory: true }>['column']

export interface LeadVersionTable extends Pick<LeadColumns, TrackedColumn> {
  lead_id: string
  valid_from: string
  valid_to: string | null
  changed_at: string
  status_changed_at: string | null
  observed_at: string
  run_id: string
}

export interface LeadMinorUpdateTable {
  lead_id: string
  changed_at: string
  status_changed_at: string | null
  observed_at: string
  run_id: string
}

interface LeadDeletionTable {
  lead_id: string
  deleted_since: string
  returned_at: string | null
  run_id: string
}

export interface StageMoveTable {
  lead_id: string
  moved_at: string
  to_status: string
  from_status: string | null
  pipeline_id: string
  entered_at: string | null
  days_before: number | null
  source: 'version' | 'activity'
  observed_at: string
}

interface LeadDetailTable {
  lead_id: string
  fetched_at: string
  lead_updated_at: string
  run_id: string
  enrichment: string | null
  technologies: GeneratedAlways<string | null>
  funding_stage: GeneratedAlways<string | null>
  funding_total_usd: GeneratedAlways<number | null>
  is_hiring: GeneratedAlways<number | null>
  open_roles: GeneratedAlways<number | null>
  linkedin_followers: GeneratedAlways<number | null>
  github_stars: GeneratedAlways<number | null>
  technologies_confidence: GeneratedAlways<number | null>
  funding_confidence: GeneratedAlways<number | null>
  hiring_confidence: GeneratedAlways<number | null>
  social_confidence: GeneratedAlways<number | null>
  raw: string
}

interface ActivityTable {
  lead_id: string
  id: string
  at: string
  type: string | null
  agent_id: string | null
  summary: string | null
  from_status: string | null
  to_status: string | null
  first_seen_at: string
  run_id: string
}

interface DetailQueueTable {
  lead_no: number
  asked_at: string
  due_at: string | null
  failures: number
  last_error: string | null
}

interface LeadDayTable {
  day: string
  pipeline_id: string
  status: string
  value_currency: string
  is_known: number
  reached: number
  leads: number
  entered: number
  value_amount: number
}

export interface LeadTables {
  lead: LeadTable
  lead_raw: { lead_no: number; raw: string }
  lead_fingerprint: { lead_no: number; fingerprint: string }
  missing_lead: { lead_id: string; run_id: string; since: string }
  lead_day: LeadDayTable
  /**
   * The stored versions of leads. A lead that has not changed since its first read has no stored version. The
   * view `lead_version` has the versions of all leads.
   */
  lead_history: LeadVersionTable
  lead_version: LeadVersionTable
  lead_minor_update: LeadMinorUpdateTable
  lead_deletion: LeadDeletionTable
  stage_move: StageMoveTable
  lead_detail: LeadDetailTable
  activity: ActivityTable
  detail_queue: DetailQueueTable
}

/** The possible results of processing an event that the upstream has sent. */
export const EVENT_OUTCOMES = [
  ...['inserted', 'updated', 'unchanged', 'deleted', 'not_found'],
  ...['read', 'ignored', 'unreadable', 'failed'],
] as const
export type EventOutcome = (typeof EVENT_OUTCOMES)[number]

export interface EventTable {
  id: string
  type: string | null
  occurred_at: string | null
  received_at: string
  repeats: Generated<number>
  resource: EventResource | null
  resource_id: string
  done_at: string | null
  outcome: EventOutcome | null
  problem: string | null
}

export interface EventQueueTable {
  resource: EventResource
  resource_id: string
  asked_at: string
  last_at: string
  events: number
  is_deletion: number
  record: string | null
  record_at: string | null
  not_before: string | null
  failures: number
}

interface EventCountTable {
  hour: string
  outcome: EventOutcome
  events: number
  seconds: number
}

interface ScanEventTable {
  seq: Generated<number>
  lead_no: number
  is_older: number
}

export interface EventTables {
  sync_scan_event: ScanEventTable
  event_count: EventCountTable
  event: EventTable
  event_queue: EventQueueTable
}

/** The record of pruned rows. */
export interface PrunedTable {
  table_name: string
  before: string
  pruned_at: string
  rows: number
}

/** The tables of what leads have been through, as Kysely sees them; their columns are explained in the migrations. */
import type { LeadColumns, LeadField } from '../../domain/lead-fields.ts'

/** Column of a field whose changes make a version. */
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

export interface LeadTouchTable {
  lead_id: string
  changed_at: string
  status_changed_at: string | null
  observed_at: string
  run_id: string
}

export interface LeadDeletionTable {
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

export interface HistoryTables {
  lead_version: LeadVersionTable
  lead_touch: LeadTouchTable
  lead_deletion: LeadDeletionTable
  stage_move: StageMoveTable
}

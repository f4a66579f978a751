/** The tables of what leads have been through, as Kysely sees them; their columns are explained in the migrations. */

export interface LeadVersionTable {
  lead_id: string
  valid_from: string
  valid_to: string | null
  changed_at: string
  status_changed_at: string | null
  observed_at: string
  run_id: string
  pipeline_id: string
  status: string
  score: number | null
  value_amount: number | null
  value_currency: string | null
  agent_id: string | null
}

export interface LeadTouchTable {
  lead_id: string
  changed_at: string
  status_changed_at: string | null
  observed_at: string
  run_id: string
}

export interface LeadGoneTable {
  lead_id: string
  gone_at: string
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
  lead_gone: LeadGoneTable
  stage_move: StageMoveTable
}

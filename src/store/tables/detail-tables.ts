/** The tables of lead details as Kysely sees them; their columns are explained in the migrations. */
import type { Generated, GeneratedAlways } from 'kysely'

export interface LeadDetailTable {
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

export interface ActivityTable {
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

export interface DetailQueueTable {
  lead_no: number
  asked_at: string
  due_at: string | null
  failures: number
  last_error: string | null
}

export interface DetailReadingTable {
  run_id: string
  failures_in_row: Generated<number>
  held: Generated<number>
  requests: Generated<number>
  retries: Generated<number>
  ended: string | null
}

export interface DetailTables {
  lead_detail: LeadDetailTable
  activity: ActivityTable
  detail_queue: DetailQueueTable
  detail_reading: DetailReadingTable
  detail_wanted: { lead_no: number; run_id: string; batch: number }
}

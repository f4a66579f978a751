/** The tables of a list that is being read; what each column means stands in migrations 005 and 026. */
import type { Generated } from 'kysely'

export interface SyncPartTable {
  part: number
  pipeline_id: string | null
  since: string | null
  until: string | null
  end_position: string | null
  run_id: string | null
  reading: string
  pages: Generated<number>
  leads_seen: Generated<number>
  leads_inserted: Generated<number>
  leads_updated: Generated<number>
  leads_unchanged: Generated<number>
  leads_held: Generated<number>
  requests: Generated<number>
  retries: Generated<number>
  holder: string | null
  ended_at: string | null
  failure: string | null
  drift: Generated<string>
}

export interface ScanTables {
  sync_part: SyncPartTable
  sync_scan_page: { part: Generated<number>; page: number; pass: number; met: string }
}

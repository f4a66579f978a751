/**
 * Leads that are gone upstream. Only a whole scan speaks of absence, and only the second in a row removes:
 * softly, dated, and undone when the lead is met again.
 */
import { sql } from 'kysely'
import type { Instant } from '../model.ts'
import { hasNamelessLeads } from './held-row.ts'
import { recordGone } from './lead-version.ts'
import type { Observation } from './observation.ts'
import type { Trx } from './open.ts'
import { insertRows, listOf } from './sqlite.ts'

/** Above this share of all leads, absence is taken for a fault of the upstream. */
const ABSENT_SHARE_MAX = 0.2
/** Below this count the share says nothing. */
const ABSENT_ALWAYS_BELIEVED = 5

export type Absence =
  | { readonly removed: number; readonly refused: null }
  | { readonly removed: 0; readonly refused: { absent: number; of: number } }

/**
 * To be called at the end of a whole full scan, before its list of seen leads is cleared. A scan that met leads
 * without a readable identifier says nothing of absence: they may be any of those it did not meet.
 */
export async function recordAbsence(
  trx: Trx,
  scan: Observation & { readonly startedAt: Instant },
): Promise<Absence> {
  if (await hasNamelessLeads(trx, scan.startedAt)) return { removed: 0, refused: null }
  await sql`DELETE FROM lead_absence WHERE lead_id IN (SELECT lead_id FROM sync_scan_seen)`.execute(trx)
  const { rows: absent } = await sql<{ id: string; twice: number }>`
    SELECT lead.id, lead_absence.lead_id IS NOT NULL AS twice FROM lead
    LEFT JOIN lead_absence ON lead_absence.lead_id = lead.id
    WHERE lead.removed_at IS NULL AND lead.id NOT IN (SELECT lead_id FROM sync_scan_seen)`.execute(trx)
  const { rows: counted } = await sql<{
    n: number
  }>`SELECT count(*) AS n FROM lead WHERE removed_at IS NULL`.execute(trx)
  const of = counted[0]?.n ?? 0
  if (absent.length > ABSENT_ALWAYS_BELIEVED && absent.length > of * ABSENT_SHARE_MAX) {
    return { removed: 0, refused: { absent: absent.length, of } }
  }
  const gone = absent.filter((lead) => lead.twice === 1).map((lead) => lead.id)
  await remove(trx, gone, scan)
  const missed = absent.filter((lead) => lead.twice === 0)
  await insertRows(
    trx,
    'lead_absence',
    missed.map((lead) => ({ lead_id: lead.id, run_id: scan.runId, since: scan.at })),
  )
  return { removed: gone.length, refused: null }
}

/** A lead that any scan meets is not absent. */
export async function forgetAbsence(trx: Trx, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom('lead_absence').where('lead_id', 'in', listOf(ids)).execute()
}

async function remove(trx: Trx, ids: readonly string[], scan: Observation): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('lead')
    .where('id', 'in', listOf(ids))
    .set({ removed_at: scan.at, run_id: scan.runId })
    .execute()
  await recordGone(trx, ids, scan)
  await forgetAbsence(trx, ids)
}

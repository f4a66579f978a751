/**
 * The leads that events have read while a scan is under way. The scan must not take such a lead for what it was
 * before, nor for absent, nor undo what the event has brought by a page that is older.
 */
import { sql } from 'kysely'
import { listOf } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'

/** In the transaction that writes what was read of the lead; without a scan there is nothing to note. */
export async function noteReadByEvent(trx: Trx, leadNo: number): Promise<void> {
  // Anew and not changed, so that it comes behind all that were noted.
  await trx.deleteFrom('sync_scan_event').where('lead_no', '=', leadNo).execute()
  await sql`INSERT INTO sync_scan_event (lead_no)
    SELECT ${leadNo} WHERE EXISTS (SELECT 1 FROM sync_scan)`.execute(trx)
}

/** Those noted behind a place, in their order. */
export async function listReadByEvents(db: Db, afterSeq: number): Promise<{ seq: number; no: number }[]> {
  return db
    .selectFrom('sync_scan_event')
    .where('seq', '>', afterSeq)
    .select(['seq', 'lead_no as no'])
    .orderBy('seq')
    .execute()
}

/** Those of these leads that events have read, with whether they were found gone. */
export async function findReadByEvents(
  trx: Trx,
  ids: readonly string[],
): Promise<Map<string, { readonly no: number; readonly isRemoved: boolean }>> {
  const rows = await trx
    .selectFrom('lead')
    .innerJoin('sync_scan_event', 'sync_scan_event.lead_no', 'lead.no')
    .where('lead.id', 'in', listOf(ids))
    .select(['lead.id', 'lead.no', 'deleted_at'])
    .execute()
  return new Map(rows.map(({ id, no, deleted_at }) => [id, { no, isRemoved: deleted_at !== null }]))
}

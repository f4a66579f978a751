/**
 * Where the reading of the leads stands. The scan moves on in the transaction that writes its page, so a
 * killed run goes on exactly after the last page that is in.
 */
import { sql } from 'kysely'
import type { Instant } from '../model.ts'
import type { Db, Trx } from './open.ts'
import { insertRows, listOf } from './sqlite.ts'
import type { SyncScanTable } from './tables.ts'

const RESOURCE = 'lead'

export type Scan = Omit<SyncScanTable, 'resource'>

export async function findScan(db: Db): Promise<Scan | undefined> {
  return db.selectFrom('sync_scan').where('resource', '=', RESOURCE).selectAll().executeTakeFirst()
}

/** Begins a scan; one that was under way is given up. */
export async function startScan(
  trx: Trx,
  scan: Pick<Scan, 'mode' | 'updated_since' | 'started_at'>,
): Promise<Scan> {
  await clearScan(trx)
  const row = { ...scan, resource: RESOURCE, cursor: null, seen: 0, max_updated_at: null }
  await trx.insertInto('sync_scan').values(row).execute()
  return row
}

/**
 * Records a page as read: the cursor after it and the ids on it, of unreadable records too: they are there.
 * Returns those not met before in this scan.
 */
export async function advanceScan(
  trx: Trx,
  page: {
    readonly ids: readonly string[]
    readonly cursor: string | null
    readonly maxUpdatedAt: Instant | null
  },
): Promise<ReadonlySet<string>> {
  const met = await trx
    .selectFrom('sync_scan_seen')
    .where('lead_id', 'in', listOf(page.ids))
    .select('lead_id')
    .execute()
  const fresh = new Set(page.ids)
  for (const row of met) fresh.delete(row.lead_id)
  await insertRows(
    trx,
    'sync_scan_seen',
    [...fresh].map((lead_id) => ({ lead_id })),
  )
  await trx
    .updateTable('sync_scan')
    .where('resource', '=', RESOURCE)
    .set((eb) => ({
      cursor: page.cursor,
      seen: eb('seen', '+', fresh.size),
      max_updated_at: sql`nullif(max(coalesce(max_updated_at, ''), coalesce(${page.maxUpdatedAt}, '')), '')`,
    }))
    .execute()
  return fresh
}

export async function clearScan(trx: Trx): Promise<void> {
  await trx.deleteFrom('sync_scan').execute()
  await trx.deleteFrom('sync_scan_seen').execute()
}

/** What the next incremental scan starts from, and the instant before which the upstream wants no request. */
export async function readWatermark(
  db: Db,
): Promise<{ updatedAt: Instant | null; notBefore: Instant | null }> {
  const row = await db
    .selectFrom('sync_watermark')
    .where('resource', '=', RESOURCE)
    .selectAll()
    .executeTakeFirst()
  return { updatedAt: row?.updated_at || null, notBefore: row?.not_before ?? null }
}

export async function saveWatermark(trx: Trx, updatedAt: Instant): Promise<void> {
  await trx
    .insertInto('sync_watermark')
    .values({ resource: RESOURCE, updated_at: updatedAt, not_before: null })
    .onConflict((conflict) => conflict.column('resource').doUpdateSet({ updated_at: updatedAt }))
    .execute()
}

/** Null when nothing stands against a request. */
export async function saveNotBefore(trx: Trx, notBefore: Instant | null): Promise<void> {
  await trx
    .insertInto('sync_watermark')
    .values({ resource: RESOURCE, updated_at: '', not_before: notBefore })
    .onConflict((conflict) => conflict.column('resource').doUpdateSet({ not_before: notBefore }))
    .execute()
}

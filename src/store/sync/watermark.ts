/** What the next incremental scan starts from, and the instant before which the upstream wants no request. */
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'

const RESOURCE = 'lead'

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

/** By which profile the copy was last read from one end to the other. */
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'

/** Null before the first whole reading. */
export async function findProfileHash(db: Db): Promise<string | null> {
  const row = await db.selectFrom('upstream_profile').select('sha256').executeTakeFirst()
  return row?.sha256 ?? null
}

/** When a reading by another profile than before had ended; null before the first whole one. */
export async function findProfileSince(db: Db): Promise<Instant | null> {
  const row = await db.selectFrom('upstream_profile').select('since').executeTakeFirst()
  return row?.since ?? null
}

export async function saveProfileHash(trx: Trx, sha256: string, at: Instant): Promise<void> {
  await trx
    .insertInto('upstream_profile')
    .values({ id: 1, sha256, since: at })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ sha256, since: at }).where('upstream_profile.sha256', '<>', sha256),
    )
    .execute()
}

/**
 * The key of this installation that signs the links in messages. It goes with the database, its backups and the copy
 * of preferences beside it, and nowhere else, so that a link holds after a restore, and no copy that analysts have can make one.
 */
import { randomBytes } from 'node:crypto'
import type { Store, Trx } from '../db/store.ts'
import { copyPreferences } from './preference-copy.ts'

const KEY_BYTES = 32

export async function readOrCreateLinkKey(
  store: Pick<Store, 'db' | 'write' | 'place'>,
  now: Date,
): Promise<Uint8Array> {
  const found = await store.db.selectFrom('link_key').select('key').executeTakeFirst()
  if (found) return found.key
  const key = await store.write(async (trx) => {
    // Of two processes that make it at once, the first has.
    const made = await trx.selectFrom('link_key').select('key').executeTakeFirst()
    return made?.key ?? insertKey(trx, now)
  })
  await copyPreferences(store)
  return key
}

/** Every link that was ever sent is worth nothing afterwards. */
export async function replaceLinkKey(store: Store, now: Date): Promise<void> {
  await store.write(async (trx) => {
    await trx.deleteFrom('link_key').execute()
    await insertKey(trx, now)
  })
  await copyPreferences(store)
}

async function insertKey(trx: Trx, now: Date): Promise<Uint8Array> {
  const key = randomBytes(KEY_BYTES)
  await trx.insertInto('link_key').values({ id: 1, key, made_at: now.toISOString() }).execute()
  return key
}

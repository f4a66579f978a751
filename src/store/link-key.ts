/**
 * The key of this installation that signs the links in letters. It goes with the database and its backups and nowhere
 * else, so that a link holds after a restore, and no copy that analysts have can make one.
 */
import { randomBytes } from 'node:crypto'
import type { Store, Trx } from './open.ts'

const KEY_BYTES = 32

export async function readOrCreateLinkKey(
  store: Pick<Store, 'db' | 'write'>,
  now: Date,
): Promise<Uint8Array> {
  const found = await store.db.selectFrom('link_key').select('key').executeTakeFirst()
  if (found) return found.key
  return store.write(async (trx) => {
    // Of two processes that make it at once, the first has.
    const made = await trx.selectFrom('link_key').select('key').executeTakeFirst()
    return made?.key ?? insertKey(trx, now)
  })
}

/** Every link that was ever sent is worth nothing afterwards. */
export async function replaceLinkKey(trx: Trx, now: Date): Promise<void> {
  await trx.deleteFrom('link_key').execute()
  await insertKey(trx, now)
}

async function insertKey(trx: Trx, now: Date): Promise<Uint8Array> {
  const key = randomBytes(KEY_BYTES)
  await trx.insertInto('link_key').values({ id: 1, key, made_at: now.toISOString() }).execute()
  return key
}

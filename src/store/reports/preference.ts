/**
 * Preferences: the choices of a report's recipients that differ from the settings. Without a preference the
 * settings apply. When an address is removed from the settings, its row stays, so that the recipient stays
 * unsubscribed. This source file also has the copy of the preferences and the key that signs links in
 * messages.
 */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText, LeadsheetError } from '../../errors.ts'
import { type Model, modelsIn } from '../db/model.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

export type Preference = Model<'preference'>
/** Capitals of the address do not matter, as for mail servers. */
export type PreferenceKey = Pick<Preference, 'address' | 'report'>

export function findPreference(db: Db, { address, report }: PreferenceKey): Promise<Preference | undefined> {
  return modelsIn(db)
    .selectFrom('preference')
    .where('address', '=', address.toLowerCase())
    .where('report', '=', report)
    .selectAll()
    .executeTakeFirst()
}

/** Lists by report and address; all reports if `report` is undefined. */
export function listPreferences(db: Db, report?: string): Promise<Preference[]> {
  const all = modelsIn(db).selectFrom('preference').selectAll().orderBy('report').orderBy('address')
  return (report === undefined ? all : all.where('report', '=', report)).execute()
}

export async function savePreference(trx: Trx, preference: Preference): Promise<void> {
  const row = { ...preference, address: preference.address.toLowerCase() }
  await modelsIn(trx)
    .insertInto('preference')
    .values(row)
    .onConflict((conflict) => conflict.columns(['address', 'report']).doUpdateSet(row))
    .execute()
}

/**
 * The name of the file with a copy of the preferences and of the key that signs links. The file is beside the
 * database. If the database is lost or an older backup is restored, recipients stay unsubscribed because of
 * this copy, and links in old messages still work. The copy is as private as the database.
 */
const PREFERENCES_FILE = 'preferences.json'

interface Copy {
  readonly linkKey: { readonly key: string; readonly made_at: string } | null
  readonly preferences: readonly Row<'preference'>[]
}

/** Must follow each change of the preferences. PostgreSQL relies on its server's backups instead. */
export async function copyPreferences({ db, place }: Pick<Store, 'db' | 'place'>): Promise<void> {
  if (place.kind !== 'sqlite' || place.file === ':memory:') return
  const linkKey = await db.selectFrom('link_key').select(['key', 'made_at']).executeTakeFirst()
  const copy: Copy = {
    linkKey: linkKey ? { ...linkKey, key: Buffer.from(linkKey.key).toString('base64') } : null,
    preferences: await db.selectFrom('preference').selectAll().execute(),
  }
  const file = join(dirname(place.file), PREFERENCES_FILE)
  const unfinished = `${file}.${process.pid}.part`
  await writeFile(unfinished, `${JSON.stringify(copy, null, 2)}\n`, { mode: 0o600 })
  await rename(unfinished, file)
}

/** @throws LeadsheetError store_corrupt */
function parseCopy(file: string, text: string): Copy {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new LeadsheetError(
      'store_corrupt',
      `${file}: found ${errorText(cause)}, expected the copy of preferences`,
      {
        hint: 'Move it away to go on without what recipients have chosen since the backup.',
        cause,
      },
    )
  }
}

/** Takes each preference and the key where the copy is newer than the store. */
export async function takePreferences(store: Store, folder: string): Promise<void> {
  const file = join(folder, PREFERENCES_FILE)
  if (!existsSync(file)) return
  const { linkKey, preferences } = parseCopy(file, await readFile(file, 'utf8'))
  await store.write(async (trx) => {
    for (const one of preferences) {
      await trx
        .insertInto('preference')
        .values(one)
        .onConflict((conflict) =>
          conflict
            .columns(['address', 'report'])
            .doUpdateSet(one)
            .where('preference.changed_at', '<', one.changed_at),
        )
        .execute()
    }
    if (linkKey === null) return
    const { made_at } = linkKey
    const key = { id: 1, key: Buffer.from(linkKey.key, 'base64'), made_at }
    await trx
      .insertInto('link_key')
      .values(key)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(key).where('link_key.made_at', '<', made_at),
      )
      .execute()
  })
}

/**
 * The length in bytes of the key with which this installation signs the links in messages. The key is only in
 * the database, its backups and the copy of the preferences. So a link still works after a restore. Analysts
 * have access to none of these places, so they cannot make a valid link.
 */
const KEY_BYTES = 32

export async function readOrCreateLinkKey(
  store: Pick<Store, 'db' | 'write' | 'place'>,
  now: Date,
): Promise<Uint8Array> {
  const found = await store.db.selectFrom('link_key').select('key').executeTakeFirst()
  if (found) return found.key
  const key = await store.write(async (trx) => {
    // Looks for a key again, because another process may have made one at the same time. The first key
    // counts.
    const made = await trx.selectFrom('link_key').select('key').executeTakeFirst()
    return made?.key ?? insertKey(trx, now)
  })
  await copyPreferences(store)
  return key
}

/** Replaces the key that signs the links in messages. Every link that was sent before becomes invalid. */
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

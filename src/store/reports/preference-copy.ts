/**
 * A copy of what recipients have chosen, and of the key of their links, in a file beside the database. Where that is lost
 * and begun anew, or an older backup is restored, nobody who has unsubscribed gets mail again, and links in old mails
 * still work. As private as the database.
 */
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText, LeadsheetError } from '../../errors.ts'
import type { Store } from '../db/store.ts'
import type { SubscriptionTable } from '../tables/preference-tables.ts'

export const PREFERENCES_FILE = 'preferences.json'

interface Copy {
  readonly linkKey: { readonly key: string; readonly made_at: string } | null
  readonly preferences: readonly SubscriptionTable[]
}

/** To be called after each change of them. A store in PostgreSQL has the backups of its server. */
export async function copyPreferences({ db, place }: Pick<Store, 'db' | 'place'>): Promise<void> {
  if (place.kind !== 'sqlite' || place.file === ':memory:') return
  const linkKey = await db.selectFrom('link_key').select(['key', 'made_at']).executeTakeFirst()
  const copy: Copy = {
    linkKey: linkKey ? { ...linkKey, key: Buffer.from(linkKey.key).toString('base64') } : null,
    preferences: await db.selectFrom('subscription').selectAll().execute(),
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

/** Takes what is newer in the copy than in the store. */
export async function takePreferences(store: Store, folder: string): Promise<void> {
  const file = join(folder, PREFERENCES_FILE)
  if (!existsSync(file)) return
  const { linkKey, preferences } = parseCopy(file, await readFile(file, 'utf8'))
  await store.write(async (trx) => {
    for (const one of preferences) {
      await trx
        .insertInto('subscription')
        .values(one)
        .onConflict((conflict) =>
          conflict
            .columns(['address', 'report'])
            .doUpdateSet(one)
            .where('subscription.changed_at', '<', one.changed_at),
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

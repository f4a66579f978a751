/** The store: one SQLite file. Whoever opens it closes it. */
import { randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { migrate } from './migrate.ts'
import { openSqlite } from './sqlite.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Store {
  /** For reading. Writing goes through {@link Store.write}. */
  readonly db: Db
  readonly file: string
  /** Random, made with the file; see the table `installation`. */
  readonly installationId: string
  /** All or nothing; inside, use the argument only: `db` would wait for ever. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens or creates the file and brings it to the present schema.
 * @param file its folder must exist
 * @throws LeadsheetError data_unwritable, store_corrupt, store_newer, store_busy
 */
export async function openStore(file: string, now: Date): Promise<Store> {
  const db = openSqlite(file)
  try {
    await migrate(db, file)
    const write = <T>(work: (trx: Trx) => Promise<T>): Promise<T> => db.transaction().execute(work)
    const installationId = await write((trx) => readOrCreateInstallation(trx, now))
    const close = (): Promise<void> => db.destroy()
    return { db, file, installationId, write, close, [Symbol.asyncDispose]: close }
  } catch (thrown) {
    await db.destroy()
    throw thrown
  }
}

async function readOrCreateInstallation(trx: Trx, now: Date): Promise<string> {
  const found = await trx.selectFrom('installation').select('id').executeTakeFirst()
  if (found) return found.id
  const id = randomUUID()
  await trx.insertInto('installation').values({ id, created_at: now.toISOString() }).execute()
  return id
}

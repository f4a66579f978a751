/** Opens the store: an SQLite file or a PostgreSQL schema. The caller has to close it. */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { LeadsheetError } from '../errors.ts'
import { writeUnflushed } from './db/dialect.ts'
import { placeOf, type StorePlace } from './db/place.ts'
import { openPostgres } from './db/postgres.ts'
import { type Missing, openReader, openSqlite } from './db/sqlite.ts'
import type { Db, Store, Trx } from './db/store.ts'
import { migrate, refuseOlder } from './schema/migrate.ts'

/** A process that creates the file, or closes it last, locks it for a moment. */
const OPEN_WITHIN_MS = 10_000
const OPEN_PAUSE_MS = 50

/**
 * Opens or creates a store and migrates it to the present schema.
 * @param at a file in an existing folder, or the address of a PostgreSQL database; see {@link placeOf}
 * @param missing says whether a missing file is made
 * @throws LeadsheetError report_no_data for a missing file, data_unwritable, store_corrupt, store_newer, store_busy,
 * store_unreachable, store_refused
 */
export async function openStore(at: string, now: Date, missing: Missing = 'create'): Promise<Store> {
  const place = placeOf(at)
  return retryWhileBusy(() => openOnce(place, now, missing))
}

/**
 * Tries again while the store is busy.
 * @throws LeadsheetError store_busy; any other error of `open`
 */
export async function retryWhileBusy<T>(open: () => Promise<T>): Promise<T> {
  const until = performance.now() + OPEN_WITHIN_MS
  for (;;) {
    try {
      return await open()
    } catch (thrown) {
      const isBusy = thrown instanceof LeadsheetError && thrown.code === 'store_busy'
      if (!isBusy || performance.now() >= until) throw thrown
      await delay(OPEN_PAUSE_MS)
    }
  }
}

/**
 * Opens an existing store for reading alone: nothing is created, upgraded or written.
 * @throws LeadsheetError store_older, store_newer, store_corrupt, store_busy, store_unreachable,
 * store_refused
 */
export async function openStoreToRead(place: StorePlace): Promise<Store> {
  return retryWhileBusy(async () => {
    const db = place.kind === 'sqlite' ? openReader(place.file) : openPostgres(place, 'read')
    const write = (): Promise<never> => Promise.reject(new TypeError('the store was opened to read'))
    return storeOf(db, place, { write, writeSoon: write }, async () => {
      if (place.kind === 'sqlite') await refuseOlder(db, place.file)
      else await (await import('./postgres/migrate-postgres.ts')).requireReadable(db, place)
      return (await readInstallation(db)) ?? ''
    })
  })
}

async function openOnce(place: StorePlace, now: Date, missing: Missing): Promise<Store> {
  const db = await openDatabase(place, missing)
  const write: Store['write'] = (work) => db.transaction().execute(work)
  const writeSoon: Store['writeSoon'] = (work) => writeUnflushed(db, work)
  return storeOf(db, place, { write, writeSoon }, () => write((trx) => readOrCreateInstallation(trx, now)))
}

/** Closes the database if `identify`, which returns the id of the installation, fails. */
async function storeOf(
  db: Db,
  place: StorePlace,
  writing: Pick<Store, 'write' | 'writeSoon'>,
  identify: () => Promise<string>,
): Promise<Store> {
  const close = (): Promise<void> => db.destroy()
  try {
    const installationId = await identify()
    return { db, place, installationId, ...writing, close, [Symbol.asyncDispose]: close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

/** Opens a database and migrates it to the present schema. Its table `installation` may still be empty. */
export async function openDatabase(place: StorePlace, missing: Missing = 'create'): Promise<Db> {
  const db = place.kind === 'sqlite' ? openSqlite(place.file, missing) : openPostgres(place)
  try {
    if (place.kind === 'sqlite') await migrate(db, place.file)
    else await (await import('./postgres/migrate-postgres.ts')).migratePostgres(db, place)
    return db
  } catch (thrown) {
    await db.destroy()
    throw thrown
  }
}

/** Returns the id of the installation; null if there is none yet. */
async function readInstallation(db: Db | Trx): Promise<string | null> {
  const found = await db.selectFrom('installation').select('id').executeTakeFirst()
  return found?.id ?? null
}

async function readOrCreateInstallation(trx: Trx, now: Date): Promise<string> {
  const found = await readInstallation(trx)
  if (found !== null) return found
  const id = randomUUID()
  await trx.insertInto('installation').values({ id, created_at: now.toISOString() }).execute()
  return id
}

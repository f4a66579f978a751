/** Brings a database file to the present schema, a whole step at a time, and refuses one from the future. */
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { LeadsheetError } from '../errors.ts'
import * as init from './migrations/001-init.ts'
import * as scanTruth from './migrations/002-scan-truth.ts'
import type { Tables } from './tables.ts'
import { createViews, dropViews, hasCurrentViews } from './views.ts'

const MIGRATIONS: Record<string, Migration> = { '001-init': init, '002-scan-truth': scanTruth }

/** @throws LeadsheetError store_newer, store_corrupt */
export async function migrate(db: Kysely<Tables>, file: string): Promise<void> {
  const done = await readDone(db, file)
  const isCurrent = Object.keys(MIGRATIONS).every((name) => done.has(name))
  if (isCurrent && (await hasCurrentViews(db))) return
  // Without the views first: a migration could not change a table that a view still reads.
  await db.transaction().execute(dropViews)
  const migrator = new Migrator({ db, provider: { getMigrations: async () => atomic(MIGRATIONS) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  await db.transaction().execute(createViews)
}

/** Kysely does not put SQLite migrations into transactions; without one, a kill would leave half a schema. */
function atomic(migrations: Record<string, Migration>): Record<string, Migration> {
  const wrapped = Object.entries(migrations).map(([name, migration]): [string, Migration] => [
    name,
    { up: (db) => db.transaction().execute((trx) => migration.up(trx)) },
  ])
  return Object.fromEntries(wrapped)
}

/** The names of the migrations that the file has; refuses a file that is not ours or is from the future. */
async function readDone(db: Kysely<Tables>, file: string): Promise<Set<string>> {
  const { rows: tables } = await sql<{
    name: string
  }>`SELECT name FROM sqlite_schema WHERE type = 'table'`.execute(db)
  if (tables.length === 0) return new Set()
  if (!tables.some((table) => table.name === 'kysely_migration')) {
    throw new LeadsheetError('store_corrupt', `${file} is a SQLite database, but not one of leadsheet`, {
      hint: 'Choose another data_dir (LEADSHEET_DATA_DIR); nothing was changed.',
    })
  }
  const { rows: done } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(
    db,
  )
  const unknown = done.find((migration) => !(migration.name in MIGRATIONS))
  if (unknown === undefined) return new Set(done.map((migration) => migration.name))
  throw new LeadsheetError(
    'store_newer',
    `${file} was written by a newer leadsheet (its schema has ${unknown.name})`,
    {
      hint: 'Run that newer leadsheet, or restore the backup from before the upgrade; nothing was changed.',
    },
  )
}

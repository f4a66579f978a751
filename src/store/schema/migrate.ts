/**
 * Migrates a database file to the present schema, all or nothing, and refuses a newer file. Until the first
 * release, a change of the schema is made in `001-initial`. After the first release, each change also is a
 * new migration for existing files. A new file already has the columns of `LEAD_FIELDS`, so a migration adds
 * such a column only where it is missing.
 */
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { Migrator } from 'kysely/migration'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { dialectOf } from '../db/sqlite-driver.ts'
import type { Tables } from '../tables/tables.ts'
import { createViews, dropViews, hasCurrentViews } from './views.ts'

export const MIGRATIONS: Record<string, Migration> = {
  '001-initial': { up: async (db) => (await import('./001-initial.ts')).up(db) },
}

/**
 * Migrates in one transaction that takes the write lock first. If the process is killed, the file stays
 * unchanged. If two processes open the file at once, the second process finds it already migrated.
 * @throws LeadsheetError store_newer, store_corrupt
 */
export async function migrate(db: Kysely<Tables>, file: string): Promise<void> {
  if (await isCurrent(db, file)) return
  // Turns off foreign keys before the transaction, because the setting cannot change inside a transaction.
  // With foreign keys on, a table to which others refer cannot be rebuilt.
  await sql`PRAGMA foreign_keys = OFF`.execute(db)
  try {
    await db.transaction().execute(async (trx) => {
      if (await isCurrent(trx, file)) return
      const others = await dropViews(trx)
      const migrator = new Migrator({ db: trx, provider: { getMigrations: async () => MIGRATIONS } })
      const { error } = await migrator.migrateToLatest()
      if (error !== undefined) throw error
      await createViews(trx, others)
    })
  } finally {
    await sql`PRAGMA foreign_keys = ON`.execute(db)
  }
}

/**
 * For commands that only read.
 * @throws LeadsheetError store_older, store_newer, store_corrupt
 */
export async function refuseOlder(db: Kysely<Tables>, file: string): Promise<void> {
  if (await isCurrent(db, file)) return
  throw new LeadsheetError('store_older', `${file} was written by an older leadsheet`, {
    hint: `${shellCommand('run')} and ${shellCommand('sync')} upgrade it, after a backup. Nothing was changed.`,
  })
}

/**
 * Empty for a file without tables.
 * @throws LeadsheetError store_newer, store_corrupt
 */
export async function listPending(db: Kysely<Tables>, file: string): Promise<string[]> {
  const done = await readDone(db, file)
  return done.size === 0 ? [] : Object.keys(MIGRATIONS).filter((name) => !done.has(name))
}

async function isCurrent(db: Kysely<Tables>, file: string): Promise<boolean> {
  const done = await readDone(db, file)
  return Object.keys(MIGRATIONS).every((name) => done.has(name)) && (await hasCurrentViews(db))
}

async function readDone(db: Kysely<Tables>, file: string): Promise<Set<string>> {
  const tables = sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table'`
  return readMigrations(db, (await tables.execute(db)).rows, {
    name: file,
    foreign: 'is a SQLite database, but not one of leadsheet',
    foreignHint: 'Choose another data_dir (LEADSHEET_DATA_DIR); nothing was changed.',
    newerHint: `Run that newer leadsheet, or go back to before the upgrade, without all that came since: ${shellCommand('db restore FILE')} with the newest file in ${dirname(upgradeBackup(file, ''))}. Nothing was changed.`,
  })
}

/**
 * Reads the names of a database's migrations. Refuses a database of another program or of a newer version.
 * @throws LeadsheetError store_newer, store_corrupt
 */
export async function readMigrations(
  db: Kysely<Tables>,
  tables: readonly { readonly name: string }[],
  words: Readonly<Record<'name' | 'foreign' | 'foreignHint' | 'newerHint', string>>,
): Promise<Set<string>> {
  if (tables.length === 0) return new Set()
  const { name, foreign, foreignHint, newerHint } = words
  if (!tables.some((table) => table.name === 'kysely_migration'))
    throw new LeadsheetError('store_corrupt', `${name} ${foreign}`, { hint: foreignHint })
  const names = sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`
  const done = (await names.execute(db)).rows.map((migration) => migration.name)
  const unknown = done.find((migration) => !(migration in MIGRATIONS))
  if (unknown === undefined) return new Set(done)
  const what = `${name} was written by a newer leadsheet (its schema has ${unknown})`
  throw new LeadsheetError('store_newer', what, { hint: newerHint })
}

export interface SqliteObject {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly sql: string
}

/** Opens a database in memory with the present schema and no rows. */
export async function openEmptyDatabase(): Promise<Database.Database> {
  const database = new Database(':memory:')
  await migrate(new Kysely<Tables>({ dialect: dialectOf(database, () => null) }), ':memory:')
  return database
}

export function listObjects(database: Database.Database): SqliteObject[] {
  return database
    .prepare<[], SqliteObject>(
      `SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`,
    )
    .all()
}

/** Returns the path of the backup that an upgrade makes. `program` is the version of leadsheet to which the database is upgraded. */
export function upgradeBackup(database: string, program: string): string {
  return join(dirname(database), 'backups', `leadsheet-before-${program}.db`)
}

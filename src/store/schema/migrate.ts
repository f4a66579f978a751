/**
 * Migrates a database file to the present schema, all or nothing, and refuses a newer one. Until the first release a
 * change of the schema is made in `001-initial`. From then on its columns are frozen, and a change is a new migration.
 */

import Database from 'better-sqlite3'
import { Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { dialectOf } from '../db/sqlite-driver.ts'
import type { Tables } from '../tables/tables.ts'
import * as initial from './001-initial.ts'
import { findUpgradeBackup } from './upgrade-backups.ts'
import { createViews, dropViews, hasCurrentViews } from './views.ts'

export const MIGRATIONS: Record<string, Migration> = {
  '001-initial': initial,
}

/**
 * Migrates in one transaction that takes the write lock first. A kill leaves the file unchanged, and of two
 * processes that open it at once, the second finds the work of the first.
 * @throws LeadsheetError store_newer, store_corrupt
 */
export async function migrate(db: Kysely<Tables>, file: string): Promise<void> {
  if (await isCurrent(db, file)) return
  // The setting cannot change inside a transaction. With foreign keys on, a table that others refer to cannot
  // be rebuilt.
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
 * Lists the migrations that a file of an older version lacks; none for a file without tables.
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

/**
 * Reads the names of the migrations that the file has. Refuses a file of another program or of a newer
 * version.
 */
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
  const backup = findUpgradeBackup(file, (name) => name in MIGRATIONS)
  throw new LeadsheetError(
    'store_newer',
    `${file} was written by a newer leadsheet (its schema has ${unknown.name})`,
    {
      hint:
        backup === null
          ? 'Run that newer leadsheet, or restore a backup from before the upgrade; nothing was changed.'
          : `Run that newer leadsheet, or go back to before the upgrade, without all that came since: ${shellCommand(`db restore ${backup}`)}. Nothing was changed.`,
    },
  )
}

/** A row of `sqlite_schema`. */
export interface SqliteObject {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly sql: string
}

/**
 * Opens an empty database in memory with the present schema. Its comments on tables, views and columns hold
 * for PostgreSQL too.
 */
export async function openEmptyDatabase(): Promise<Database.Database> {
  const database = new Database(':memory:')
  await migrate(new Kysely<Tables>({ dialect: dialectOf(database, () => null) }), ':memory:')
  return database
}

/** Lists the objects of the schema in the order of their creation. */
export function listObjects(database: Database.Database): SqliteObject[] {
  return database
    .prepare<[], SqliteObject>(
      `SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`,
    )
    .all()
}

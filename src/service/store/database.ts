/**
 * Opens the service's SQLite file and brings its schema up to date. The file is separate from leadsheet's own
 * store.
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import SQLite from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import { errorText, LeadsheetError } from '../../errors.ts'
import { MIGRATIONS } from './migrations.ts'
import type { ServiceTables } from './tables.ts'

export type ServiceDatabase = Kysely<ServiceTables>

/**
 * The permissions of the file. Only its owner may read it, because it holds the secrets of webhooks. SQLite
 * gives the files beside it the same permissions.
 */
const MODE = 0o600

/**
 * Opens the database.
 * @param file created with its folder if it does not exist
 * @throws LeadsheetError data_unwritable, store_corrupt, store_newer
 */
export async function openServiceDatabase(file: string): Promise<ServiceDatabase> {
  const db = new Kysely<ServiceTables>({ dialect: new SqliteDialect({ database: openFile(file) }) })
  try {
    await migrate(db, file)
    return db
  } catch (error) {
    await db.destroy()
    throw error
  }
}

function openFile(file: string): SQLite.Database {
  let sqlite: SQLite.Database | undefined
  try {
    mkdirSync(dirname(file), { recursive: true })
    if (!existsSync(file)) closeSync(openSync(file, 'a', MODE))
    sqlite = new SQLite(file, { timeout: 5000 })
    sqlite.pragma('journal_mode = WAL')
    sqlite.pragma('synchronous = NORMAL')
    sqlite.pragma('foreign_keys = ON')
    return sqlite
  } catch (error) {
    sqlite?.close()
    throw openError(file, error)
  }
}

function openError(file: string, cause: unknown): LeadsheetError {
  if (cause instanceof SQLite.SqliteError && cause.code === 'SQLITE_NOTADB') {
    return new LeadsheetError('store_corrupt', `The service's database ${file} is not an SQLite file.`, {
      hint: 'Name another file, or move this one away to start afresh.',
      cause,
    })
  }
  return new LeadsheetError(
    'data_unwritable',
    `The service's database ${file} cannot be opened: ${errorText(cause)}.`,
    { hint: 'Check that the folder exists and may be written.', cause },
  )
}

async function migrate(db: ServiceDatabase, file: string): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
  const unknown = await unknownMigrations(db)
  if (unknown.length > 0) {
    throw new LeadsheetError(
      'store_newer',
      `The service's database ${file} was written by a newer leadsheet (it has ${unknown.join(', ')}).`,
      { hint: 'Use the newer version, or name another file.' },
    )
  }
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

async function unknownMigrations(db: ServiceDatabase): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some((table) => table.name === 'kysely_migration')) return []
  const done = await db
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom('kysely_migration')
    .select('name')
    .execute()
  return done.map((row) => row.name).filter((name) => !(name in MIGRATIONS))
}

/** Converts an instant from the database (whole milliseconds) to the wire (RFC 3339 in UTC). */

export function instantOf(at: number): string {
  return new Date(at).toISOString()
}

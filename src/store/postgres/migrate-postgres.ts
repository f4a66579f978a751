/** Migrates a PostgreSQL schema, all or nothing. Refuses a schema of a newer version. */
import { createHash } from 'node:crypto'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { PostgresPlace } from '../db/postgres.ts'
import { CRASH_MARKER } from '../db/postgres.ts'
import { POOLER_HINT } from '../db/postgres-failure.ts'
import { quoted } from '../schema/describe.ts'
import {
  listObjects,
  MIGRATIONS,
  openEmptyDatabase,
  readMigrations,
  type SqliteObject,
} from '../schema/migrate.ts'
import { VIEWS } from '../schema/views.ts'
import type { Tables } from '../tables/tables.ts'
import { FUNCTIONS } from './functions.ts'
import { textOf, translateSchema } from './schema-from-sqlite.ts'

const UNIQUE_VIOLATION = '23505'
const INVALID_TABLE_DEFINITION = '42P16'
const DEPENDENT_OBJECTS = '2BP01'

/**
 * Migrates the schema. Several processes may start at once: the first one migrates, and the others find the
 * schema already migrated.
 * @throws LeadsheetError store_newer, store_refused, store_unreachable, store_corrupt
 */
export async function migratePostgres(db: Kysely<Tables>, place: PostgresPlace): Promise<void> {
  await requireOwnPath(db, place)
  const mark = markOf(db)
  if ((await readMark(db)) === mark) return
  await requireUtf8(db, place)
  await ensureSchema(db, place)
  await db.transaction().execute(async (trx) => {
    const done = await readDone(trx, place)
    if (done.size === 0) await createAll(trx, place)
    else if ((await readMark(trx)) !== mark) await createDefinitions(trx, place)
    await run(trx, `COMMENT ON TABLE kysely_migration IS ${textOf(mark)}`)
  })
}

/**
 * Checks that an existing schema can be read: that it is ours, and of no other migrations. Changes nothing.
 * @throws LeadsheetError store_newer, store_refused, store_corrupt
 */
export async function requireReadable(db: Kysely<Tables>, place: PostgresPlace): Promise<void> {
  await requireOwnPath(db, place)
  if ((await readMark(db)) !== markOf(db)) await readDone(db, place)
}

/** A pooler may lose this setting, and tables would go into a schema that installations share. */
async function requireOwnPath(db: Kysely<Tables>, { name, schema }: PostgresPlace): Promise<void> {
  const { rows } = await sql<{ path: string }>`SELECT current_setting('search_path') AS path`.execute(db)
  const path = rows[0]?.path ?? ''
  if (path === schema) return
  throw new LeadsheetError(
    'store_refused',
    `${name} loses the settings of a session on the way: its search_path is ${path}, not ${schema}`,
    { hint: POOLER_HINT },
  )
}

/** Another encoding cannot hold every text. */
async function requireUtf8(db: Kysely<Tables>, { name }: PostgresPlace): Promise<void> {
  const { rows } = await sql<{
    encoding: string
  }>`SELECT current_setting('server_encoding') AS encoding`.execute(db)
  const encoding = rows[0]?.encoding
  if (encoding === 'UTF8') return
  throw new LeadsheetError('store_refused', `${name} is in ${encoding}, and not in UTF8`, {
    hint: "Make a database WITH ENCODING 'UTF8' TEMPLATE template0, and name that in the address of the store.",
  })
}

/** Looks for the schema first, because its user need not have the right to create one. */
async function ensureSchema(db: Kysely<Tables>, { schema }: PostgresPlace): Promise<void> {
  const { rows } = await sql`SELECT 1 AS one FROM pg_namespace WHERE nspname = ${schema}`.execute(db)
  if (rows.length > 0) return
  try {
    await run(db, `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)
  } catch (thrown) {
    // Ignores the error that another process has created the schema at the same moment.
    if (codeOf(thrown) !== UNIQUE_VIOLATION) throw thrown
  }
}

async function createAll(trx: Kysely<Tables>, place: PostgresPlace): Promise<void> {
  for (const statement of [...FUNCTIONS, ...translateSchema(await listTables())]) await run(trx, statement)
  await run(trx, 'CREATE TABLE kysely_migration (name text PRIMARY KEY, timestamp text NOT NULL)')
  for (const name of Object.keys(MIGRATIONS))
    await sql`INSERT INTO kysely_migration VALUES (${name}, ${new Date().toISOString()})`.execute(trx)
  await createDefinitions(trx, place)
}

/** Creates the functions and views. They are created again when their text changes. */
async function createDefinitions(trx: Kysely<Tables>, place: PostgresPlace): Promise<void> {
  for (const statement of [...FUNCTIONS, ...CRASH_MARKER]) await run(trx, statement)
  await replaceViews(trx, place)
}

/** Keeps analysts' views of ours, unless our views lose columns or change their order. */
async function replaceViews(trx: Kysely<Tables>, { name }: PostgresPlace): Promise<void> {
  const texts = Object.values(VIEWS).map((view) => view.compile(trx).sql)
  await run(trx, 'SAVEPOINT views')
  try {
    for (const text of texts) await run(trx, text.replace(/^CREATE VIEW/, 'CREATE OR REPLACE VIEW'))
    return
  } catch (thrown) {
    if (codeOf(thrown) !== INVALID_TABLE_DEFINITION) throw thrown
  }
  await run(trx, 'ROLLBACK TO views')
  try {
    await run(trx, `DROP VIEW IF EXISTS ${Object.keys(VIEWS).map(quoted).join(', ')}`)
  } catch (cause) {
    if (codeOf(cause) !== DEPENDENT_OBJECTS) throw cause
    const others = cause instanceof Error && 'detail' in cause ? String(cause.detail) : ''
    throw new LeadsheetError(
      'store_refused',
      `${name} has views of others that stand in the way of new ones: ${others.replaceAll('\n', ', ')}`,
      { hint: 'Keep their text, drop them, start leadsheet and make them anew; nothing was changed.', cause },
    )
  }
  for (const text of texts) await run(trx, text)
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
}

async function run(db: Kysely<Tables>, statement: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement))
}

async function listTables(): Promise<SqliteObject[]> {
  const database = await openEmptyDatabase()
  try {
    return listObjects(database)
  } finally {
    database.close()
  }
}

/** Returns a hash of the migrations and of all definitions that are created again when they change. */
function markOf(db: Kysely<Tables>): string {
  const views = Object.values(VIEWS).map((view) => view.compile(db).sql)
  const parts = [...Object.keys(MIGRATIONS), ...FUNCTIONS, ...CRASH_MARKER, ...views]
  return `leadsheet ${createHash('sha256').update(parts.join('\n')).digest('hex')}`
}

/** Null for a schema without a hash. */
async function readMark(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ mark: string | null }>`
    SELECT obj_description(to_regclass('kysely_migration'), 'pg_class') AS mark`.execute(db)
  return rows[0]?.mark ?? null
}

async function readDone(db: Kysely<Tables>, { name }: PostgresPlace): Promise<Set<string>> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p')`.execute(
    db,
  )
  const names = await readMigrations(db, tables, {
    name,
    foreign: 'is a schema with tables, but not of leadsheet',
    foreignHint: 'Choose another schema (?schema=NAME in the address of the store); nothing was changed.',
    newerHint: 'Run that newer leadsheet; nothing was changed.',
  })
  const missing = Object.keys(MIGRATIONS).find((migration) => names.size > 0 && !names.has(migration))
  if (missing === undefined) return names
  const what = `${name} was made by an older leadsheet (its schema lacks ${missing})`
  throw new LeadsheetError('store_corrupt', what, {
    hint: `Have that version copy it into a file (${shellCommand('db copy')}), which this one brings up to date; nothing was changed.`,
  })
}

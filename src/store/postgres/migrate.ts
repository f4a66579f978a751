/** Brings a schema to the present one, all or nothing, and refuses one from the future. */
import { createHash } from 'node:crypto'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import { listObjects, openEmptyDatabase } from '../empty-database.ts'
import { MIGRATIONS } from '../migrate.ts'
import type { PostgresPlace } from '../postgres.ts'
import { describeSchema } from '../snapshot/describe.ts'
import type { Tables } from '../tables.ts'
import { VIEWS } from '../views.ts'
import { FUNCTIONS } from './functions.ts'
import { commentsSql, quoted, tablesInOrder, textOf, translateSchema } from './schema.ts'
import { SEARCH } from './search.ts'
import { TRIGGERS } from './triggers.ts'

/**
 * Several processes may begin at once: the first makes what the others find.
 * @throws LeadsheetError store_newer, store_refused, store_unreachable, store_corrupt
 */
export async function migratePostgres(db: Kysely<Tables>, place: PostgresPlace): Promise<void> {
  const mark = markOf(db)
  if ((await readMark(db)) === mark) return
  await run(db, `CREATE SCHEMA IF NOT EXISTS ${quoted(place.schema)}`)
  await db.transaction().execute(async (trx) => {
    const done = await readDone(trx, place)
    if (done.size === 0) await createAll(trx)
    else if ((await readMark(trx)) !== mark) await createDefinitions(trx)
    await run(trx, `COMMENT ON TABLE kysely_migration IS ${textOf(mark)}`)
  })
}

async function createAll(trx: Kysely<Tables>): Promise<void> {
  const model = await readModel()
  for (const statement of [...FUNCTIONS, ...translateSchema(model.objects), ...SEARCH])
    await run(trx, statement)
  await run(trx, 'CREATE TABLE kysely_migration (name text PRIMARY KEY, timestamp text NOT NULL)')
  for (const name of Object.keys(MIGRATIONS))
    await sql`INSERT INTO kysely_migration VALUES (${name}, ${new Date().toISOString()})`.execute(trx)
  await createDefinitions(trx)
}

/** What holds no data and is made anew whenever its text changes. */
async function createDefinitions(trx: Kysely<Tables>): Promise<void> {
  for (const statement of [...FUNCTIONS, ...TRIGGERS]) await run(trx, statement)
  for (const name of Object.keys(VIEWS).reverse()) await run(trx, `DROP VIEW IF EXISTS ${quoted(name)}`)
  for (const view of Object.values(VIEWS)) await run(trx, view.compile(trx).sql)
  for (const relation of (await readModel()).relations)
    for (const statement of commentsSql(relation)) await run(trx, statement)
}

async function run(db: Kysely<Tables>, statement: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement))
}

/** What the migrations make of an empty file: its schema, and what the tables and views that both have mean. */
async function readModel() {
  const database = await openEmptyDatabase()
  try {
    const objects = listObjects(database)
    const known = new Set([...tablesInOrder(objects).map(({ name }) => name), ...Object.keys(VIEWS)])
    return { objects, relations: describeSchema(database).filter(({ name }) => known.has(name)) }
  } finally {
    database.close()
  }
}

/** Of all that is made anew when it changes, and of the migrations. */
function markOf(db: Kysely<Tables>): string {
  const views = Object.values(VIEWS).map((view) => view.compile(db).sql)
  const parts = [...Object.keys(MIGRATIONS), ...FUNCTIONS, ...TRIGGERS, ...views]
  return `leadsheet ${createHash('sha256').update(parts.join('\n')).digest('hex')}`
}

/** Null where nothing is there yet. */
async function readMark(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ mark: string | null }>`
    SELECT obj_description(to_regclass('kysely_migration'), 'pg_class') AS mark`.execute(db)
  return rows[0]?.mark ?? null
}

/** The names of the migrations that it has. */
async function readDone(db: Kysely<Tables>, { name }: PostgresPlace): Promise<Set<string>> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p')`.execute(
    db,
  )
  if (tables.length === 0) return new Set()
  if (!tables.some((table) => table.name === 'kysely_migration')) {
    throw new LeadsheetError('store_corrupt', `${name} is a schema with tables, but not of leadsheet`, {
      hint: 'Choose another schema (?schema=NAME in the address of the store); nothing was changed.',
    })
  }
  const { rows: done } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(
    db,
  )
  const unknown = done.find((migration) => !(migration.name in MIGRATIONS))
  if (unknown === undefined) return new Set(done.map((migration) => migration.name))
  throw new LeadsheetError(
    'store_newer',
    `${name} was written by a newer leadsheet (its schema has ${unknown.name})`,
    { hint: 'Run that newer leadsheet; nothing was changed.' },
  )
}

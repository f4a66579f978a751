/** The schema in PostgreSQL is translated from that of SQLite, and has everything in it. */
import type Database from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { tablesInOrder } from '../../../src/store/postgres/schema-from-sqlite.ts'
import { listObjects, openEmptyDatabase } from '../../../src/store/schema/migrate.ts'
import { VIEWS } from '../../../src/store/schema/views.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { migratedDatabase, OPENED_AT } from '../../support/store.ts'

const TYPES: Readonly<Record<string, string>> = {
  TEXT: 'text',
  INTEGER: 'bigint',
  REAL: 'double precision',
  ANY: 'double precision',
  BLOB: 'bytea',
}

/** The tables whose number is a column only in PostgreSQL, because SQLite numbers rows by itself. */
const NUMBERED = ['sync_run']

interface TableFacts {
  /** The columns with their type, whether they may be null, and whether they are computed. */
  readonly columns: readonly string[]
  readonly unique: readonly string[]
  readonly references: readonly string[]
  readonly checks: number
  readonly indexes: readonly string[]
}

function factsInSqlite(database: Database.Database, table: string): TableFacts {
  const ask = <Row>(pragma: string): Row[] => database.prepare<[], Row>(pragma).all()
  const columns = ask<{ name: string; type: string; notnull: number; pk: number; hidden: number }>(
    `PRAGMA table_xinfo(${table})`,
  )
  const indexes = ask<{ name: string; unique: number; origin: string; partial: number }>(
    `PRAGMA index_list(${table})`,
  )
  const columnsOf = (index: string): string =>
    ask<{ name: string | null }>(`PRAGMA index_info(${index})`)
      .map(({ name }) => name ?? '(…)')
      .join()
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  const unique = indexes.filter((index) => index.unique === 1).map(({ name }) => columnsOf(name))
  const references = ask<{ id: number; from: string; table: string; on_delete: string }>(
    `PRAGMA foreign_key_list(${table})`,
  )
  const text = listObjects(database).find((object) => object.name === table)?.sql ?? ''
  return {
    columns: columns.map(
      ({ name, type, notnull, pk, hidden }) =>
        `${name} ${TYPES[type]}${notnull === 1 || pk > 0 ? ' not null' : ''}${hidden > 1 ? ' computed' : ''}`,
    ),
    unique: [...new Set([...unique, ...(key.length > 0 ? [key.map(({ name }) => name).join()] : [])])].sort(),
    references: [...Map.groupBy(references, ({ id }) => id).values()]
      .map((parts) => `${parts.map(({ from }) => from).join()} ${parts[0]?.table} ${parts[0]?.on_delete}`)
      .sort(),
    checks: [...text.replace(/--[^\n]*/g, '').matchAll(/\bCHECK\b/g)].length,
    indexes: indexes
      .filter(({ origin }) => origin === 'c')
      .map(({ name, partial }) => `${name} (${columnsOf(name)})${partial === 1 ? ' partial' : ''}`)
      .sort(),
  }
}

async function factsInPostgres({ db }: Store, table: string): Promise<TableFacts> {
  const isExtra = (name: string): boolean => name === 'rowid' && NUMBERED.includes(table)
  const { rows: columns } = await sql<{ name: string; type: string; nullable: string; computed: string }>`
    SELECT column_name AS name, data_type AS type, is_nullable AS nullable, is_generated AS computed
    FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ${table}
    ORDER BY ordinal_position`.execute(db)
  const { rows: indexes } = await sql<{
    name: string
    columns: string
    is_unique: number
    is_own: number
    partial: number
  }>`
    SELECT relname AS name, indisunique AS is_unique, indpred IS NOT NULL AS partial,
      NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u')) AS is_own,
      (SELECT string_agg(coalesce(attname, '(…)'), ',' ORDER BY place)
        FROM unnest(CAST(indkey AS smallint[])) WITH ORDINALITY AS part (number, place)
        LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = number) AS columns
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = to_regclass(${table})`.execute(
    db,
  )
  const { rows: constraints } = await sql<{
    type: string
    text: string
    other: string
    deletes: string
    columns: string
  }>`
    SELECT contype AS type, confdeltype AS deletes,
      (SELECT relname FROM pg_class WHERE oid = confrelid) AS other,
      (SELECT string_agg(attname, ',' ORDER BY array_position(conkey, attnum))
        FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey)) AS columns
    FROM pg_constraint WHERE conrelid = to_regclass(${table})`.execute(db)
  const deletes: Readonly<Record<string, string>> = {
    a: 'NO ACTION',
    c: 'CASCADE',
    n: 'SET NULL',
    r: 'RESTRICT',
  }
  return {
    columns: columns
      .filter(({ name }) => !isExtra(name))
      .map(
        ({ name, type, nullable, computed }) =>
          `${name} ${type}${nullable === 'NO' ? ' not null' : ''}${computed === 'ALWAYS' ? ' computed' : ''}`,
      ),
    unique: [
      ...new Set(
        indexes
          .filter((index) => index.is_unique === 1 && !isExtra(index.columns))
          .map((index) => index.columns),
      ),
    ].sort(),
    references: constraints
      .filter(({ type }) => type === 'f')
      .map((each) => `${each.columns} ${each.other} ${deletes[each.deletes]}`)
      .sort(),
    checks: constraints.filter(({ type }) => type === 'c').length,
    indexes: indexes
      .filter(({ is_own }) => is_own === 1)
      .map(({ name, columns: of, partial }) => `${name} (${of})${partial === 1 ? ' partial' : ''}`)
      .sort(),
  }
}

describe.skipIf(!hasPostgres)('the schema in PostgreSQL', () => {
  it('has the tables of that in SQLite, with their columns, keys, references, checks and indexes', async () => {
    await using store = await openStore(await newDatabase({ template: await migratedDatabase() }), OPENED_AT)
    const database = await openEmptyDatabase()
    const tables = tablesInOrder(listObjects(database)).map(({ name }) => name)
    expect(tables.length).toBeGreaterThan(40)
    for (const table of tables)
      expect(await factsInPostgres(store, table), table).toEqual(factsInSqlite(database, table))
    database.close()
  })

  it('has its views, with their columns in order', async () => {
    await using store = await openStore(await newDatabase({ template: await migratedDatabase() }), OPENED_AT)
    const database = await openEmptyDatabase()
    const { rows } = await sql<{ view: string; column: string }>`
      SELECT table_name AS view, column_name AS column FROM information_schema.columns
      WHERE table_schema = current_schema() ORDER BY ordinal_position`.execute(store.db)
    for (const view of Object.keys(VIEWS)) {
      const expected = database.prepare<[], { name: string }>(`PRAGMA table_info(${view})`).all()
      expect(
        rows.filter((row) => row.view === view).map((row) => row.column),
        view,
      ).toEqual(expected.map(({ name }) => name))
    }
    database.close()
  })

  it('sorts texts by their bytes, whatever the order of the database is', async () => {
    await using store = await openStore(await newDatabase({ template: await migratedDatabase() }), OPENED_AT)
    const { rows } = await sql<{ column: string }>`
      SELECT table_name || '.' || column_name AS column
      FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND data_type = 'text'
        AND collation_name IS DISTINCT FROM 'C'
        AND table_name <> 'kysely_migration'`.execute(store.db)
    expect(rows.map((row) => row.column)).toEqual([])
  })
})

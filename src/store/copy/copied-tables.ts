/**
 * The tables that are copied when a store is copied to another database. Tables about one database or its
 * processes are left out. Each table comes after the tables that it refers to.
 */

import type Database from 'better-sqlite3'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'
import { NUMBERED, tablesInOrder } from '../postgres/schema-from-sqlite.ts'
import { listObjects, openEmptyDatabase } from '../schema/migrate.ts'
import type { Tables } from '../tables/tables.ts'

export interface CopiedTable {
  readonly name: keyof Tables & string
  /** Generated columns are left out, and `rowid` is added where the order of arrival matters. */
  readonly columns: readonly CopiedColumn[]
  /** The columns by which rows are sorted, so that both databases give them in the same order. */
  readonly key: readonly string[]
}

interface CopiedColumn {
  readonly name: string
  readonly isNumber: boolean
}

/** Tables about the database or its present processes, which are not copied. */
const LEFT_BEHIND: readonly string[] = ['installation', 'lease', 'sync_dropped_index']

export async function listCopiedTables(): Promise<CopiedTable[]> {
  const database = await openEmptyDatabase()
  try {
    return tablesInOrder(listObjects(database))
      .filter(({ name }) => !LEFT_BEHIND.includes(name))
      .map(({ name }) => describeTable(database, name))
  } finally {
    database.close()
  }
}

function describeTable(database: Database.Database, table: string): CopiedTable {
  const all = database
    .prepare<[string], { name: string; type: string; pk: number; hidden: number }>(
      'SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)',
    )
    .all(table)
  const columns = all
    .filter(({ hidden }) => hidden === 0)
    .map(({ name, type }) => ({ name, isNumber: type !== 'TEXT' && type !== 'BLOB' }))
  const key = all
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name)
  const isNumbered = NUMBERED.has(table)
  return {
    // The cast is correct, because every table of the schema is in `Tables`.
    name: table as keyof Tables & string,
    columns: isNumbered ? [{ name: 'rowid', isNumber: true }, ...columns] : columns,
    key: isNumbered ? ['rowid'] : key,
  }
}

/** Tables are read in parts, in the order of the key, so that none is in memory as a whole. */
export type CopiedRow = Readonly<Record<string, unknown>>

type Key = readonly unknown[]

/** The wanted length of a part of a table as JSON, in characters. */
const CHUNK_CHARACTERS = 1_000_000
const FIRST_ROWS = 100
const ROWS_MAX = 5000

/** Reads a table in parts of at least one row. Each row comes with its text from {@link cellsOf}. */
export async function* readChunks(
  db: Db,
  table: CopiedTable,
): AsyncGenerator<{ readonly rows: readonly CopiedRow[]; readonly cells: readonly string[] }> {
  let last: Key | null = null
  let limit = FIRST_ROWS
  for (;;) {
    const rows = await readRows(db, table, last, limit)
    const end = rows.at(-1)
    if (end === undefined) return
    const cells = rows.map((row) => cellsOf(table, row))
    yield { rows, cells }
    if (rows.length < limit) return
    last = table.key.map((column) => end[column])
    const characters = cells.reduce((sum, text) => sum + text.length, 0)
    limit = Math.min(ROWS_MAX, Math.max(1, Math.round((CHUNK_CHARACTERS * rows.length) / characters)))
  }
}

export async function countRows(db: Db, table: CopiedTable): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table.name)}`.execute(db)
  return rows[0]?.n ?? 0
}

/** Gives the same text for SQLite and PostgreSQL, which returns some numbers as text. */
function cellsOf({ columns }: CopiedTable, row: CopiedRow): string {
  return JSON.stringify(
    columns.map(({ name, isNumber }) => {
      const value = row[name]
      if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') }
      return isNumber && typeof value === 'string' ? Number(value) : value
    }),
  )
}

async function readRows(db: Db, table: CopiedTable, after: Key | null, limit: number): Promise<CopiedRow[]> {
  const columns = sql.join(table.columns.map(({ name }) => sql.ref(name)))
  const where = after === null ? sql`` : sql`WHERE (${keyColumns(table)}) > (${sql.join(after)})`
  const { rows } = await sql<CopiedRow>`
    SELECT ${columns} FROM ${sql.table(table.name)} ${where} ORDER BY ${keyColumns(table)} LIMIT ${limit}`.execute(
    db,
  )
  return rows
}

function keyColumns({ key }: CopiedTable): RawBuilder<unknown> {
  return sql.join(key.map((column) => sql.ref(column)))
}

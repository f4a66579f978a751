/**
 * The tables of a store as they are copied to another, whichever database either is: those that hold what cannot be
 * made anew, each after those that it refers to.
 */

import { createHash } from 'node:crypto'
import type Database from 'better-sqlite3'
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'
import { NUMBERED, tablesInOrder } from '../postgres/schema-from-sqlite.ts'
import { listObjects, openEmptyDatabase } from '../schema/migrate.ts'
import type { Tables } from '../tables/tables.ts'

export interface CopiedTable {
  readonly name: keyof Tables & string
  /** In their order; computed ones compute themselves. With `rowid` where the order of arrival is asked for. */
  readonly columns: readonly CopiedColumn[]
  /** By these its rows stand in the same order in both databases. */
  readonly key: readonly string[]
  /** Its rows follow from those of others, or are counted as these are written. */
  readonly isCounted: boolean
}

export interface CopiedColumn {
  readonly name: string
  readonly isNumber: boolean
}

/** What is about the database or its processes of this minute, and not about what it holds. */
const LEFT_BEHIND: readonly string[] = ['installation', 'lease', 'sync_dropped_index', 'send_rate']
/** Kept by triggers, also of rows that are gone since, so that they are copied last and whole. */
const COUNTED: readonly string[] = ['lead_count', 'event_count']

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
    // The schema has no tables but those.
    name: table as keyof Tables & string,
    columns: isNumbered ? [{ name: 'rowid', isNumber: true }, ...columns] : columns,
    key: isNumbered ? ['rowid'] : key,
    isCounted: COUNTED.includes(table),
  }
}

/* The rows of a table in the order of its key, some at once, so that memory holds no table. */

export type CopiedRow = Readonly<Record<string, unknown>>

/** The values of the key of a row, in its order. */
type Key = readonly unknown[]

/** About so much of JSON text at once, however wide the rows are. */
const CHUNK_CHARACTERS = 1_000_000
const FIRST_ROWS = 100
const ROWS_MAX = 5000

/** Rows with the cells of each as {@link cellsOf} has them; each time at least one. */
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

/**
 * A row as one text, the same from either database: a number of any type as PostgreSQL can hold it, which is as exact
 * as JavaScript's own.
 */
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

/* What the rows of a table come to, by which it is known that a copy is one: the same in either database. */

export interface TableDigest {
  readonly rows: number
  /** Of all columns that are not computed, row by row in the order of the key; hex. */
  readonly sha256: string
}

/** @param onRows hears how many rows of it were read so far, and may break it off */
export async function readDigest(
  db: Db,
  table: CopiedTable,
  onRows: (rows: number) => void = () => {},
): Promise<TableDigest> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const { cells } of readChunks(db, table)) {
    for (const text of cells) hash.update(text).update('\n')
    rows += cells.length
    onRows(rows)
  }
  return { rows, sha256: hash.digest('hex') }
}

export function isSame(a: TableDigest, b: TableDigest): boolean {
  return a.rows === b.rows && a.sha256 === b.sha256
}

/* How far a move is: the rows of all tables, told as one. */

export interface MoveStep {
  readonly step: 'copy' | 'compare'
  /** Rows of all tables; those that are compared are read in both. */
  readonly done: number
  readonly total: number
  readonly table: string
}

/** Who hears of it, and can break it off. */
export interface Heard {
  readonly signal: AbortSignal
  readonly onProgress: (step: MoveStep) => void
}

export interface Progress {
  /**
   * @param rows of this table so far
   * @throws the reason of the signal
   */
  tell(table: CopiedTable, rows: number): void
  /** @param rows that were all of a table */
  end(rows: number): void
}

export async function countSteps(
  step: MoveStep['step'],
  db: Db,
  tables: readonly CopiedTable[],
  { signal, onProgress }: Heard,
): Promise<Progress> {
  let total = 0
  for (const table of tables) total += await countRows(db, table)
  if (step === 'compare') total *= 2
  let ended = 0
  return {
    tell(table, rows) {
      signal.throwIfAborted()
      onProgress({ step, done: ended + rows, total, table: table.name })
    },
    end(rows) {
      ended += rows
    },
  }
}

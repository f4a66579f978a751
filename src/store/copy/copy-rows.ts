/** The rows of a table in the order of its key, some at once, so that memory holds no table. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/store.ts'
import type { CopiedTable } from './copied-tables.ts'

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

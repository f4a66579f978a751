/**
 * Reads a snapshot row by row. Statements may stay open, because a snapshot is replaced and never written to.
 */
import Database from 'better-sqlite3'
import { quoted } from '../schema/describe.ts'

/** A value of a snapshot. Whole numbers are bigint, so that they keep every digit. */
export type Cell = string | number | bigint | null
export type Row = readonly Cell[]
export type CellType = 'text' | 'integer' | 'real' | 'instant'

export interface SnapshotTable {
  readonly name: string
  /** The number of rows; null for a view, because counting its rows would take long. */
  readonly rows: number | null
  readonly columns: readonly { readonly name: string; readonly isInstant: boolean }[]
  /** Types that fit all values. Reads the whole table if the schema leaves a type open. */
  readTypes(): CellType[]
  readRows(chunkSize: number): Generator<Row[], void, void>
}

export interface SnapshotReader extends Disposable {
  /** The names of the tables and views, in the order of the dictionary. */
  readonly names: readonly string[]
  /** Undefined where the snapshot has none with that name. */
  findTable(name: string): SnapshotTable | undefined
}

export function openSnapshot(file: string): SnapshotReader {
  const database = new Database(file, { readonly: true, fileMustExist: true })
  const tables = database
    .prepare<[], TableRow>(`SELECT table_name, rows FROM dictionary_table WHERE kind IN ('table', 'view')`)
    .all()
  return {
    names: tables.map((table) => table.table_name),
    findTable(name) {
      const found = tables.find((table) => table.table_name === name)
      return found && openTable(database, found)
    },
    [Symbol.dispose]: () => void database.close(),
  }
}

interface TableRow {
  readonly table_name: string
  readonly rows: number | null
}

interface ColumnRow {
  readonly column_name: string
  readonly type: string | null
  readonly unit: string | null
}

function openTable(database: Database.Database, table: TableRow): SnapshotTable {
  const { table_name: name, rows } = table
  const columns = database
    .prepare<[string], ColumnRow>(
      'SELECT column_name, type, unit FROM dictionary WHERE table_name = ? ORDER BY position',
    )
    .all(name)
  const list = columns.map((column) => quoted(column.column_name)).join(', ')
  return {
    name,
    rows,
    columns: columns.map((column) => ({ name: column.column_name, isInstant: column.unit === 'UTC' })),
    readTypes: () => readTypes(database, table, columns),
    *readRows(chunkSize) {
      const select = database
        .prepare<[], (Cell | Buffer)[]>(`SELECT ${list} FROM ${quoted(name)}`)
        .raw()
        .safeIntegers()
      let chunk: Row[] = []
      for (const row of select.iterate()) {
        chunk.push(row.map((cell) => (Buffer.isBuffer(cell) ? cell.toString('hex') : cell)))
        if (chunk.length < chunkSize) continue
        yield chunk
        chunk = []
      }
      if (chunk.length > 0) yield chunk
    },
  }
}

const INSTANT = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z'
const DECLARED: Readonly<Record<string, CellType>> = { TEXT: 'text', INTEGER: 'integer', REAL: 'real' }

/** The types that occur: 1 for yes, 0 for no, null without values. `instants` holds if all values are. */
interface Seen {
  readonly text: bigint | null
  readonly real: bigint | null
  readonly integer: bigint | null
  readonly instants: bigint | null
}

function readTypes(
  database: Database.Database,
  { table_name: table, rows }: TableRow,
  columns: readonly ColumnRow[],
): CellType[] {
  const open = columns.filter(({ type, unit }) => unit === 'UTC' || DECLARED[type ?? ''] === undefined)
  const names = open.map((column) => quoted(column.column_name))
  const questions = names.flatMap((name) => [
    `max(typeof(${name}) IN ('text', 'blob'))`,
    `max(typeof(${name}) = 'real')`,
    `max(typeof(${name}) = 'integer')`,
    `min(${name} GLOB '${INSTANT}')`,
  ])
  // Computes a view before the aggregate, because some functions of views fail within an aggregate.
  const values = rows === null ? `(SELECT ${names.join(', ')} FROM ${quoted(table)} LIMIT -1)` : quoted(table)
  const answers =
    questions.length === 0
      ? []
      : database
          .prepare<[], (bigint | null)[]>(`SELECT ${questions.join(', ')} FROM ${values}`)
          .raw()
          .safeIntegers()
          .get()
  return columns.map((column) => {
    const index = open.indexOf(column)
    if (index < 0) return DECLARED[column.type ?? ''] ?? 'text'
    const [text = null, real = null, integer = null, instants = null] = (answers ?? []).slice(index * 4)
    return typeOf(column, { text, real, integer, instants })
  })
}

/** Without values, gives the type that they would have, so that it is the same in every export. */
function typeOf(column: ColumnRow, seen: Seen): CellType {
  if (column.unit === 'UTC') return seen.instants === 0n ? 'text' : 'instant'
  if (seen.text === 1n) return 'text'
  if (seen.real === 1n) return 'real'
  return seen.integer === 1n ? 'integer' : 'text'
}

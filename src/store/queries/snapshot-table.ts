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
  readonly columns: readonly { readonly name: string; readonly isInstant: boolean }[]
  /** Types that fit all values. Reads the whole table where the schema leaves a type open. */
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
  const names = database.prepare<[], string>('SELECT table_name FROM dictionary_table').pluck().all()
  return {
    names,
    findTable: (name) => (names.includes(name) ? openTable(database, name) : undefined),
    [Symbol.dispose]: () => void database.close(),
  }
}

interface ColumnRow {
  readonly column_name: string
  readonly type: string | null
  readonly meaning: string
}

function openTable(database: Database.Database, name: string): SnapshotTable {
  const columns = database
    .prepare<[string], ColumnRow>(
      'SELECT column_name, type, meaning FROM dictionary WHERE table_name = ? ORDER BY position',
    )
    .all(name)
  const list = columns.map((column) => quoted(column.column_name)).join(', ')
  return {
    name,
    columns: columns.map((column) => ({ name: column.column_name, isInstant: isInstant(column) })),
    readTypes: () => columns.map((column) => readType(database, name, column)),
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

function isInstant({ meaning }: ColumnRow): boolean {
  return meaning.startsWith('UTC')
}

const INSTANT = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*Z'
const DECLARED: Readonly<Record<string, CellType>> = { TEXT: 'text', INTEGER: 'integer', REAL: 'real' }

/** Reads the values of an instant, which may be another text, and of a column that a view computes. */
function readType(database: Database.Database, table: string, column: ColumnRow): CellType {
  const name = quoted(column.column_name)
  const values = (what: string): unknown[] =>
    database
      .prepare(`SELECT DISTINCT ${what} FROM ${quoted(table)} WHERE ${name} IS NOT NULL`)
      .pluck()
      .all()
  if (isInstant(column)) return values(`${name} GLOB '${INSTANT}'`).includes(0) ? 'text' : 'instant'
  const declared = DECLARED[column.type ?? '']
  if (declared !== undefined) return declared
  const types = values(`typeof(${name})`)
  if (types.length === 0 || types.includes('text') || types.includes('blob')) return 'text'
  return types.includes('real') ? 'real' : 'integer'
}

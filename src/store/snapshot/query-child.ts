/**
 * The process that runs the SQL of an analyst: it may read the snapshot and nothing else. What it may not do is
 * refused while the statement is prepared, before any of it runs.
 */
import { constants, DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { answerParent } from '../ask-child.ts'
import type { Cell, Row } from './table.ts'

export interface QueryJob {
  readonly file: string
  readonly sql: string
  readonly rowsMax: number
  readonly bytesMax: number
}

/** What SQLite says against the statement, or its rows; `isCut` where there are more than were wanted. */
export type QueryAnswer =
  | { readonly error: string }
  | {
      readonly error: null
      readonly columns: readonly string[]
      readonly rows: readonly Row[]
      readonly isCut: boolean
    }

const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
])

answerParent(answer)

function answer({ file, sql, rowsMax, bytesMax }: QueryJob): QueryAnswer {
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    database.setAuthorizer((action, name) => {
      // The full-text index asks for this one by itself.
      const isOfSearch = action === constants.SQLITE_PRAGMA && name === 'data_version'
      return READING.has(action) || isOfSearch ? constants.SQLITE_OK : constants.SQLITE_DENY
    })
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    const rows: Row[] = []
    let bytes = 0
    // Arrays, as asked for above; the types know only of objects.
    for (const values of statement.iterate() as Iterable<unknown> as Iterable<SQLOutputValue[]>) {
      if (rows.length === rowsMax || bytes > bytesMax) return { error: null, columns, rows, isCut: true }
      const row = values.map(cellOf)
      bytes += row.reduce<number>((sum, cell) => sum + String(cell).length, 0)
      rows.push(row)
    }
    return { error: null, columns, rows, isCut: false }
  } catch (thrown) {
    return { error: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

function cellOf(value: SQLOutputValue): Cell {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

/** Runs one statement of an analyst; to be used in a process of its own, which may be killed. */
import { constants, type DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import type { Cell, Row } from './snapshot-table.ts'

export interface Selected {
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  /** There are more rows than were wanted. */
  readonly isCut: boolean
}

export interface SelectLimits {
  readonly rowsMax: number
  /** Of all values together, roughly. */
  readonly bytesMax: number
}

/** Of one value: what is longer, nobody looks at. */
const VALUE_BYTES_MAX = 16 * 2 ** 20
/** To open a database with, on which statements of others are to run. */
export const READ_ONLY = { readOnly: true, limits: { length: VALUE_BYTES_MAX } } as const
/** The process that runs statements of others may take so much memory; it begins with a quarter of it. */
export const MEMORY_BYTES_MAX = 256 * 2 ** 20

/** What a person is told where a statement came upon a limit; undefined of any other message. */
export function tellLimit(message: string): string | undefined {
  if (message !== 'string or blob too big') return undefined
  return `has a value of more than ${VALUE_BYTES_MAX / 2 ** 20} MB`
}

const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
])

/**
 * From here on statements can do nothing but read; what they may not do is refused before any of it runs.
 * @param mayRead whether a column of a table is anybody's business; every one unless given
 */
export function allowOnlyReading(
  database: DatabaseSync,
  mayRead: (table: string, column: string) => boolean = () => true,
): void {
  database.setAuthorizer((action, name, detail) => {
    // The full-text index asks for this one by itself.
    const isOfSearch = action === constants.SQLITE_PRAGMA && name === 'data_version'
    const isAllowed =
      action === constants.SQLITE_READ ? mayRead(name ?? '', detail ?? '') : READING.has(action) || isOfSearch
    return isAllowed ? constants.SQLITE_OK : constants.SQLITE_DENY
  })
}

/** @throws Error with what SQLite says against it */
export function select(
  database: DatabaseSync,
  sql: string,
  values: Readonly<Record<string, string | number | null>>,
  { rowsMax, bytesMax }: SelectLimits,
): Selected {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  statement.setAllowUnknownNamedParameters(true)
  const columns = statement.columns().map(({ name }) => name)
  const rows: Row[] = []
  let bytes = 0
  // Arrays, as asked for above; the types know only of objects.
  const found = statement.iterate({ ...values }) as Iterable<unknown> as Iterable<SQLOutputValue[]>
  for (const cells of found) {
    if (rows.length === rowsMax || bytes > bytesMax) return { columns, rows, isCut: true }
    const row = cells.map(cellOf)
    bytes += row.reduce<number>((sum, cell) => sum + String(cell).length, 0)
    rows.push(row)
  }
  return { columns, rows, isCut: false }
}

function cellOf(value: SQLOutputValue): Cell {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

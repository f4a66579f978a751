/** Checks and runs one SQL statement of an analyst. Runs in a child process, which can be killed. */
import type { SQLOutputValue } from 'node:sqlite'
import { DatabaseSync } from 'node:sqlite'
import { errorText, LeadsheetError } from '../../errors.ts'

/** A value of a snapshot. Whole numbers are bigint, so that they keep every digit. */
export type Cell = string | number | bigint | null
export type Row = readonly Cell[]

export interface Selected {
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
  readonly isCut: boolean
}

export interface SelectLimits {
  readonly rowsMax: number
  /** The approximate limit of all values together, in bytes. */
  readonly bytesMax: number
}

/** The limit of one value in bytes. */
const VALUE_BYTES_MAX = 16 * 2 ** 20
/** A statement of others can neither change the snapshot nor open another file by ATTACH. */
export const READ_ONLY = { readOnly: true, limits: { length: VALUE_BYTES_MAX, attach: 0 } } as const
/** For a process that runs analysts' statements. A quarter of it is in use at the beginning. */
export const MEMORY_BYTES_MAX = 256 * 2 ** 20

/** Undefined if `message` is about something else. */
export function formatLimit(message: string): string | undefined {
  if (message !== 'string or blob too big') return undefined
  return `has a value of more than ${VALUE_BYTES_MAX / 2 ** 20} MB`
}

/** The error of a statement that returns no rows, such as DELETE or ATTACH. */
export const NO_SELECT = 'it is no SELECT'

/**
 * Runs a statement and returns its rows.
 * @param options.isTrial true checks the statement without running it, because SQLite refuses to prepare an
 *   invalid one
 * @throws Error with the message of SQLite
 */
export function select(
  database: DatabaseSync,
  sql: string,
  {
    values,
    isTrial,
    rowsMax,
    bytesMax,
  }: SelectLimits & {
    readonly values: Readonly<Record<string, string | number | null>>
    readonly isTrial: boolean
  },
): Selected {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  statement.setAllowUnknownNamedParameters(true)
  const columns = statement.columns().map(({ name }) => name)
  if (columns.length === 0) throw new Error(NO_SELECT)
  if (isTrial) return { columns, rows: [], isCut: false }
  const rows: Row[] = []
  let bytes = 0
  // Corrects the type: because of `setReturnArrays` rows are arrays, but the type definitions know only
  // objects.
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

/** Unclosed quotes match to the end, as searching the rest again for each beginning takes long. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/** Tells whether the SQL has a second statement, which SQLite would silently ignore. */
export function hasSecondStatement(sql: string): boolean {
  return /;\s*[^\s;]/.test(withoutTexts(sql))
}

/** Lists the parameters as they are written, such as `:from` or `?1`, each once. */
export function parametersIn(sql: string): string[] {
  const found = withoutTexts(sql).match(/(?<![\w$])[:@$][A-Za-z_]\w*|\?\d*/g) ?? []
  return [...new Set(found)]
}

/** Tells whether a name occurs in the SQL, as a table, a column or anything else. */
export function namesIn(sql: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`, 'i').test(withoutTexts(sql))
}

/** Removes comments, and replaces every text and quoted name by `x`. */
function withoutTexts(sql: string): string {
  return sql.replace(QUOTED, (part) => (/^[-/]/.test(part) ? ' ' : 'x'))
}

/**
 * Tells whether an SQL condition is true of the given numbers. The numbers are one row of a database in
 * memory, so the condition can read no other data. A condition over an unknown number (null) is not true.
 * @param condition such as `new_leads < 10 OR stalled > 20`
 * @throws LeadsheetError config_invalid for an invalid condition
 */
export function isTrueOf(condition: string, numbers: Readonly<Record<string, number | null>>): boolean {
  const names = Object.keys(numbers)
  const wrong = (reason: string): LeadsheetError =>
    new LeadsheetError('config_invalid', `if_threshold: ${condition} cannot be asked: ${reason}`, {
      hint: `It is a condition in SQL over these numbers: ${names.join(', ')}.`,
    })
  if (hasSecondStatement(condition)) throw wrong('there is more than one statement')
  if (namesIn(condition, 'select')) throw wrong('it holds a query of its own')
  const database = new DatabaseSync(':memory:', { limits: READ_ONLY.limits })
  try {
    database.exec(`CREATE TABLE number (${names.map((name) => `${name} REAL`).join(', ')})`)
    database
      .prepare(`INSERT INTO number VALUES (${names.map(() => '?').join(', ')})`)
      .run(...Object.values(numbers))
    const row = database.prepare(`SELECT iif((${condition}\n), 1, 0) AS holds FROM number`).get()
    return row?.holds === 1
  } catch (thrown) {
    throw wrong(errorText(thrown))
  } finally {
    database.close()
  }
}

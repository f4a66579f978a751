/** Runs one statement of an analyst; to be used in a process of its own, which may be killed. */
import type { SQLOutputValue } from 'node:sqlite'
import { constants, DatabaseSync } from 'node:sqlite'
import { errorText, LeadsheetError } from '../../errors.ts'
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
export function allowReadsOnly(
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

/* What can be told of an analyst's SQL before SQLite reads it. */

/** A text, a quoted name or a comment; one without an end is all that follows, or each would be looked for again. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/** Whether it asks for rows, by how it begins. */
export function isSelect(sql: string): boolean {
  return /^[\s(]*(SELECT|WITH|VALUES|TABLE)\b/i.test(withoutTexts(sql))
}

/** SQLite would leave a second one out without a word. */
export function hasSecondStatement(sql: string): boolean {
  return /;\s*[^\s;]/.test(withoutTexts(sql))
}

/** As written: `:from`, `?1`; each once. A type as PostgreSQL has it (`::date`) is none. */
export function parametersIn(sql: string): string[] {
  const found = withoutTexts(sql).match(/(?<![\w$:])[:@$][A-Za-z_]\w*|\?\d*/g) ?? []
  return [...new Set(found)]
}

/** With a value in the place of each parameter `:name`. */
export function fillParameters(sql: string, write: (name: string) => string): string {
  const part = new RegExp(`${QUOTED.source}|(?<![\\w$:]):([A-Za-z_]\\w*)`, 'g')
  return sql.replace(part, (found, name?: string) => (name === undefined ? found : write(name)))
}

/** Whether a table, a column or anything else is called so. */
export function namesIn(sql: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`, 'i').test(withoutTexts(sql))
}

/** Without comments, and an `x` for every text and quoted name. */
function withoutTexts(sql: string): string {
  return sql.replace(QUOTED, (part) => (/^[-/]/.test(part) ? ' ' : 'x'))
}

/* Conditions in SQL over a few numbers: a row of their own in memory, that nothing else can be reached from. */

/**
 * Whether the condition is true of the numbers; one that asks for what is not known (null) is not.
 * @param condition such as `new_leads < 10 OR stalled > 20`
 * @throws LeadsheetError config_invalid where it is no condition over them
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
    allowReadsOnly(database)
    const row = database.prepare(`SELECT iif((${condition}\n), 1, 0) AS holds FROM number`).get()
    return row?.holds === 1
  } catch (thrown) {
    throw wrong(errorText(thrown))
  } finally {
    database.close()
  }
}

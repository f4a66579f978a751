/**
 * The child process that runs the SQL queries from a report's folder. The queries may read what analysts may
 * read, and the table `chosen` with the leads that the report is about.
 */
import { DatabaseSync } from 'node:sqlite'
import type { LeadFilter } from '../../domain/figures.ts'
import { errorText } from '../../errors.ts'
import { answerParent } from '../db/subprocess.ts'
import { chosenLeadsSql, chosenValues } from '../figures/lead-filter.ts'
import { PUBLISHED } from '../schema/published.ts'
import { allowReadsOnly, namesIn, READ_ONLY, type Selected, type SelectLimits, select } from './select.ts'

export interface ReportQueryTask extends SelectLimits {
  readonly sqls: readonly string[]
  readonly values: Readonly<Record<string, string | number | null>>
  readonly filter: LeadFilter
  /** Tells whether the queries are only checked. Then no query runs, and the answers have no rows. */
  readonly isTrial: boolean
}

export interface ReportQueryJob extends ReportQueryTask {
  readonly file: string
}

/** For each query, its rows or the error of the database. */
export type ReportQueryAnswer = readonly ({ readonly error: string } | Selected)[]

/** The longest wait for a lock. A process that closes the store locks it for a moment. */
const BUSY_TIMEOUT_MS = 10_000
const CHOSEN = 'chosen'
/** The functions that SQL may read like tables. */
const TABLE_FUNCTIONS = ['json_each', 'json_tree']
/**
 * Matches the names of SQLite's internal tables. If another unknown name is read without any of its columns,
 * it is a common table expression of the query.
 */
const INTERNAL = /^(?:sqlite|pragma)_/i

answerParent(answer)

function answer({ file, sqls, values, filter, isTrial, ...limits }: ReportQueryJob): ReportQueryAnswer {
  const database = new DatabaseSync(file, { ...READ_ONLY, timeout: BUSY_TIMEOUT_MS })
  database.exec('BEGIN')
  if (sqls.some((sql) => namesIn(sql, CHOSEN))) makeChosen(database, filter)
  const namesOf = (type: string) =>
    database
      .prepare('SELECT name FROM sqlite_schema WHERE type = ?')
      .all(type)
      .map(({ name }) => String(name))
  const tables = namesOf('table')
  const open = new Set([...namesOf('view'), ...TABLE_FUNCTIONS, CHOSEN])
  const mayOpen = readMayOpen(database)
  allowReadsOnly(database, (table, column) => {
    const withheld = PUBLISHED[table]
    if (withheld !== undefined) return !withheld.includes(column)
    return open.has(table) || (column === '' && !tables.includes(table) && !INTERNAL.test(table))
  })
  return sqls.map((sql) => {
    try {
      refuseTrespass(database, sql, mayOpen)
      return isTrial ? trial(database, sql) : select(database, sql, values, limits)
    } catch (thrown) {
      return { error: errorText(thrown) }
    }
  })
}

/** The tables that the plan of a query may open. */
interface MayOpen {
  /**
   * The tables, by the page at which the table or one of its indexes begins. `withheld` has the withheld columns by
   * their numbers in its rows; it is null if nothing of it may be read.
   */
  readonly pages: ReadonlyMap<unknown, { readonly table: string; readonly withheld: Columns | null }>
  /** The addresses by which plans name the functions that SQL may read like tables. */
  readonly functions: ReadonlySet<unknown>
}
type Columns = ReadonlyMap<unknown, string>

function readMayOpen(database: DatabaseSync): MayOpen {
  // A row has no place for a virtual column.
  const columnsOf = database.prepare(`SELECT name FROM pragma_table_xinfo(:name) WHERE hidden <> 2
    UNION ALL SELECT name FROM pragma_index_xinfo(:name)`)
  const parts = database
    .prepare('SELECT type, name, tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0')
    .all()
  const pages = parts.map(({ type, name, tbl_name, rootpage }) => {
    const table = String(tbl_name)
    const columns = columnsOf.all({ name: name ?? null }).map((column) => String(column.name))
    const withheld = new Map(
      [...columns.entries()].filter(([, column]) => PUBLISHED[table]?.includes(column) ?? true),
    )
    const isOpen = PUBLISHED[table] !== undefined && (type === 'table' || withheld.size === 0)
    return [rootpage, { table, withheld: isOpen ? withheld : null }] as const
  })
  const functions = TABLE_FUNCTIONS.flatMap((name) => planOf(database, `SELECT value FROM ${name}('[]')`))
  const opened = functions.filter(({ opcode }) => opcode === 'VOpen')
  return { pages: new Map(pages), functions: new Set(opened.map(({ p4 }) => p4)) }
}

/**
 * Refuses a query whose plan reads what is not for reports. SQLite asks no authorizer for a column that USING or
 * NATURAL merges, but a plan names each page, virtual table and column that it reads (sqlite.org/opcode.html).
 * @throws Error in the words of SQLite's own refusals
 */
function refuseTrespass(database: DatabaseSync, sql: string, { pages, functions }: MayOpen): void {
  const plan = planOf(database, sql)
  const opened = new Map<unknown, { readonly table: string; readonly withheld: Columns }>()
  for (const { opcode, p1: cursor, p2: root, p3: schema, p4 } of plan) {
    if (opcode === 'VOpen' && !functions.has(p4)) throw new Error('not authorized')
    if (opcode !== 'OpenRead' && opcode !== 'ReopenIdx') continue
    // Schema 1 has temporary tables: `chosen`, and at page 1 SQLite's own.
    if (schema === 1 && root !== 1) continue
    const { table, withheld = null } = pages.get(root) ?? { table: 'sqlite_schema' }
    if (withheld === null || schema !== 0) throw new Error(`access to ${table} is prohibited`)
    if (withheld.size > 0) opened.set(cursor, { table, withheld })
  }
  for (const { opcode, p1: cursor, p2: number } of plan) {
    const { table, withheld } = opened.get(cursor) ?? {}
    const column = opcode === 'RowData' ? withheld && '*' : opcode === 'Column' && withheld?.get(number)
    if (column) throw new Error(`access to ${table}.${column} is prohibited`)
  }
}

function planOf(database: DatabaseSync, sql: string) {
  return database.prepare(`EXPLAIN ${sql}`).all()
}

/** Checks a query without running it. This is possible because SQLite refuses to prepare an invalid query. */
function trial(database: DatabaseSync, sql: string): Selected {
  const columns = database.prepare(sql).columns()
  return { columns: columns.map(({ name }) => name), rows: [], isCut: false }
}

/**
 * Fills a temporary table with the leads of the filter, so that the filter runs once and not for every row
 * that a query reads. A filter that takes all leads needs only a view.
 */
function makeChosen(database: DatabaseSync, filter: LeadFilter): void {
  const { pipelineIds, conditions } = filter
  if (pipelineIds === null && conditions.length === 0) {
    database.exec(`CREATE TEMP VIEW chosen AS ${chosenLeadsSql(filter)}`)
    return
  }
  database.exec('CREATE TEMP TABLE chosen (lead_id TEXT PRIMARY KEY) WITHOUT ROWID')
  const fill = database.prepare(`INSERT INTO chosen ${chosenLeadsSql(filter)}`)
  fill.setAllowUnknownNamedParameters(true)
  fill.run({ ...chosenValues(conditions), pipelines: JSON.stringify(pipelineIds) })
}

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
  allowReadsOnly(database, (table, column) => {
    const withheld = PUBLISHED[table]
    if (withheld !== undefined) return !withheld.includes(column)
    return open.has(table) || (column === '' && !tables.includes(table) && !INTERNAL.test(table))
  })
  return sqls.map((sql) => {
    try {
      return isTrial ? trial(database, sql) : select(database, sql, values, limits)
    } catch (thrown) {
      return { error: errorText(thrown) }
    }
  })
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

/**
 * Runs the SQL queries from a report's folder, all on one snapshot, which has only what analysts may read.
 */
import type { FailedSection, LeadFilter } from '../../domain/figures.ts'
import type { QueryTable } from '../../domain/lists.ts'
import type { Period } from '../../domain/model.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import { EVERY_LEAD } from '../figures/lead-filter.ts'
import { runQueries } from './query.ts'
import type { QueryTask } from './query-child.ts'
import { type Cell, formatLimit, hasSecondStatement, NO_SELECT, namesIn, parametersIn } from './select.ts'

export interface ReportQuery {
  readonly name: string
  readonly title: string
  readonly note: string | null
  readonly sql: string
  readonly place: string
}

interface QueryScope {
  readonly period: Period
  readonly prior: Period
  readonly filter: LeadFilter
  readonly stalledDays: number
  readonly topScore: number
}

export interface QueryOptions {
  readonly signal: AbortSignal
  /** The time limit for all queries of a report together, in milliseconds. */
  readonly timeoutMs?: number
}

const LIMITS = { rowsMax: 100, bytesMax: 2 ** 20 }
const TIMEOUT_MS = 30_000

interface QueryAnswers {
  /** The answers in the order of the queries. A failed query has neither columns nor rows. */
  readonly tables: readonly QueryTable[]
  readonly failed: readonly FailedSection[]
}

/**
 * Runs the queries of a report. If one query fails, the others still run, but all of them share one time
 * limit. If there is no snapshot, all queries have failed.
 * @param findSnapshot returns the file of the snapshot
 * @throws the reason of an aborted signal
 */
export async function runReportQueries(
  findSnapshot: () => Promise<string>,
  queries: readonly ReportQuery[],
  scope: QueryScope,
  options: QueryOptions,
): Promise<QueryAnswers> {
  if (queries.length === 0) return { tables: [], failed: [] }
  const what = { values: valuesOf(scope), filter: scope.filter, isTrial: false }
  const answers = await askSnapshot().catch((thrown: unknown) => {
    options.signal.throwIfAborted()
    return queries.map(() => thrown)
  })
  const failed: FailedSection[] = []
  const tables = queries.map(({ name, title, note, sql }, index): QueryTable => {
    const answer = answers[index]
    if (isTable(answer)) return answer
    failed.push({ block: 'queries', query: name, message: errorText(answer) })
    return { name, title, note, sql, columns: [], rows: [], isCut: false }
  })
  return { tables, failed }

  async function askSnapshot() {
    return ask(await findSnapshot(), queries, what, options)
  }
}

/**
 * Checks the queries without running them. The returned tables have columns and no rows.
 * @param file a snapshot of which only the schema is read
 * @throws LeadsheetError query_failed with the query and its place, for a mistake in the SQL, an unknown
 * parameter, a statement that returns no rows, or a timeout; the reason of an aborted signal
 */
export async function tryReportQueries(
  file: string,
  queries: readonly ReportQuery[],
  options: QueryOptions,
): Promise<QueryTable[]> {
  const answers = await ask(
    file,
    queries,
    { values: valuesOf(null), filter: EVERY_LEAD, isTrial: true },
    options,
  )
  return answers.map((answer) => {
    if (isTable(answer)) return answer
    throw answer
  })
}

/** The parameters of queries. */
const VALUES: Readonly<Record<string, (scope: QueryScope) => string | number | null>> = {
  from: ({ period }) => period.from,
  to: ({ period }) => period.to,
  prior_from: ({ prior }) => prior.from,
  prior_to: ({ prior }) => prior.to,
  pipelines: ({ filter }) => filter.pipelineIds && JSON.stringify(filter.pipelineIds),
  stalled_days: ({ stalledDays }) => stalledDays,
  top_score: ({ topScore }) => topScore,
}

/** @param scope null for values that are null, as the statements are only checked */
function valuesOf(scope: QueryScope | null): QueryTask['values'] {
  return Object.fromEntries(Object.entries(VALUES).map(([name, read]) => [name, scope && read(scope)]))
}

function refuseBadText(query: ReportQuery): void {
  const known = Object.keys(VALUES).map((name) => `:${name}`)
  if (hasSecondStatement(query.sql)) throw failed(query, 'there is more than one statement')
  const unknown = parametersIn(query.sql).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw failed(query, `there is no parameter ${unknown}; known: ${known.join(', ')}`)
}

async function ask(
  file: string,
  queries: readonly ReportQuery[],
  { filter, ...what }: Pick<QueryTask, 'values' | 'isTrial'> & { readonly filter: LeadFilter },
  { signal, timeoutMs = TIMEOUT_MS }: QueryOptions,
): Promise<(QueryTable | LeadsheetError)[]> {
  for (const query of queries) refuseBadText(query)
  const chosen = queries.some(({ sql }) => namesIn(sql, 'chosen')) ? filter : null
  const task = { ...what, ...LIMITS, sqls: queries.map(({ sql }) => sql), chosen }
  const beyond = (limit: string) => {
    const names = queries.map(({ name }) => name).join(', ')
    return new LeadsheetError(
      'query_failed',
      `${queries[0]?.place}  the queries of the report (${names}) ${limit}`,
      { hint: `Ask for less; ${shellCommand('query')} runs one alone on the snapshot.` },
    )
  }
  const answers = await runQueries(file, task, { signal, timeoutMs }, beyond)
  return queries.map((query, index) => {
    const selected = answers[index] ?? { error: 'there is no answer' }
    if (selected.error !== null) return failed(query, selected.error)
    const { name, title, note, sql } = query
    const { columns, rows, isCut } = selected
    return { name, title, note, sql, columns, rows: rows.map((row) => row.map(plain)), isCut }
  })
}

function isTable(answer: unknown): answer is QueryTable {
  return typeof answer === 'object' && answer !== null && 'rows' in answer
}

function failed({ name, place }: ReportQuery, message: string): LeadsheetError {
  return new LeadsheetError('query_failed', `${place}  query ${name}: ${formatLimit(message) ?? message}`, {
    hint:
      message === NO_SELECT || message.includes('readonly database')
        ? `Only SELECT and WITH … SELECT run here, on what ${shellCommand('query "SELECT * FROM dictionary"')} shows.`
        : `${shellCommand('query "SELECT * FROM dictionary"')} shows tables and columns, docs/reference/report-definition.md what a query may name.`,
  })
}

function plain(cell: Cell): string | number | null {
  if (typeof cell === 'number' && !Number.isFinite(cell)) return null
  if (typeof cell !== 'bigint') return cell
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
}

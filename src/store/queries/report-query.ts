/**
 * Runs the SQL queries from a report's folder on the store. For SQLite, a child process runs them and can be
 * killed; in PostgreSQL, running statements can be cancelled. The queries may read only what analysts may
 * read. All queries of a report are answered from one consistent read of the database.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { FailedSection, LeadFilter } from '../../domain/figures.ts'
import type { QueryTable } from '../../domain/lists.ts'
import type { Period } from '../../domain/model.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { StorePlace } from '../db/place.ts'
import { askChild, NoAnswer, OutOfMemory, programFile } from '../db/subprocess.ts'
import { chosenLeadsSql, chosenValues, EVERY_LEAD } from '../figures/lead-filter.ts'
import { literal } from '../figures/query.ts'
import type { ReportQueryAnswer, ReportQueryJob, ReportQueryTask } from './report-query-child.ts'
import {
  fillParameters,
  formatLimit,
  hasSecondStatement,
  MEMORY_BYTES_MAX,
  namesIn,
  parametersIn,
} from './select.ts'
import type { Cell } from './snapshot-table.ts'

export interface ReportQuery {
  readonly name: string
  readonly title: string
  readonly note: string | null
  readonly sql: string
  /** The file and line of the query, for error messages. */
  readonly place: string
}

/** The values for the parameters of the queries. */
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

const CHILD = programFile(import.meta.url, 'report-query-child')
const LIMITS = { rowsMax: 100, bytesMax: 2 ** 20 }
const TIMEOUT_MS = 30_000

interface QueryAnswers {
  /** The answers in the order of the queries. A failed query has neither columns nor rows. */
  readonly tables: readonly QueryTable[]
  readonly failed: readonly FailedSection[]
}

/**
 * Runs the queries of a report. If one query fails, the others still run, but all of them share one time
 * limit.
 * @throws the reason of an aborted signal
 */
export async function runReportQueries(
  place: StorePlace,
  queries: readonly ReportQuery[],
  scope: QueryScope,
  options: QueryOptions,
): Promise<QueryAnswers> {
  const what = { values: valuesOf(scope), filter: scope.filter, isTrial: false }
  const answers = await ask(place, queries, what, options).catch((thrown: unknown) => {
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
}

/**
 * Checks the queries without running them. The returned tables have columns and no rows.
 * @throws LeadsheetError query_failed with the query and its place, for a mistake in the SQL, an unknown
 * parameter, a statement that does more than read, or a timeout; the reason of an aborted signal
 */
export async function tryReportQueries(
  place: StorePlace,
  queries: readonly ReportQuery[],
  options: QueryOptions,
): Promise<QueryTable[]> {
  const answers = await ask(place, queries, { values: NO_VALUES, filter: EVERY_LEAD, isTrial: true }, options)
  return answers.map((answer) => {
    if (isTable(answer)) return answer
    throw answer
  })
}

const NO_VALUES = {
  from: null,
  to: null,
  prior_from: null,
  prior_to: null,
  pipelines: null,
  stalled_days: null,
  top_score: null,
}

/** Returns the SQL with all values filled in. Any program that opens the database can run it. */
export function explainReportQuery(sql: string, scope: QueryScope): string {
  const { filter } = scope
  const values: Readonly<Record<string, string | number | null>> = {
    ...valuesOf(scope),
    ...chosenValues(filter.conditions),
  }
  const filled = (text: string) => fillParameters(text, (name) => literal(values[name] ?? null))
  const chosen = namesIn(sql, 'chosen')
    ? `CREATE TEMP VIEW chosen AS ${filled(chosenLeadsSql(filter))};\n`
    : ''
  return `${chosen}${filled(sql).trim().replace(/;$/, '')};`
}

/** Returns the values of all parameters by their names in SQL, without the colon. */
function valuesOf({ period, prior, filter, stalledDays, topScore }: QueryScope): QueryValues {
  return {
    from: period.from,
    to: period.to,
    prior_from: prior.from,
    prior_to: prior.to,
    pipelines: filter.pipelineIds === null ? null : JSON.stringify(filter.pipelineIds),
    stalled_days: stalledDays,
    top_score: topScore,
  }
}

type QueryValues = Readonly<Record<keyof typeof NO_VALUES, string | number | null>>

function refuseBadText(query: ReportQuery): void {
  const known = Object.keys(NO_VALUES).map((name) => `:${name}`)
  if (hasSecondStatement(query.sql)) throw failed(query, 'there is more than one statement')
  const unknown = parametersIn(query.sql).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw failed(query, `there is no parameter ${unknown}; known: ${known.join(', ')}`)
}

async function ask(
  place: StorePlace,
  queries: readonly ReportQuery[],
  what: Pick<ReportQueryTask, 'values' | 'filter' | 'isTrial'>,
  options: QueryOptions,
): Promise<(QueryTable | LeadsheetError)[]> {
  for (const query of queries) refuseBadText(query)
  if (queries.length === 0) return []
  const task = { ...what, sqls: queries.map(({ sql }) => sql), ...LIMITS }
  const answers = await askInTime(place, task, queries, options)
  return queries.map((query, index) => {
    const selected = answers[index] ?? { error: 'there is no answer' }
    if ('error' in selected) return failed(query, selected.error)
    const { name, title, note, sql } = query
    const { columns, rows, isCut } = selected
    return { name, title, note, sql, columns, rows: rows.map((row) => row.map(plain)), isCut }
  })
}

function isTable(answer: unknown): answer is QueryTable {
  return typeof answer === 'object' && answer !== null && 'rows' in answer
}

async function askInTime(
  place: StorePlace,
  task: ReportQueryTask,
  queries: readonly ReportQuery[],
  { signal, timeoutMs = TIMEOUT_MS }: QueryOptions,
): Promise<ReportQueryAnswer> {
  signal.throwIfAborted()
  const timeout = AbortSignal.timeout(timeoutMs)
  const ended = AbortSignal.any([signal, timeout])
  try {
    if (place.kind === 'sqlite') return await answerOfChild({ ...task, file: resolve(place.file) }, ended)
    const { answerInPostgres } = await import('./report-query-postgres.ts')
    return await answerInPostgres(place, task, { signal: ended, timeoutMs })
  } catch (thrown) {
    signal.throwIfAborted()
    const isKilled = thrown instanceof NoAnswer
    if (!timeout.aborted && !(thrown instanceof OutOfMemory) && !isKilled) throw thrown
    const reason = isKilled ? `have no answer: ${thrown.message}` : errorText(thrown)
    const limit = timeout.aborted ? `took longer than ${timeoutMs / 1000} s` : reason
    const names = queries.map(({ name }) => name).join(', ')
    throw new LeadsheetError(
      'query_failed',
      `${queries[0]?.place}  the queries of the report (${names}) ${limit}`,
      { hint: `Ask for less; ${shellCommand('query')} runs one alone on the snapshot.` },
    )
  }
}

async function answerOfChild(job: ReportQueryJob, signal: AbortSignal): Promise<ReportQueryAnswer> {
  // Runs the statements in an empty folder, in which they find no file. SQLite's temporary files are deleted
  // with the folder.
  const folder = await mkdtemp(join(tmpdir(), 'leadsheet-query-'))
  try {
    return await askChild<ReportQueryJob, ReportQueryAnswer>(CHILD, job, {
      ...{ folder, signal, bytesMax: MEMORY_BYTES_MAX },
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function failed({ name, place }: ReportQuery, message: string): LeadsheetError {
  const [, secret] = /^access to (\S+) is prohibited$/.exec(message) ?? []
  const what = secret === undefined ? (formatLimit(message) ?? message) : `${secret} is not for reports`
  return new LeadsheetError('query_failed', `${place}  query ${name}: ${what}`, {
    hint: /not authorized|authorization denied/.test(message)
      ? `Only SELECT and WITH … SELECT run here, on what ${shellCommand('schema')} shows.`
      : `${shellCommand('schema')} shows tables and columns, docs/reference/report-definition.md what a query may name.`,
  })
}

/** Converts a value of the database for a report. An infinite number such as `9e999` becomes null. */
function plain(cell: Cell): string | number | null {
  if (typeof cell === 'number' && !Number.isFinite(cell)) return null
  if (typeof cell !== 'bigint') return cell
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell)
}

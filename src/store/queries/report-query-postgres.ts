/**
 * Runs the SQL queries from a report's folder in PostgreSQL, on a connection of its own. The queries may read
 * what analysts may read, and the table `chosen` with the leads that the report is about.
 */
import pg from 'pg'
import type { LeadFilter } from '../../domain/figures.ts'
import { errorText } from '../../errors.ts'
import type { PostgresPlace } from '../db/postgres.ts'
import { connectionTo } from '../db/postgres.ts'
import { postgresFailure } from '../db/postgres-failure.ts'
import { OutOfMemory } from '../db/subprocess.ts'
import { chosenLeadsSql, chosenValues } from '../figures/lead-filter.ts'
import { literal } from '../figures/query.ts'
import { PUBLISHED } from '../schema/published.ts'
import { VIEWS } from '../schema/views.ts'
import type { ReportQueryAnswer, ReportQueryTask } from './report-query-child.ts'
import type { Selected, SelectLimits } from './select.ts'
import { fillParameters, isSelect, namesIn } from './select.ts'
import type { Cell, Row } from './snapshot-table.ts'

const CHOSEN = 'chosen'
const ROWS_AT_ONCE = 10
/** The limit of all bytes received for one report, because a single value may have a gigabyte. */
const RECEIVED_BYTES_MAX = 64 * 2 ** 20

const { builtins } = pg.types
/**
 * Converts values of these types to the values that SQLite would return. Values of other types stay texts, as
 * PostgreSQL writes them.
 */
const CELLS: ReadonlyMap<number, (text: string) => Cell> = new Map<number, (text: string) => Cell>([
  ...[builtins.INT2, builtins.INT4, builtins.FLOAT4, builtins.FLOAT8].map((type) => [type, Number] as const),
  ...[builtins.INT8, builtins.NUMERIC].map((type) => [type, numberOf] as const),
  [builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
  [builtins.BYTEA, (text) => text.replace(/^\\x/, '')],
])
const AS_CELLS = { getTypeParser: (type: number) => CELLS.get(type) ?? ((text: string) => text) }

/**
 * Runs the queries and returns their answers.
 * @param signal cancels the running statement in PostgreSQL too
 * @throws LeadsheetError store_unreachable, store_refused; the error of PostgreSQL for a cancelled statement
 */
export async function answerInPostgres(
  place: PostgresPlace,
  task: ReportQueryTask,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<ReportQueryAnswer> {
  const client = new pg.Client({
    ...connectionTo(place),
    // Makes the server end the statement even if this process is killed.
    statement_timeout: timeoutMs + 1_000,
  })
  // Ignores errors of the connection, because the running query then fails too.
  client.on('error', () => {})
  let received = 0
  try {
    await client.connect()
    client.connection.stream.on('data', (part: Buffer) => {
      received += part.length
      if (received > RECEIVED_BYTES_MAX) client.connection.stream.destroy()
    })
    return await whileWanted(client, place, signal, () => answer(client, task, signal))
  } catch (cause) {
    if (received > RECEIVED_BYTES_MAX) {
      throw new OutOfMemory(`have an answer of more than ${RECEIVED_BYTES_MAX / 2 ** 20} MB`)
    }
    throw postgresFailure(place.name, cause) ?? cause
  } finally {
    await client.end()
  }
}

async function whileWanted<T>(
  client: pg.Client,
  place: PostgresPlace,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const cancel = (): void => void cancelStatement(place, rows[0]?.pid ?? 0)
  signal.addEventListener('abort', cancel)
  try {
    signal.throwIfAborted()
    return await work()
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Cancels a running statement. If the cancellation fails, the timeout ends the statement. */
async function cancelStatement(place: PostgresPlace, pid: number): Promise<void> {
  const client = new pg.Client(connectionTo(place))
  client.on('error', () => {})
  await client
    .connect()
    .then(() => client.query('SELECT pg_cancel_backend($1)', [pid]))
    .catch(() => null)
  await client.end()
}

async function answer(
  client: pg.Client,
  { sqls, values, filter, isTrial, ...limits }: ReportQueryTask,
  signal: AbortSignal,
): Promise<ReportQueryAnswer> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  const texts = sqls.map((sql) => fillIn(sql, values))
  if (sqls.some((sql) => namesIn(sql, CHOSEN))) await makeChosen(client, filter, values)
  const refusals: (string | null)[] = []
  for (const text of texts)
    refusals.push(
      isSelect(text)
        ? await findTrespass(client, text, [CHOSEN]).catch(errorText)
        : 'not authorized: it is no SELECT',
    )
  await client.query('SET TRANSACTION READ ONLY')
  const answers: ReportQueryAnswer[number][] = []
  for (const [index, text] of texts.entries()) {
    const refusal = refusals[index] ?? null
    answers.push(refusal === null ? await read(client, text, isTrial, limits) : { error: refusal })
    signal.throwIfAborted()
  }
  return answers
}

function fillIn(sql: string, values: ReportQueryTask['values']): string {
  const filled = fillParameters(sql, (name) => literal(values[name] ?? null))
  return filled.trim().replace(/;$/, '')
}

async function makeChosen(
  client: pg.Client,
  filter: LeadFilter,
  values: ReportQueryTask['values'],
): Promise<void> {
  const all = { ...values, ...chosenValues(filter.conditions), pipelines: JSON.stringify(filter.pipelineIds) }
  await client.query(`CREATE TEMP TABLE ${CHOSEN} ON COMMIT DROP AS ${fillIn(chosenLeadsSql(filter), all)}`)
  await client.query(`ANALYZE ${CHOSEN}`)
}

/** Reads the rows of a query through a cursor, which accepts only a SELECT. */
async function read(
  client: pg.Client,
  sql: string,
  isTrial: boolean,
  { rowsMax, bytesMax }: SelectLimits,
): Promise<Selected | { readonly error: string }> {
  await client.query('SAVEPOINT before')
  try {
    await client.query(alone(`DECLARE answer CURSOR FOR\n${sql}`))
    const rows: Row[] = []
    let bytes = 0
    for (;;) {
      const count = isTrial ? 0 : ROWS_AT_ONCE
      const text = `FETCH ${count} FROM answer`
      const fetched = await client.query<Cell[]>({ text, rowMode: 'array', types: AS_CELLS })
      const columns = fetched.fields.map(({ name }) => name)
      for (const row of fetched.rows) {
        if (rows.length === rowsMax || bytes > bytesMax) return { columns, rows, isCut: true }
        bytes += row.reduce<number>((sum, cell) => sum + String(cell).length, 0)
        rows.push(row)
      }
      if (fetched.rows.length === 0) return { columns, rows, isCut: false }
    }
  } catch (thrown) {
    return { error: errorText(thrown) }
  } finally {
    await client.query('ROLLBACK TO before')
  }
}

/**
 * Converts a number without losing digits. A whole number that JavaScript cannot hold exactly becomes a
 * bigint.
 */
function numberOf(text: string): Cell {
  const isWhole = /^-?\d+$/.test(text)
  return isWhole && !Number.isSafeInteger(Number(text)) ? BigInt(text) : Number(text)
}

/*
 * Finds which tables, columns and functions an analyst's SQL would read, before any of it runs. PostgreSQL
 * parses the SQL into a tree. In the tree, each table, column and function is a number, however its name was
 * written in the SQL.
 */

/**
 * The offset that PostgreSQL adds to column numbers in the tree of a parsed statement. Smaller numbers mean
 * system columns; the offset itself means all columns.
 */
const COLUMNS_FROM = 7

/**
 * Matches functions that run SQL, read files and settings, or look beyond the schema. PostgreSQL declares
 * that they change nothing, but analysts may not call them.
 */
const CURIOUS = /^(pg_|has_|inet_|current_setting$|.*_to_xml|.*_description$|ts_stat$|ts_rewrite$)/

/**
 * Checks whether a SELECT reads only what analysts may read.
 * @param client a connection in a transaction that may write, with the schema as its search path; afterwards
 * the transaction is as before
 * @param own the temporary tables that the SQL may read too
 * @returns a sentence that names the table, column or function that may not be read; null if everything is
 * allowed
 * @throws any error of PostgreSQL
 */
async function findTrespass(client: pg.Client, sql: string, own: readonly string[]): Promise<string | null> {
  await client.query('SAVEPOINT probe')
  try {
    // PostgreSQL parses a view without running it. Inside EXISTS, the columns may have any names.
    const text = `CREATE TEMP VIEW probe AS SELECT 1 AS one WHERE EXISTS (\n${sql}\n)`
    await client.query(alone(text))
    const touched = await findInView(client, 'pg_temp.probe', own)
    return touched && `${touched} is not for reports`
  } finally {
    await client.query('ROLLBACK TO probe')
  }
}

/** Sends the text with the extended protocol, in which PostgreSQL refuses a second statement. */
function alone(text: string): pg.QueryConfig {
  // The type definitions of `pg` lack this property.
  return Object.assign({ text }, { queryMode: 'extended' })
}

/**
 * Returns a table, column or function that a view reads and analysts may not read; null if there is none.
 * Also looks into views that analysts have made, because they may read private tables.
 */
async function findInView(client: pg.Client, view: string, own: readonly string[]): Promise<string | null> {
  const { rows } = await client.query<{ id: string; tree: string }>(
    `SELECT CAST(ev_class AS text) AS id, CAST(ev_action AS text) AS tree
    FROM pg_rewrite WHERE ev_class = to_regclass($1)`,
    [view],
  )
  const { id = '', tree = '' } = rows[0] ?? {}
  for (const relation of await readRelations(client, tree)) {
    if (relation.id === id) continue
    const touched = isAnalysts(relation)
      ? await findInView(client, relation.fullName, own)
      : trespassOn(relation, tree, own)
    if (touched !== null) return touched
  }
  return findFunction(client, tree)
}

interface Relation {
  readonly id: string
  readonly name: string
  readonly fullName: string
  readonly place: 'temp' | 'own' | 'other'
  readonly isView: boolean
  /** The names of the columns in the order of their numbers, which begin with 1. */
  readonly columns: readonly string[]
}

async function readRelations(client: pg.Client, tree: string): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(
    `SELECT CAST(pg_class.oid AS text) AS id, relname AS name, relkind = 'v' AS "isView",
      format('%I.%I', nspname, relname) AS "fullName",
      CASE WHEN pg_namespace.oid = pg_my_temp_schema() THEN 'temp' WHEN nspname = current_schema() THEN 'own'
        ELSE 'other' END AS place,
      to_json(ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 ORDER BY attnum)) AS columns
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE CAST(pg_class.oid AS text) = ANY ($1)`,
    [[...tree.matchAll(/:relid (\d+)/g)].map(([, id]) => id)],
  )
  return rows
}

function isAnalysts({ name, place, isView }: Relation): boolean {
  return isView && place === 'own' && !(name in VIEWS)
}

function trespassOn(
  { id, name, place, columns }: Relation,
  tree: string,
  own: readonly string[],
): string | null {
  if (place === 'temp' && own.includes(name)) return null
  if (place === 'own' && name in VIEWS) return null
  const withheld = place === 'own' ? PUBLISHED[name] : undefined
  if (withheld === undefined) return name
  const read = columnsRead(tree, id)
  const secret = withheld.find((column) => read.has(columns.indexOf(column) + 1 + COLUMNS_FROM))
  if (secret !== undefined) return `${name}.${secret}`
  return withheld.length > 0 && read.has(COLUMNS_FROM) ? `${name}.*` : null
}

/**
 * Returns the numbers of the columns of a table that are read anywhere in the tree of a parsed statement. The
 * tree has them as `:relid 16391 … :selectedCols (b 8 9)`.
 */
function columnsRead(tree: string, id: string): Set<number> {
  const places = tree.matchAll(new RegExp(`:relid ${id} [^{}]*:selectedCols \\(b([ \\d]*)\\)`, 'g'))
  return new Set([...places].flatMap(([, numbers = '']) => numbers.trim().split(' ').map(Number)))
}

async function findFunction(client: pg.Client, tree: string): Promise<string | null> {
  const called = (name: string): (string | undefined)[] =>
    [...tree.matchAll(new RegExp(`:${name} (\\d+)`, 'g'))].map(([, id]) => id)
  const { rows } = await client.query<{ name: string; own: boolean; changes: boolean }>(
    `SELECT proname AS name, pronamespace = CAST(current_schema() AS regnamespace) AS own,
      provolatile = 'v' OR pronamespace <> CAST('pg_catalog' AS regnamespace) AS changes
    FROM pg_proc WHERE CAST(oid AS text) = ANY ($1)
      OR oid IN (SELECT oprcode FROM pg_operator WHERE CAST(pg_operator.oid AS text) = ANY ($2))
    ORDER BY name`,
    [['funcid', 'aggfnoid', 'winfnoid'].flatMap(called), called('opno')],
  )
  const refused = rows.find(({ name, own, changes }) => !own && (changes || CURIOUS.test(name)))
  return refused ? `the function ${refused.name}` : null
}

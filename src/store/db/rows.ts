/** Writes or selects many rows: SQLite by a prepared statement for each, PostgreSQL by one for all. */
import type { CompiledQuery, Expression, Kysely, RawBuilder, SqlBool } from 'kysely'
import { sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { isPostgres } from './postgres.ts'
import { storableText } from './postgres-driver.ts'
import { batchOf } from './sqlite-driver.ts'

/** Rows as objects that have a value for each column. All rows in a list have the same columns. */
export type Rows<T extends keyof Tables> = readonly Readonly<
  Partial<Record<keyof Tables[T] & string, unknown>>
>[]

/**
 * Inserts all rows or none.
 * @param conflict what happens to a row whose `key` is already stored. The columns in `update` are
 * overwritten: all columns if `update` is absent, none if it is empty
 */
export async function insertRows<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: Rows<T>,
  conflict?: { readonly key: readonly string[]; readonly update?: readonly string[] },
): Promise<void> {
  const first = rows[0]
  if (!first) return
  // The database itself assigns `rowid`, the order of arrival.
  const columns = Object.keys(first).filter((column) => column !== 'rowid')
  if (conflict === undefined) return insertColumns(db, table, columns, rows)
  const { key, update = columns.filter((column) => !key.includes(column)) } = conflict
  const wanted = isPostgres(db) ? onceEach(rows, key, update) : rows
  // Sorts the columns, so that the same columns always give the same statement.
  await insertColumns(db, table, columns, wanted, { key, update: update.toSorted() })
}

/** Inserts rows from another store, all or none, and keeps their order of arrival (`rowid`). */
export async function insertCopies<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const [first] = rows
  if (first) await insertColumns(db, table, Object.keys(first), rows)
}

interface Conflict {
  readonly key: readonly string[]
  readonly update: readonly string[]
}

async function insertColumns(
  db: Kysely<Tables>,
  table: keyof Tables & string,
  columns: readonly string[],
  rows: readonly object[],
  conflict?: Conflict,
): Promise<void> {
  const isJson = isPostgres(db)
  const shape = JSON.stringify([isJson, table, columns, conflict?.key, conflict?.update])
  const query = inserts.get(shape) ?? compileInsert(db, table, columns, conflict)
  if (inserts.size >= INSERTS_MAX) inserts.clear()
  inserts.set(shape, query)
  await db.executeQuery(
    isJson ? { ...query, parameters: [jsonOf(rows)] } : batchOf(query, valuesOf(rows, columns)),
  )
}

/** INSERT statements are kept by their shape, because compiling takes longer than inserting. */
const inserts = new Map<string, CompiledQuery>()
/** The maximum number of compiled statements. When it is reached, all statements are forgotten. */
const INSERTS_MAX = 300

/** Compiles a statement whose parameters are replaced: by a list of values each, or by all rows as JSON. */
function compileInsert(
  db: Kysely<Tables>,
  table: keyof Tables & string,
  columns: readonly string[],
  conflict: Conflict | undefined,
): CompiledQuery {
  const names = sql.join(columns.map((column) => sql.ref(column)))
  const taken = conflict ? onConflict(conflict) : sql``
  const rows = isPostgres(db) ? rowsIn(table, columns, '') : sql`VALUES (${sql.join(columns)})`
  return sql`INSERT INTO ${sql.table(table)} (${names}) ${rows} ${taken}`.compile(db)
}

/** Turns rows as JSON into a query for PostgreSQL, which gives each column the type that it has in the table. */
function rowsIn(table: string, columns: readonly string[], json: string): RawBuilder<unknown> {
  const names = sql.join(columns.map((column) => sql.ref(column)))
  return sql`SELECT ${names} FROM json_populate_recordset(CAST(NULL AS ${sql.table(table)}), ${json})`
}

function jsonOf(rows: readonly object[]): string {
  const json = JSON.stringify(rows, (_, value) =>
    value?.type === 'Buffer' ? `\\x${Buffer.from(value.data).toString('hex')}` : value,
  )
  // The JSON of PostgreSQL takes no NUL and no lone surrogate, which both have become escapes.
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(JSON.parse(json), (_, value) =>
    typeof value === 'string' ? storableText(value) : value,
  )
}

export async function deleteRows<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: Rows<T>,
  key: readonly string[],
): Promise<void> {
  if (rows.length === 0) return
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const wanted = isPostgres(db) ? sql`(${rowsIn(table, key, jsonOf(rows))})` : keysOf(key, rows)
  await sql`DELETE FROM ${sql.table(table)} WHERE (${columns}) IN ${wanted}`.execute(db)
}

/** Makes a subquery for `where x in (...)` of a list of any length. */
export function listOf<T extends string>(values: readonly T[]): Expression<T> {
  return textsIn<T>(JSON.stringify(values))
}

export function numbersOf(values: readonly number[]): Expression<number> {
  return numbersIn(JSON.stringify(values))
}

export function textsIn<T extends string>(json: string): Expression<T> {
  return sql<T>`(SELECT value FROM json_each(${json}))`
}

/**
 * Makes the condition that a column of a view has one of the texts. PostgreSQL reads the whole view for an `IN` with a
 * subquery, and only the rows that it wants for an array.
 */
export function isAmong(db: Kysely<Tables>, column: string, json: string): RawBuilder<SqlBool> {
  const texts = textsIn(json)
  return isPostgres(db) ? sql`${sql.ref(column)} = ANY (ARRAY${texts})` : sql`${sql.ref(column)} IN ${texts}`
}

export function numbersIn(json: string): Expression<number> {
  return sql<number>`(SELECT CAST(value AS bigint) FROM json_each(${json}))`
}

/** Merges rows with the same key as if inserted in order. PostgreSQL cannot update a row twice at once. */
function onceEach(
  rows: readonly object[],
  key: readonly string[],
  update: readonly string[],
): readonly object[] {
  const byKey = new Map<string, object>()
  for (const row of rows) {
    const of = JSON.stringify(key.map((column) => Reflect.get(row, column)))
    const before = byKey.get(of)
    const changes = update.map((column) => [column, Reflect.get(row, column)])
    byKey.set(of, before ? { ...before, ...Object.fromEntries(changes) } : row)
  }
  return [...byKey.values()]
}

/** Yields one row at a time, so that no second copy of all rows is in memory. */
function* valuesOf(rows: readonly object[], columns: readonly string[]): Generator<unknown[]> {
  for (const row of rows) yield columns.map((column) => toValue(Reflect.get(row, column)))
}

/** SQLite would store a plain number as a fraction in a column without a type. */
function toValue(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  return value ?? null
}

function onConflict({ key, update }: Conflict): RawBuilder<unknown> {
  const taken = sql`ON CONFLICT (${sql.join(key.map((column) => sql.ref(column)))})`
  if (update.length === 0) return sql`${taken} DO NOTHING`
  const set = update.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`)
  return sql`${taken} DO UPDATE SET ${sql.join(set)}`
}

function keysOf(columns: readonly string[], rows: readonly object[]): RawBuilder<unknown> {
  const values = columns.map((column) => sql`value ->> ${sql.lit(`$.${column}`)} AS ${sql.ref(column)}`)
  return sql`(SELECT ${sql.join(values)} FROM jsonb_each(${JSON.stringify(rows)}))`
}

/**
 * Replaces stored rows by wanted rows, and writes only the differences. Both lists have the same columns. Rows with
 * the same key are the same row, which may have changed. Only changed columns are written, so that indexes on others
 * are not.
 */
export async function replaceRows<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  key: readonly string[],
  { stored, wanted }: { readonly stored: Rows<T>; readonly wanted: Rows<T> },
): Promise<void> {
  const keyOf = (row: object) => JSON.stringify(key.map((column) => Reflect.get(row, column)))
  const changed = new Set<string>()
  const left = new Map(stored.map((row) => [keyOf(row), row]))
  const written = wanted.filter((row) => {
    const same = left.get(keyOf(row))
    left.delete(keyOf(row))
    if (!same) return true
    const columns = Object.keys(row).filter(
      (column) => Reflect.get(same, column) !== Reflect.get(row, column),
    )
    for (const column of columns) changed.add(column)
    return columns.length > 0
  })
  await deleteRows(db, table, [...left.values()], key)
  await insertRows(db, table, written, { key, update: [...changed] })
}

/** Statements about many rows: to SQLite one that is prepared once and run for each, to PostgreSQL one for them all. */
import type { Expression, Kysely, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { isPostgres } from './postgres.ts'
import { storableText } from './postgres-driver.ts'
import { batchOf } from './sqlite-driver.ts'

/** `{ name: value }` by column, all of the same columns. */
export type Rows<T extends keyof Tables> = readonly Readonly<
  Partial<Record<keyof Tables[T] & string, unknown>>
>[]

/**
 * Inserts rows; all or none.
 * @param conflict what to do where `key` is taken: overwrite the columns of `update` (all if absent, none if empty)
 */
export async function insertRows<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: Rows<T>,
  conflict?: { readonly key: readonly string[]; readonly update?: readonly string[] },
): Promise<void> {
  const first = rows[0]
  if (!first) return
  // The order of arrival is the database's to say.
  const columns = Object.keys(first).filter((column) => column !== 'rowid')
  const { key = [], update = columns.filter((column) => !key.includes(column)) } = conflict ?? {}
  const wanted = conflict && isPostgres(db) ? onceEach(rows, key, update) : rows
  await insertColumns(db, table, columns, wanted, conflict ? onConflict(key, update) : sql``)
}

/** Inserts rows as they are in another store, with the numbers that tell their order of arrival; all or none. */
export async function insertCopies<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const [first] = rows
  if (first) await insertColumns(db, table, Object.keys(first), rows, sql``)
}

async function insertColumns(
  db: Kysely<Tables>,
  table: keyof Tables & string,
  columns: readonly string[],
  rows: readonly object[],
  taken: RawBuilder<unknown>,
): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column)))
  if (isPostgres(db)) {
    await sql`INSERT INTO ${sql.table(table)} (${names}) SELECT ${names} FROM ${recordsOf(table, rows)} ${taken}`.execute(
      db,
    )
    return
  }
  const query =
    sql`INSERT INTO ${sql.table(table)} (${names}) VALUES (${sql.join(columns)}) ${taken}`.compile(db)
  await db.executeQuery(batchOf(query, valuesOf(rows, columns)))
}

/** Deletes the rows that have the key of one of these. */
export async function deleteRows<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: Rows<T>,
  key: readonly string[],
): Promise<void> {
  if (rows.length === 0) return
  const columns = sql.join(key.map((column) => sql.ref(column)))
  const wanted = isPostgres(db) ? sql`(SELECT ${columns} FROM ${recordsOf(table, rows)})` : keysOf(key, rows)
  await sql`DELETE FROM ${sql.table(table)} WHERE (${columns}) IN ${wanted}`.execute(db)
}

/** A list of texts as a subquery, for `where x in (...)` of any length. */
export function listOf<T extends string>(values: readonly T[]): Expression<T> {
  return sql<T>`(SELECT value FROM json_each(${JSON.stringify(values)}))`
}

/** The same of whole numbers. */
export function numbersOf(values: readonly number[]): Expression<number> {
  return sql<number>`(SELECT CAST(value AS bigint) FROM json_each(${JSON.stringify(values)}))`
}

/** One for each key, as if one after the other had gone in: a statement of PostgreSQL may not meet a row twice. */
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

/** Rows as PostgreSQL reads them from one text, each value as its column has it. */
function recordsOf(table: string, rows: readonly object[]): RawBuilder<unknown> {
  return sql`json_populate_recordset(NULL::${sql.table(table)}, ${textOf(rows)}::json) AS record`
}

function textOf(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) => {
    if (typeof value === 'bigint') return Number(value)
    if (typeof value === 'string') return storableText(value)
    return isBytes(value) ? `\\x${Buffer.from(value.data).toString('hex')}` : value
  })
}

/** As a Buffer is written down in JSON. */
function isBytes(value: unknown): value is { readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer'
}

/** One row after the other, so that there is never a second copy of them all. */
function* valuesOf(rows: readonly object[], columns: readonly string[]): Generator<unknown[]> {
  for (const row of rows) yield columns.map((column) => toValue(Reflect.get(row, column)))
}

/** Whole numbers stay whole: a plain one would go in as a fraction where a column takes any type. */
function toValue(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  return value ?? null
}

function onConflict(key: readonly string[], update: readonly string[]): RawBuilder<unknown> {
  const taken = sql`ON CONFLICT (${sql.join(key.map((column) => sql.ref(column)))})`
  if (update.length === 0) return sql`${taken} DO NOTHING`
  const set = update.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`)
  return sql`${taken} DO UPDATE SET ${sql.join(set)}`
}

/** Some columns of rows as a subquery, for `where (x, y) in ...`. */
function keysOf(columns: readonly string[], rows: readonly object[]): RawBuilder<unknown> {
  const values = columns.map((column) => sql`value ->> ${sql.lit(`$.${column}`)} AS ${sql.ref(column)}`)
  return sql`(SELECT ${sql.join(values)} FROM jsonb_each(${JSON.stringify(rows)}))`
}

/* Which rows to write so that a table has these and no other: most of what is made anew is stored already. */

/** Rows have the same columns in both; two of the same key are the same row, perhaps changed. */
export function rowDifference<T extends object>(
  stored: readonly T[],
  wanted: readonly T[],
  keyOf: (row: T) => string,
): { written: T[]; gone: T[] } {
  const left = new Map(stored.map((row) => [keyOf(row), row]))
  const written = wanted.filter((row) => {
    const same = left.get(keyOf(row))
    left.delete(keyOf(row))
    return !same || Object.entries(row).some(([column, value]) => Reflect.get(same, column) !== value)
  })
  return { written, gone: [...left.values()] }
}

/** The name of a table or column inside SQL that is put together: names cannot be bound. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

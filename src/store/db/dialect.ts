/** Operations that SQLite and PostgreSQL each do in their own way. */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { countUnknownTables, isPostgres, writeUnflushedPostgres } from './postgres.ts'
import { emptySqliteLog, writeUnflushedSqlite } from './sqlite.ts'

export function writeUnflushed<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return isPostgres(db) ? writeUnflushedPostgres(db, work) : writeUnflushedSqlite(db, work)
}

/**
 * Tidies up after many writes. SQLite returns the disk space of its write-ahead log. PostgreSQL analyzes the
 * tables that have no statistics yet. Otherwise PostgreSQL would plan queries badly until autovacuum analyzes
 * these tables after a minute.
 */
export async function tidyAfterWrites(db: Kysely<Tables>): Promise<void> {
  await (isPostgres(db) ? countUnknownTables(db) : emptySqliteLog(db))
}

/** Makes SQLite use the index. Empty for PostgreSQL, which chooses indexes by its statistics. */
export function indexedBy(db: Kysely<Tables>, index: string): RawBuilder<unknown> {
  return isPostgres(db) ? sql`` : sql`INDEXED BY ${sql.ref(index)}`
}

/** SQLite uses the caller's `now`; PostgreSQL uses its server's clock, the same for all machines. */
export function clockOf(db: Kysely<Tables>, now: Date, plusMs = 0): RawBuilder<string> {
  if (!isPostgres(db)) return sql`${new Date(now.getTime() + plusMs).toISOString()}`
  // Calls no function of the store, because each call would take longer than renewing a lease does.
  return sql`to_char(clock_timestamp() AT TIME ZONE 'UTC' + CAST(${`${plusMs} milliseconds`} AS interval),
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

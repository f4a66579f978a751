/** What both databases do, each in its own way. */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import { countUnknownTables, isPostgres, writeUnflushedPostgres } from './postgres.ts'
import { emptySqliteLog, readSqliteStamp, writeUnflushedSqlite } from './sqlite.ts'

/** A transaction whose commit does not wait for the disk. */
export function writeUnflushed<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return isPostgres(db) ? writeUnflushedPostgres(db, work) : writeUnflushedSqlite(db, work)
}

/**
 * After many writes: SQLite gives back what they took on the disk; PostgreSQL comes to know how much is in tables of
 * which it has no idea yet, since by itself it would look only after a minute, and go the wrong way until then.
 */
export async function settleWrites(db: Kysely<Tables>): Promise<void> {
  await (isPostgres(db) ? countUnknownTables(db) : emptySqliteLog(db))
}

/** Behind a table: SQLite is told which index to use, PostgreSQL counts what there is and chooses itself. */
export function indexedBy(db: Kysely<Tables>, index: string): RawBuilder<unknown> {
  return isPostgres(db) ? sql`` : sql`INDEXED BY ${sql.ref(index)}`
}

/**
 * The instant so many milliseconds from now: of a file by the clock of who asks, which is passed in; in PostgreSQL by
 * that of its server, which is the same for all machines.
 */
export function clockOf(db: Kysely<Tables>, now: Date, plusMs = 0): RawBuilder<string> {
  if (!isPostgres(db)) return sql`${new Date(now.getTime() + plusMs).toISOString()}`
  return sql`strftime('%Y-%m-%dT%H:%M:%fZ', CAST(clock_timestamp() AS text), ${`${plusMs} milliseconds`})`
}

/** Another text whenever anything was written since, by this process or another. */
export async function readChangeStamp(db: Kysely<Tables>): Promise<string> {
  if (!isPostgres(db)) return readSqliteStamp(db)
  const { rows } = await sql<{ stamp: string }>`SELECT CAST(pg_current_snapshot() AS text) AS stamp`.execute(
    db,
  )
  return rows[0]?.stamp ?? ''
}

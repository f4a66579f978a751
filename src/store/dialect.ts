/** What both databases do, each in its own way. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { isPostgres, writeUnflushedPostgres } from './postgres.ts'
import { emptySqliteLog, readSqliteStamp, writeUnflushedSqlite } from './sqlite.ts'
import type { Tables } from './tables.ts'

/** A transaction whose commit does not wait for the disk. */
export function writeUnflushed<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return isPostgres(db) ? writeUnflushedPostgres(db, work) : writeUnflushedSqlite(db, work)
}

/** Gives back what many writes took on the disk; PostgreSQL sees to that itself. */
export async function emptyLog(db: Kysely<Tables>): Promise<void> {
  if (!isPostgres(db)) await emptySqliteLog(db)
}

/** Another text whenever anything was written since, by this process or another. */
export async function readChangeStamp(db: Kysely<Tables>): Promise<string> {
  if (!isPostgres(db)) return readSqliteStamp(db)
  const { rows } = await sql<{ stamp: string }>`SELECT CAST(pg_current_snapshot() AS text) AS stamp`.execute(
    db,
  )
  return rows[0]?.stamp ?? ''
}

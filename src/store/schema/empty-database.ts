/** The present schema without any row, in memory: what it says of tables, views and columns holds for either database. */
import Database from 'better-sqlite3'
import { Kysely } from 'kysely'
import { dialectOf } from '../db/sqlite-driver.ts'
import type { Tables } from '../tables/tables.ts'
import { migrate } from './migrate.ts'

/** One row of `sqlite_schema`. */
export interface SqliteObject {
  readonly type: string
  readonly name: string
  readonly table: string
  readonly sql: string
}

/** Closed by whoever opened it. */
export async function openEmptyDatabase(): Promise<Database.Database> {
  const database = new Database(':memory:')
  await migrate(new Kysely<Tables>({ dialect: dialectOf(database, () => null) }), ':memory:')
  return database
}

/** In the order in which they were made. */
export function listObjects(database: Database.Database): SqliteObject[] {
  return database
    .prepare<[], SqliteObject>(
      `SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid`,
    )
    .all()
}

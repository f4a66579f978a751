/** One moment of the store: what is read in it fits together, though a sync may be writing meanwhile. */
import { sql } from 'kysely'
import { isPostgres } from '../db/postgres.ts'
import type { Db } from '../db/store.ts'
import type { RelationName } from './relation-parts.ts'

export interface Moment {
  readonly db: Db
  /** Relations that stand in it as temporary tables, and need not be computed for each query. */
  readonly given: ReadonlySet<RelationName>
}

/** @param db not one inside a transaction */
export async function atOneMoment<T>(db: Db, read: (moment: Moment) => Promise<T>): Promise<T> {
  return db.connection().execute(async (one) => {
    await (isPostgres(one) ? sql`BEGIN ISOLATION LEVEL REPEATABLE READ` : sql`BEGIN`).execute(one)
    try {
      // A list of leads that does not fit is looked through from its beginning for each lead.
      if (isPostgres(one)) await sql`SET LOCAL work_mem = '128MB'`.execute(one)
      return await read({ db: one, given: new Set() })
    } finally {
      await sql`COMMIT`.execute(one)
    }
  })
}

/** What fails leaves the moment as it was, so that more can be read in it. */
export async function readPart<T>({ db }: Moment, read: () => Promise<T>): Promise<T> {
  await sql`SAVEPOINT part`.execute(db)
  try {
    return await read()
  } catch (thrown) {
    await sql`ROLLBACK TO part`.execute(db)
    throw thrown
  } finally {
    await sql`RELEASE part`.execute(db)
  }
}

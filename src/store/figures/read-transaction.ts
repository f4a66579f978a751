/**
 * A consistent read of the database: all queries in one transaction see the same state, although a sync may
 * be writing meanwhile.
 */
import { sql } from 'kysely'
import type { LeadFilter } from '../../domain/figures.ts'
import type { Instant } from '../../domain/model.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db } from '../db/store.ts'
import type { RelationName } from './relation-parts.ts'

export interface Moment {
  readonly db: Db
  /**
   * The relations that exist as temporary tables, and need not be computed for each query. Each serves queries
   * with the same filter and the same end of the period; with null, any period.
   */
  readonly given: ReadonlyMap<RelationName, Given | null>
}

interface Given {
  readonly to: Instant
  readonly filter: LeadFilter
  /** The temporary table, with the name of its schema. */
  readonly table: string
}

/**
 * Runs `read` in one transaction.
 * @param db must not be inside a transaction
 */
export async function atOneMoment<T>(db: Db, read: (moment: Moment) => Promise<T>): Promise<T> {
  return db.connection().execute(async (one) => {
    await (isPostgres(one) ? sql`BEGIN ISOLATION LEVEL REPEATABLE READ` : sql`BEGIN`).execute(one)
    try {
      // Gives PostgreSQL more memory. Otherwise PostgreSQL would read a list of leads again for each lead
      // when the list exceeds its memory.
      if (isPostgres(one)) await sql`SET LOCAL work_mem = '128MB'`.execute(one)
      return await read({ db: one, given: new Map() })
    } finally {
      await sql`COMMIT`.execute(one)
    }
  })
}

/** Reads within a savepoint, so that after a failure the transaction can still be read from. */
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

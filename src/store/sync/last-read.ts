/** When each resource of the upstream was last read to its end, by the runs that did. */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db } from '../db/store.ts'

export type Resource = 'leads' | 'stats' | 'agents'

export interface Reading {
  /** Everything that changed before is in the copy. */
  readonly asOf: Instant
  /** When the run ended that read it, or began that was killed; null while it goes on with what comes after. */
  readonly endedAt: Instant | null
}

const ENDED_AT = sql<Instant | null>`coalesce(finished_at, iif(outcome = 'killed', started_at, NULL))`

/** Statistics and agents count as read, too, where the upstream was found to have none any more. Null for never. */
export async function findLastReading(db: Db, resource: Resource): Promise<Reading | null> {
  const runs = db.selectFrom('sync_run').select(ENDED_AT.as('endedAt')).limit(1)
  // The order in which they were begun, whatever the clock said then.
  const newest = runs.orderBy(sql`rowid`, 'desc')
  if (resource === 'leads') {
    const whole = newest.where('leads_as_of', 'is not', null).select(sql<Instant>`leads_as_of`.as('asOf'))
    return (await whole.executeTakeFirst()) ?? null
  }
  const readings = resource === 'stats' ? 'pipeline_stat' : 'agent'
  const read = newest
    // Not as EXISTS: SQLite would make a join of it, and read all runs to put them in order.
    .where(({ eb, selectFrom }) => eb(selectFrom(readings).select('observed_at').limit(1), 'is not', null))
    .where(({ or, eb }) => or([eb(resource, '>', 0), eb('outcome', 'in', ['ok', 'ok_no_change'])]))
    .where(sql<boolean>`EXISTS (SELECT 1 FROM json_each(parts) WHERE value = ${resource})`)
    .select('started_at as asOf')
  return (await read.executeTakeFirst()) ?? null
}

/** What the next incremental scan starts from, and the instant before which the upstream wants no request. */

import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'

const RESOURCE = 'lead'

export async function readWatermark(
  db: Db,
): Promise<{ updatedAt: Instant | null; notBefore: Instant | null }> {
  const row = await db
    .selectFrom('sync_watermark')
    .where('resource', '=', RESOURCE)
    .selectAll()
    .executeTakeFirst()
  return { updatedAt: row?.updated_at || null, notBefore: row?.not_before ?? null }
}

export async function saveWatermark(trx: Trx, updatedAt: Instant): Promise<void> {
  await trx
    .insertInto('sync_watermark')
    .values({ resource: RESOURCE, updated_at: updatedAt, not_before: null })
    .onConflict((conflict) => conflict.column('resource').doUpdateSet({ updated_at: updatedAt }))
    .execute()
}

/** Null when nothing stands against a request. */
export async function saveNotBefore(trx: Trx, notBefore: Instant | null): Promise<void> {
  await trx
    .insertInto('sync_watermark')
    .values({ resource: RESOURCE, updated_at: '', not_before: notBefore })
    .onConflict((conflict) => conflict.column('resource').doUpdateSet({ not_before: notBefore }))
    .execute()
}

/* By which profile the copy was last read from one end to the other. */

/** Null before the first whole reading. */
export async function findProfileHash(db: Db): Promise<string | null> {
  const row = await db.selectFrom('upstream_profile').select('sha256').executeTakeFirst()
  return row?.sha256 ?? null
}

/** When a reading by another profile than before had ended; null before the first whole one. */
export async function findProfileSince(db: Db): Promise<Instant | null> {
  const row = await db.selectFrom('upstream_profile').select('since').executeTakeFirst()
  return row?.since ?? null
}

export async function saveProfileHash(trx: Trx, sha256: string, at: Instant): Promise<void> {
  await trx
    .insertInto('upstream_profile')
    .values({ id: 1, sha256, since: at })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ sha256, since: at }).where('upstream_profile.sha256', '<>', sha256),
    )
    .execute()
}

/* When each resource of the upstream was last read to its end, by the runs that did. */

export type Resource = 'leads' | 'stats' | 'agents'

export interface LastRead {
  /** Everything that changed before is in the copy. */
  readonly asOf: Instant
  /** When the run ended that read it, or began that was killed; null while it goes on with what comes after. */
  readonly endedAt: Instant | null
}

const ENDED_AT = sql<Instant | null>`coalesce(finished_at, iif(outcome = 'killed', started_at, NULL))`

/** Statistics and agents count as read, too, where the upstream was found to have none any more. Null for never. */
export async function findLastRead(db: Db, resource: Resource): Promise<LastRead | null> {
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

/** The last state of each record that could not be mapped, kept with the reason until it can be. */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Instant, QuarantinedRecord } from '../../domain/model.ts'
import { modelsIn } from '../db/model.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'

/** A record with an id replaces its earlier state. Equal records are saved once. */
export async function saveQuarantinedRecords(
  trx: Trx,
  quarantined: readonly QuarantinedRecord[],
  at: Instant,
): Promise<void> {
  const rows = quarantined.map((row) => ({
    resource: row.resource,
    record_id: row.id,
    raw_sha256: createHash('sha256').update(row.raw).digest('hex'),
    reason: row.reason,
    raw: row.raw,
    is_whole: row.isWhole ? 1 : 0,
    first_seen_at: at,
    last_seen_at: at,
  }))
  for (const [resource, some] of Map.groupBy(rows, (row) => row.resource)) {
    const ids = some.flatMap((row) => row.record_id ?? [])
    const hashes = some.map((row) => row.raw_sha256)
    await releaseQuarantinedRecords(trx, resource, ids, hashes)
  }
  await insertRows(trx, 'quarantined_record', rows, {
    key: ['resource', 'raw_sha256'],
    update: ['reason', 'last_seen_at'],
  })
}

/** Deletes the quarantined records with these ids, but not those with the hashes in `kept`. */
export async function releaseQuarantinedRecords(
  trx: Trx,
  resource: QuarantinedRecord['resource'],
  ids: readonly string[],
  kept: readonly string[] = [],
): Promise<void> {
  if (ids.length === 0) return
  await trx
    .deleteFrom('quarantined_record')
    .where('resource', '=', resource)
    .where('record_id', 'in', listOf(ids))
    .where('raw_sha256', 'not in', listOf(kept))
    .execute()
}

export async function countQuarantinedRecords(db: Db): Promise<number> {
  const row = await db
    .selectFrom('quarantined_record')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** `recordId` is the id of the record; for an activity, the id of its lead; null where the id cannot be read. */
export async function listLastQuarantined(db: Db, limit: number) {
  return modelsIn(db)
    .selectFrom('quarantined_record')
    .select(['resource', 'recordId', 'reason', 'firstSeenAt', 'lastSeenAt'])
    .orderBy('lastSeenAt', 'desc')
    .orderBy('resource')
    .limit(limit)
    .execute()
}

/** `reason` is that of the last quarantined record of the kind. */
export async function countQuarantinedSince(db: Db, since: Instant) {
  const { rows } = await sql<{ resource: QuarantinedRecord['resource']; records: number; reason: string }>`
    SELECT resource, count(*) AS records, (SELECT reason FROM quarantined_record AS last
      WHERE last.resource = each.resource ORDER BY last_seen_at DESC LIMIT 1) AS reason
    FROM quarantined_record AS each WHERE last_seen_at >= ${since} GROUP BY resource`.execute(db)
  return rows
}

export async function hasQuarantinedLeads(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('quarantined_record')
    .where('resource', '=', 'lead')
    .where('record_id', 'is not', null)
    .select('raw_sha256')
    .executeTakeFirst()
  return row !== undefined
}

/** Tells whether any lead without a readable id was quarantined since an instant. */
export async function hasNamelessLeads(db: Db, since: Instant): Promise<boolean> {
  const row = await db
    .selectFrom('quarantined_record')
    .where('resource', '=', 'lead')
    .where('record_id', 'is', null)
    .where('last_seen_at', '>=', since)
    .select('raw_sha256')
    .executeTakeFirst()
  return row !== undefined
}

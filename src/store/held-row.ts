/** Records that could not be mapped: kept whole, once each, with the reason, until they can. */
import { createHash } from 'node:crypto'
import type { HeldRow, Instant } from '../model.ts'
import type { Db, Trx } from './open.ts'
import { insertRows, listOf } from './sqlite.ts'

/** A later state of the same record takes the place of the earlier one. */
export async function saveHeldRows(trx: Trx, held: readonly HeldRow[], at: Instant): Promise<void> {
  const rows = held.map((row) => ({
    resource: row.resource,
    raw_sha256: createHash('sha256').update(row.raw).digest('hex'),
    record_id: row.id,
    reason: row.reason,
    raw: row.raw,
    is_whole: row.isWhole ? 1 : 0,
    first_seen_at: at,
    last_seen_at: at,
  }))
  for (const row of rows) {
    if (row.record_id === null) continue
    await trx
      .deleteFrom('held_row')
      .where('resource', '=', row.resource)
      .where('record_id', '=', row.record_id)
      .where('raw_sha256', '<>', row.raw_sha256)
      .execute()
  }
  await insertRows(trx, 'held_row', rows, {
    key: ['resource', 'raw_sha256'],
    update: ['reason', 'last_seen_at'],
  })
}

/** Forgets the held states of records that have been mapped since. */
export async function releaseHeldRows(
  trx: Trx,
  resource: HeldRow['resource'],
  ids: readonly string[],
): Promise<void> {
  await trx
    .deleteFrom('held_row')
    .where('resource', '=', resource)
    .where('record_id', 'in', listOf(ids))
    .execute()
}

export async function deleteHeldRow(trx: Trx, resource: HeldRow['resource'], sha256: string): Promise<void> {
  await trx.deleteFrom('held_row').where('resource', '=', resource).where('raw_sha256', '=', sha256).execute()
}

/** The held records of a kind that are kept whole, in order of their hash, some at a time. */
export async function listHeldRows(
  db: Db,
  resource: HeldRow['resource'],
  afterSha256: string,
  limit: number,
): Promise<{ raw_sha256: string; raw: string }[]> {
  return db
    .selectFrom('held_row')
    .where('resource', '=', resource)
    .where('is_whole', '=', 1)
    .where('raw_sha256', '>', afterSha256)
    .orderBy('raw_sha256')
    .limit(limit)
    .select(['raw_sha256', 'raw'])
    .execute()
}

export async function countHeldRows(db: Db): Promise<number> {
  const row = await db
    .selectFrom('held_row')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** Records that could not be mapped: kept whole, once each, with the reason. */
import { createHash } from 'node:crypto'
import type { HeldRow, Instant } from '../model.ts'
import type { Db, Trx } from './open.ts'
import { insertRows } from './sqlite.ts'

export async function saveHeldRows(trx: Trx, held: readonly HeldRow[], at: Instant): Promise<void> {
  const rows = held.map((row) => ({
    resource: row.resource,
    raw_sha256: createHash('sha256').update(row.raw).digest('hex'),
    reason: row.reason,
    raw: row.raw,
    first_seen_at: at,
    last_seen_at: at,
  }))
  await insertRows(trx, 'held_row', rows, {
    key: ['resource', 'raw_sha256'],
    update: ['reason', 'last_seen_at'],
  })
}

export async function countHeldRows(db: Db): Promise<number> {
  const row = await db
    .selectFrom('held_row')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** The last that the dead-man switch was to be told, and whether it knows. */
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { PingTable } from '../tables/alert-tables.ts'

export type PingSignal = PingTable['signal']

export interface Ping {
  /** Of the sync. */
  readonly runId: string
  readonly signal: PingSignal
  readonly attempts: number
  /** Null where it knows. */
  readonly nextAttemptAt: Instant | null
  /** What it said last, or why there is no answer. */
  readonly response: string | null
}

export async function findPing(db: Db): Promise<Ping | undefined> {
  const row = await db.selectFrom('ping').selectAll().executeTakeFirst()
  return (
    row && {
      runId: row.run_id,
      signal: row.signal,
      attempts: row.attempts,
      nextAttemptAt: row.next_attempt_at,
      response: row.response,
    }
  )
}

export async function savePing(trx: Trx, ping: Ping): Promise<void> {
  const row = {
    run_id: ping.runId,
    signal: ping.signal,
    attempts: ping.attempts,
    next_attempt_at: ping.nextAttemptAt,
    response: ping.response,
  }
  await trx
    .insertInto('ping')
    .values({ id: 1, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}

/** The last ping to the heartbeat monitor, and whether the monitor accepted it. */
import type { Instant } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { HeartbeatPingTable } from '../tables/outbox-tables.ts'

export type HeartbeatSignal = HeartbeatPingTable['signal']

export interface HeartbeatPing {
  /** The id of the sync run. */
  readonly runId: string
  readonly signal: HeartbeatSignal
  readonly attempts: number
  /** Is null where the monitor has accepted the ping. */
  readonly nextAttemptAt: Instant | null
  /** The last answer, or the reason why there was none. */
  readonly response: string | null
}

export async function findHeartbeatPing(db: Db): Promise<HeartbeatPing | undefined> {
  const row = await db.selectFrom('heartbeat_ping').selectAll().executeTakeFirst()
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

export async function upsertHeartbeatPing(trx: Trx, ping: HeartbeatPing): Promise<void> {
  const row = {
    run_id: ping.runId,
    signal: ping.signal,
    attempts: ping.attempts,
    next_attempt_at: ping.nextAttemptAt,
    response: ping.response,
  }
  await trx
    .insertInto('heartbeat_ping')
    .values({ id: 1, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute()
}

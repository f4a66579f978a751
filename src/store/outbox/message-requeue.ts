/** Messages that a person decided about: to be sent again under the same Message-ID, or known to be done with. */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Trx } from '../db/store.ts'
import { DOUBTS_MAX } from './delivery.ts'

/** What a person found out about a message unconfirmed. */
export type Finding = 'arrived' | 'lost'

/**
 * A message that has failed or is unconfirmed is to be sent again, with all attempts before it; unconfirmed once more, it is
 * left to a person again.
 * @returns false where it is in another state
 */
export async function requeueMessage(trx: Trx, messageId: string, at: Instant): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('delivery')
    .where('message_id', '=', messageId)
    .where('state', 'in', ['failed', 'unconfirmed'])
    .set({
      state: 'pending',
      state_at: at,
      next_attempt_at: at,
      attempts: 0,
      put_off_at: null,
      doubts: sql<number>`min(doubts, ${DOUBTS_MAX - 1})`,
    })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** @returns false where it is not unconfirmed */
export async function settleMessage(
  trx: Trx,
  messageId: string,
  finding: Finding,
  at: Instant,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('delivery')
    .where('message_id', '=', messageId)
    .where('state', '=', 'unconfirmed')
    .set({
      state: finding === 'arrived' ? 'sent' : 'failed',
      state_at: at,
      next_attempt_at: null,
      reply_code: null,
      response: `settled by hand: it ${finding === 'arrived' ? 'arrived' : 'did not arrive'}`,
    })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Messages that a person decided about: to be sent again under the same Message-ID, or known to be done with. */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import type { Trx } from '../db/store.ts'
import type { PreferenceKey } from '../reports/preference.ts'
import { findPreference } from '../reports/preference.ts'
import type { DeliveryTable } from '../tables/outbox-tables.ts'
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

/*
 * Messages of somebody who wants no more of a report: what has not gone out by then never does, be it that the message
 * waits already, or comes into the ledger only after the choice.
 */

/** One that is just leaving cannot be held back; where that fails, the next attempt finds the choice. */
const WAITING: readonly DeliveryTable['state'][] = ['pending', 'unconfirmed']
const WHY = 'its recipient wanted no more of this report'

/**
 * To be called with the choice, in its transaction.
 * @returns how many messages waited
 */
export async function withdrawMessages(
  trx: Trx,
  { address, report }: PreferenceKey,
  at: Instant,
): Promise<number> {
  const waiting = await trx
    .selectFrom('delivery')
    .innerJoin('report_issue', 'report_issue.id', 'delivery.issue_id')
    .where('report_issue.report', '=', report)
    .where('next_attempt_at', 'is not', null)
    .where('state', 'in', WAITING)
    .select(['message_id', 'recipient', 'state'])
    .execute()
  const theirs = waiting.filter(({ recipient }) => recipient.toLowerCase() === address.toLowerCase())
  for (const message of theirs) await withdraw(trx, message, at)
  return theirs.length
}

/**
 * To be called in the transaction in which a message is about to be sent.
 * @returns whether it must not be, and has been withdrawn
 */
export async function withdrawIfUnwanted(trx: Trx, messageId: string, at: Instant): Promise<boolean> {
  const message = await trx
    .selectFrom('delivery')
    .innerJoin('report_issue', 'report_issue.id', 'delivery.issue_id')
    .where('message_id', '=', messageId)
    .select(['message_id', 'recipient', 'report', 'state'])
    .executeTakeFirst()
  // An alert to operators belongs to no report.
  if (message === undefined) return false
  const { recipient: address, report } = message
  const preference = await findPreference(trx, { address, report })
  if (preference === undefined || preference.state === 'active') return false
  await withdraw(trx, message, at)
  return true
}

/** One that may have arrived stays unconfirmed, and is only not tried again. */
async function withdraw(
  trx: Trx,
  { message_id, state }: Pick<DeliveryTable, 'message_id' | 'state'>,
  at: Instant,
): Promise<void> {
  await trx
    .updateTable('delivery')
    .where('message_id', '=', message_id)
    .set({
      next_attempt_at: null,
      ...(state === 'pending' ? { state: 'withdrawn', state_at: at, response: WHY } : {}),
    })
    .execute()
}

/**
 * Carries out what a person has decided about a message. An operator can send the message again, or resolve
 * it as delivered or lost, or cancel it while it waits. A message is withdrawn too when its recipient
 * unsubscribes or is no longer in the settings.
 */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import type { Trx } from '../db/store.ts'
import type { PreferenceKey } from '../reports/preference.ts'
import { findPreference } from '../reports/preference.ts'
import type { Row } from '../tables/tables.ts'
import { UNCONFIRMED_MAX } from './delivery.ts'

/** A person's finding about an unconfirmed message. */
export type Finding = 'arrived' | 'lost'

/**
 * Queues a failed or unconfirmed message again, with a new count of attempts. If the message becomes
 * unconfirmed again, it waits for a person again.
 * @returns false if the message has another state
 */
export async function requeueMessage(trx: Trx, messageId: string, at: Instant): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('delivery')
    .where('message_id', '=', messageId)
    .where('state', 'in', ['failed', 'unconfirmed', 'withdrawn', 'bounced'])
    .set({
      state: 'pending',
      state_at: at,
      next_attempt_at: at,
      // A server that recognises messages takes this one for another. Where nobody knows whether it has the
      // message, it is to recognise it.
      queued_at: sql<string>`iif(unconfirmed_count = 0, ${at}, queued_at)`,
      attempts: 0,
      is_refusal: 0,
      alike: null,
      deferred_at: null,
      unconfirmed_count: sql<number>`min(unconfirmed_count, ${UNCONFIRMED_MAX - 1})`,
    })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Resolves an unconfirmed message as delivered or lost.
 * @returns false if the message is not unconfirmed
 */
export async function resolveMessage(
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
      is_refusal: 0,
      response: `resolved by hand: ${finding === 'arrived' ? 'delivered' : 'lost'}`,
    })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * The states in which a message can be withdrawn. A message that is being sent cannot be withdrawn. If it
 * needs another attempt, the recipient's preference is checked again before that attempt.
 */
const WAITING: readonly Row<'delivery'>['state'][] = ['pending', 'unconfirmed']
const UNWANTED = 'its recipient was paused or has unsubscribed when it was to be sent'
const GONE = 'its recipient is no longer in the settings'

/**
 * Withdraws the waiting messages of a recipient who has unsubscribed from a report. Must be called in the
 * transaction that saves the preference.
 * @returns the number of messages that were withdrawn
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
    .where('revision', '>=', 0)
    .select(['message_id', 'recipient', 'state'])
    .execute()
  const theirs = waiting.filter(({ recipient }) => recipient.toLowerCase() === address.toLowerCase())
  for (const message of theirs) await withdraw(trx, message, UNWANTED, at)
  return theirs.length
}

/**
 * Withdraws a message whose recipient has unsubscribed from its report, or has left the settings. Must be called
 * in the transaction that begins to send the message, because the message may have been queued after the
 * recipient unsubscribed, and the settings may have changed while it waited.
 * @param isRecipient tells whether the settings name an address for a report, or for alerts if it is null
 * @returns whether the message was withdrawn and must not be sent
 */
export async function withdrawIfUnwanted(
  trx: Trx,
  messageId: string,
  isRecipient: (address: string, report: string | null) => boolean,
  at: Instant,
): Promise<boolean> {
  const message = await trx
    .selectFrom('delivery')
    .leftJoin('report_issue', 'report_issue.id', 'delivery.issue_id')
    .where('message_id', '=', messageId)
    .select(['message_id', 'recipient', 'report', 'state', 'revision'])
    .executeTakeFirst()
  // A recipient who has unsubscribed still gets the message that confirms it.
  if (message === undefined || message.revision < 0) return false
  const { recipient: address, report } = message
  if (!isRecipient(address, report)) {
    await withdraw(trx, message, GONE, at)
    return true
  }
  // An alert to operators belongs to no report, so nobody can unsubscribe from it.
  if (report === null) return false
  const preference = await findPreference(trx, { address, report })
  if (preference === undefined || preference.state === 'active') return false
  await withdraw(trx, message, UNWANTED, at)
  return true
}

/**
 * Cancels a waiting message at an operator's request.
 * @returns false if the message does not wait any more
 */
export async function cancelMessage(trx: Trx, messageId: string, at: Instant): Promise<boolean> {
  const message = await trx
    .selectFrom('delivery')
    .where('message_id', '=', messageId)
    .where('next_attempt_at', 'is not', null)
    .where('state', 'in', WAITING)
    .select(['message_id', 'state'])
    .executeTakeFirst()
  if (message === undefined) return false
  await withdraw(trx, message, 'cancelled by the operator', at)
  return true
}

/**
 * Withdraws a message. An unconfirmed message may have arrived, so it keeps its state but is not sent again.
 */
async function withdraw(
  trx: Trx,
  { message_id, state }: Pick<Row<'delivery'>, 'message_id' | 'state'>,
  why: string,
  at: Instant,
): Promise<void> {
  await trx
    .updateTable('delivery')
    .where('message_id', '=', message_id)
    .set({
      next_attempt_at: null,
      ...(state === 'pending' ? { state: 'withdrawn', state_at: at, response: why } : {}),
    })
    .execute()
}

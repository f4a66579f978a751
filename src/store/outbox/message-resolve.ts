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
import { moveDelivery, UNCONFIRMED_MAX } from './delivery.ts'

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
export function resolveMessage(trx: Trx, messageId: string, finding: Finding, at: Instant): Promise<boolean> {
  const isArrived = finding === 'arrived'
  const response = `resolved by hand: ${isArrived ? 'delivered' : 'lost'}`
  const state = isArrived ? 'sent' : 'failed'
  const to = { state, at, nextAttemptAt: null, replyCode: null, isRefusal: false, response } as const
  return moveDelivery(trx, messageId, ['unconfirmed'], to)
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
    .select(['message_id', 'recipient'])
    .execute()
  const theirs = waiting.filter(({ recipient }) => recipient.toLowerCase() === address.toLowerCase())
  for (const { message_id } of theirs) await withdraw(trx, message_id, UNWANTED, at)
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
    .select(['recipient', 'report', 'revision'])
    .executeTakeFirst()
  // A recipient who has unsubscribed still gets the message that confirms it.
  if (message === undefined || message.revision < 0) return false
  const { recipient: address, report } = message
  const isKnown = isRecipient(address, report)
  // An alert to operators belongs to no report, so nobody can unsubscribe from it.
  const preference = isKnown && report !== null ? await findPreference(trx, { address, report }) : undefined
  if (isKnown && (preference?.state ?? 'active') === 'active') return false
  return withdraw(trx, messageId, isKnown ? UNWANTED : GONE, at)
}

/**
 * Cancels a waiting message at an operator's request.
 * @returns false if the message does not wait any more
 */
export function cancelMessage(trx: Trx, messageId: string, at: Instant): Promise<boolean> {
  return withdraw(trx, messageId, 'cancelled by the operator', at)
}

/**
 * Withdraws a message that waits. An unconfirmed message may have arrived, so it keeps its state but is not sent
 * again.
 */
async function withdraw(trx: Trx, messageId: string, why: string, at: Instant): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('delivery')
    .where('message_id', '=', messageId)
    .where('next_attempt_at', 'is not', null)
    .where('state', 'in', WAITING)
    .set({
      next_attempt_at: null,
      state: sql<Row<'delivery'>['state']>`iif(state = 'pending', 'withdrawn', state)`,
      state_at: sql<string>`iif(state = 'pending', ${at}, state_at)`,
      response: sql<string>`iif(state = 'pending', ${why}, response)`,
    })
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * The states of messages. Each step of sending is committed before the next begins, so that a crash at any
 * point leaves a true state:
 *
 * pending: to be sent
 * sending: the connection is open; no part of the body was sent
 * data: the body is being sent
 * sent: the server has accepted the message
 * failed: refused permanently or given up
 * unconfirmed: the connection or the process was lost in `data`; the message may have arrived
 * withdrawn: not sent, because the recipient unsubscribed or left the settings, or an operator cancelled it
 * bounced: accepted by the server, and returned later by it or by another one
 * complained: accepted by the server, and reported as spam by its recipient
 */
import { sql } from 'kysely'
import type { Message } from '../../domain/message.ts'
import type { Instant } from '../../domain/model.ts'
import { type Model, modelsIn } from '../db/model.ts'
import type { Db, Trx } from '../db/store.ts'
import { addToPack, createMessagePack, insertMessage, keepFiles, type MessagePack } from './stored-message.ts'

/** The name of the lease (an expiring lock) of the process that sends messages. */
export const SENDER_LEASE = 'delivery'

export type DeliveryRowState = Delivery['state']

/** A message that was unconfirmed this many times is not sent again until a person decides. */
export const UNCONFIRMED_MAX = 2

/** The state of sending a message. The module `store/outbox/stored-message.ts` stores the message itself. */
export type Delivery = Model<'delivery'>

/**
 * Queues one message. A message already queued under the same Message-ID stays unchanged.
 * @param issueId null for an alert to an operator
 */
export async function enqueueMessage(
  trx: Trx,
  issueId: string | null,
  message: Message,
  at: Instant,
  revision = 0,
): Promise<void> {
  const pack = createMessagePack()
  addToPack(pack, message)
  await enqueueMessages(trx, { issueId, revision }, pack, at)
}

/**
 * Queues messages. A message already queued for the same issue, recipient and revision, or under the same
 * Message-ID, stays unchanged.
 * @returns the number of new messages
 */
export async function enqueueMessages(
  trx: Trx,
  { issueId, revision }: Pick<Delivery, 'issueId' | 'revision'>,
  pack: MessagePack,
  at: Instant,
): Promise<number> {
  let count = 0
  for (const message of pack.messages) {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('delivery')
      .values({
        message_id: message.messageId,
        issue_id: issueId,
        recipient: message.recipient,
        revision,
        state: 'pending',
        queued_at: at,
        state_at: at,
        next_attempt_at: at,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows !== 1n) continue
    await insertMessage(trx, message)
    count++
  }
  if (count > 0) await keepFiles(trx, pack)
  return count
}

/** Leaves out the messages that confirm that a recipient has unsubscribed. */
export function listDeliveries(db: Db, issueId: string): Promise<Delivery[]> {
  return modelsIn(db)
    .selectFrom('delivery')
    .where('issueId', '=', issueId)
    .where('revision', '>=', 0)
    .selectAll()
    .orderBy('recipient')
    .orderBy('revision')
    .execute()
}

/**
 * Lists the messages that are due. The message that has waited longest comes first. A message is due if its
 * next attempt is at or before `upTo`. It is also due if its next attempt is after `beyond`, because only a
 * wrong clock can have set so late a time.
 */
export function listWaiting(
  db: Db,
  due: { readonly upTo: Instant; readonly beyond: Instant },
  limit: number,
): Promise<Delivery[]> {
  return modelsIn(db)
    .selectFrom('delivery')
    .where((eb) => eb.or([eb('nextAttemptAt', '<=', due.upTo), eb('nextAttemptAt', '>', due.beyond)]))
    .selectAll()
    .orderBy('nextAttemptAt')
    .orderBy('queuedAt')
    .limit(limit)
    .execute()
}

export async function countDeliveries(db: Db): Promise<Record<string, number>> {
  // Counts only the unsent messages, because there is an index for these. The number of sent messages is the
  // number of all messages minus this count.
  const { rows } = await sql<{ state: DeliveryRowState; messages: number }>`
    WITH not_sent AS (SELECT state, count(*) AS messages FROM delivery WHERE state <> 'sent' GROUP BY state)
    SELECT state, messages FROM not_sent
    UNION ALL SELECT 'sent', (SELECT count(*) FROM delivery) - coalesce(sum(messages), 0) FROM not_sent`.execute(
    db,
  )
  return Object.fromEntries(
    rows.filter(({ messages }) => messages > 0).map((row) => [row.state, row.messages]),
  )
}

/** A change of a message's state. An absent property leaves the stored value unchanged. */
export interface DeliveryMove {
  readonly state: DeliveryRowState
  readonly at: Instant
  /** Null if no attempt follows. */
  readonly nextAttemptAt?: Instant | null
  readonly isDeferred?: boolean
  /**
   * True if the attempt does not count against the message, because the server or our own end is to blame. It is
   * subtracted from the count again.
   */
  readonly isNoAttempt?: boolean
  /** True if the message was unconfirmed before, and the server recognises it: further attempts cannot double it. */
  readonly isUncounted?: boolean
  readonly replyCode?: number | null
  /** Tells whether the last answer refused the message for good; it then counts against the recipient. */
  readonly isRefusal?: boolean
  readonly response?: string
  /** Of a bounce: the same for bounces that are alike. */
  readonly alike?: string
}

/**
 * Claims a message for the holder of a lease. No other process takes the message while that lease is valid.
 * @param known the message as it was read before
 * @returns false if an attempt was made since `known` was read; the message is not claimed then
 */
export async function claimDelivery(
  trx: Trx,
  known: Delivery,
  sender: string,
  at: Instant,
): Promise<boolean> {
  const { messageId, attempts, unconfirmedCount, nextAttemptAt } = known
  const taken = await modelsIn(trx)
    .updateTable('delivery')
    .where('state', 'in', ['pending', 'unconfirmed'])
    // A message that no attempt follows is not claimed.
    .where('nextAttemptAt', '=', nextAttemptAt)
    .where((eb) => eb.and({ messageId, attempts, unconfirmedCount }))
    .set({ state: 'sending', stateAt: at, attempts: attempts + 1, sender })
    .executeTakeFirst()
  return taken.numUpdatedRows > 0n
}

/**
 * Moves a message from one of the given states to another. Returns false if the message is no longer in one
 * of these states, which means that another process has changed it.
 */
export async function moveDelivery(
  trx: Trx,
  messageId: string,
  from: readonly DeliveryRowState[],
  { state, at, isDeferred, isNoAttempt, isUncounted, isRefusal, ...changes }: DeliveryMove,
): Promise<boolean> {
  const moved = await modelsIn(trx)
    .updateTable('delivery')
    .where('messageId', '=', messageId)
    .where('state', 'in', from)
    .set((eb) => ({
      ...changes,
      state,
      stateAt: at,
      ...(isDeferred ? { deferredAt: sql<string>`coalesce(deferred_at, ${at})` } : {}),
      ...(isRefusal === undefined ? {} : { isRefusal: isRefusal ? 1 : 0 }),
      ...(isNoAttempt ? { attempts: eb('attempts', '-', 1) } : {}),
      ...(state === 'unconfirmed' && !isUncounted
        ? { unconfirmedCount: eb('unconfirmedCount', '+', 1) }
        : {}),
    }))
    .executeTakeFirst()
  return moved.numUpdatedRows > 0n
}

/**
 * Defers the messages of an issue that wait, without an attempt. Leaves out those deferred before `since`, or with
 * another reply.
 * @returns the number of messages that now wait longer
 */
export async function deferIssue(
  trx: Trx,
  issueId: string,
  to: Required<Pick<DeliveryMove, 'at' | 'replyCode' | 'isRefusal' | 'response'>> & {
    readonly nextAttemptAt: Instant
  },
  since: Instant,
): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('delivery')
    .where('issue_id', '=', issueId)
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<', to.nextAttemptAt)
    .where((eb) => eb.or([eb('deferred_at', 'is', null), eb('deferred_at', '>', since)]))
    .where((eb) => eb.or([eb('reply_code', 'is', null), eb('reply_code', '=', to.replyCode)]))
    .set({
      next_attempt_at: to.nextAttemptAt,
      deferred_at: sql<string>`coalesce(deferred_at, ${to.at})`,
      reply_code: to.replyCode,
      is_refusal: to.isRefusal ? 1 : 0,
      response: to.response,
    })
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Tells whether any message is being sent, or was being sent when its process ended. */
export async function isAnyOnItsWay(db: Db): Promise<boolean> {
  // Because every message being sent has a time for its next attempt, the search can use a small index.
  const waiting = db.selectFrom('delivery').where('next_attempt_at', 'is not', null)
  const onTheirWay = waiting.where('state', 'in', ['sending', 'data'])
  return (await onTheirWay.select('message_id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Recovers the messages of sending processes that have ended. A message becomes pending again if no part of
 * its body was sent. Any other message becomes unconfirmed.
 */
export async function recoverDeliveries(trx: Trx, at: Instant): Promise<void> {
  const left = trx
    .updateTable('delivery')
    .where('next_attempt_at', 'is not', null)
    .where((eb) =>
      eb.or([eb('sender', 'is', null), eb('sender', 'not in', trx.selectFrom('lease').select('holder'))]),
    )
  await left.where('state', '=', 'sending').set({ state: 'pending', state_at: at }).execute()
  await left
    .where('state', '=', 'data')
    .set((eb) => ({
      state: 'unconfirmed',
      state_at: at,
      unconfirmed_count: eb('unconfirmed_count', '+', 1),
      next_attempt_at: sql<
        string | null
      >`iif(unconfirmed_count + 1 < ${UNCONFIRMED_MAX}, next_attempt_at, NULL)`,
      reply_code: null,
      response: 'the program ended while the message was leaving',
    }))
    .execute()
}

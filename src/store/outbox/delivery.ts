/**
 * The ledger of messages: each step of handing one over is committed before the next is taken, so that a crash at any
 * point leaves a state that says what is known.
 *
 * pending  to be sent        sending  connected, nothing of the body has left
 * data     the body leaves   sent     the server took it      failed  refused for good
 * unconfirmed the connection or the process was lost in `data`: it may or may not have arrived
 * withdrawn its recipient wanted no more of them before it went out
 */
import { type Selectable, sql } from 'kysely'
import type { Instant, Message } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import { deleteLostLeases } from '../schedule/lease.ts'
import type { DeliveryTable } from '../tables/outbox-tables.ts'
import { addToPack, createMessagePack, insertMessage, keepFiles, type MessagePack } from './message.ts'

/** Of who sends messages; where several may at once, each has one of its own, which begins so. */
export const SENDER_LEASE = 'delivery'

export type DeliveryRowState = DeliveryTable['state']

/** A message that was unconfirmed so often is left to a person. */
export const DOUBTS_MAX = 2

/** Where a message stands; the message itself is in `store/outbox/message.ts`. */
export interface Delivery {
  readonly messageId: string
  /** Null for an alert. */
  readonly issueId: string | null
  readonly recipient: string
  /** 0 for the first message of the issue to the recipient. */
  readonly revision: number
  readonly state: DeliveryRowState
  /** How often the server was asked to take it. */
  readonly attempts: number
  /** How often it has been unconfirmed. */
  readonly doubts: number
  readonly queuedAt: Instant
  readonly stateAt: Instant
  /** Null where nothing is left to try. */
  readonly nextAttemptAt: Instant | null
  /** When the server first put it off. */
  readonly putOffAt: Instant | null
  readonly replyCode: number | null
  readonly response: string | null
}

/** Puts an alert to an operator into the ledger; one that is there under the same Message-ID stays as it is. */
export async function enqueueAlert(trx: Trx, message: Message, at: Instant): Promise<void> {
  const pack = createMessagePack()
  addToPack(pack, message)
  await enqueueMessages(trx, { issueId: null, revision: 0 }, pack, at)
}

/**
 * Puts messages into the ledger; one that is there for the issue, recipient and revision, or under the same
 * Message-ID, stays as it is.
 * @returns how many are new
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

export async function listDeliveries(db: Db, issueId: string): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('delivery')
    .where('issue_id', '=', issueId)
    .selectAll()
    .orderBy('recipient')
    .orderBy('revision')
    .execute()
  return rows.map(deliveryOf)
}

export async function findDelivery(db: Db, messageId: string): Promise<Delivery | undefined> {
  const message = db.selectFrom('delivery').where('message_id', '=', messageId)
  const row = await message.selectAll().executeTakeFirst()
  return row && deliveryOf(row)
}

/** Messages that are to be tried up to an instant or beyond another, those first that wait longest. */
export async function listWaiting(
  db: Db,
  due: { readonly upTo: Instant; readonly beyond: Instant },
  limit: number,
): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('delivery')
    .where((eb) => eb.or([eb('next_attempt_at', '<=', due.upTo), eb('next_attempt_at', '>', due.beyond)]))
    .selectAll()
    .orderBy('next_attempt_at')
    .orderBy('queued_at')
    .limit(limit)
    .execute()
  return rows.map(deliveryOf)
}

/** How many messages stand in each state. */
export async function countDeliveries(db: Db): Promise<Record<string, number>> {
  // Nearly all were sent; of the others there is an index.
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

/** A step of a message; what is absent stays as it was. */
export interface DeliveryMove {
  readonly state: DeliveryRowState
  readonly at: Instant
  /** Null where nothing is left to try. */
  readonly nextAttemptAt?: Instant | null
  /** The server has put it off. */
  readonly isPutOff?: boolean
  /** The server was not asked after all. */
  readonly isNoAttempt?: boolean
  readonly replyCode?: number | null
  readonly response?: string
}

/**
 * Puts a message into the hands of who holds a lease; nobody else takes it while that lives.
 * @param known where anything was tried since this was read, the message is not taken
 */
export async function takeInHand(trx: Trx, known: Delivery, sender: string, at: Instant): Promise<boolean> {
  const taken = await trx
    .updateTable('delivery')
    .where('message_id', '=', known.messageId)
    .where('state', 'in', ['pending', 'unconfirmed'])
    .where('attempts', '=', known.attempts)
    .where('doubts', '=', known.doubts)
    .where('next_attempt_at', '=', known.nextAttemptAt)
    .set((eb) => ({ state: 'sending', state_at: at, attempts: eb('attempts', '+', 1), sender }))
    .executeTakeFirst()
  return taken.numUpdatedRows > 0n
}

/**
 * Moves a message from one of the given states into another; false when it is in none of them any more, which
 * means that another process has it.
 */
export async function moveDelivery(
  trx: Trx,
  messageId: string,
  from: readonly DeliveryRowState[],
  { state, at, ...to }: DeliveryMove,
): Promise<boolean> {
  const moved = await trx
    .updateTable('delivery')
    .where('message_id', '=', messageId)
    .where('state', 'in', from)
    .set((eb) => ({
      state,
      state_at: at,
      ...(to.nextAttemptAt === undefined ? {} : { next_attempt_at: to.nextAttemptAt }),
      ...(to.replyCode === undefined ? {} : { reply_code: to.replyCode }),
      ...(to.response === undefined ? {} : { response: to.response }),
      ...(to.isPutOff ? { put_off_at: sql<string>`coalesce(put_off_at, ${at})` } : {}),
      ...(state === 'sending' ? { attempts: eb('attempts', '+', 1) } : {}),
      ...(to.isNoAttempt ? { attempts: eb('attempts', '-', 1) } : {}),
      ...(state === 'unconfirmed' ? { doubts: eb('doubts', '+', 1) } : {}),
    }))
    .executeTakeFirst()
  return moved.numUpdatedRows > 0n
}

/** Whether any message is on its way: of a process that sends, or of one that ended in the midst of it. */
export async function isAnyOnItsWay(db: Db): Promise<boolean> {
  // They have a time for another attempt; of all that were ever sent there is an index of those that do.
  const waiting = db.selectFrom('delivery').where('next_attempt_at', 'is not', null)
  const onTheirWay = waiting.where('state', 'in', ['sending', 'data'])
  return (await onTheirWay.select('message_id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Of senders that are gone: messages whose body had not begun to leave are pending again, the others are unconfirmed. Their
 * leases end with it, so that a sender that only slept writes nothing more.
 * @param doubtsMax how often a message may be unconfirmed before it is left to a person
 */
export async function recoverDeliveries(trx: Trx, now: Date, doubtsMax: number): Promise<void> {
  await deleteLostLeases(trx, SENDER_LEASE, now)
  const at = now.toISOString()
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
      doubts: eb('doubts', '+', 1),
      next_attempt_at: sql<string | null>`iif(doubts + 1 < ${doubtsMax}, next_attempt_at, NULL)`,
      reply_code: null,
      response: 'the program ended while the message was leaving',
    }))
    .execute()
}

function deliveryOf(row: Selectable<DeliveryTable>): Delivery {
  return {
    messageId: row.message_id,
    issueId: row.issue_id,
    recipient: row.recipient,
    revision: row.revision,
    state: row.state,
    attempts: row.attempts,
    doubts: row.doubts,
    queuedAt: row.queued_at,
    stateAt: row.state_at,
    nextAttemptAt: row.next_attempt_at,
    putOffAt: row.put_off_at,
    replyCode: row.reply_code,
    response: row.response,
  }
}

/**
 * The ledger of letters: each step of handing one over is committed before the next is taken, so that a crash at any
 * point leaves a state that says what is known.
 *
 * pending  to be sent        sending  connected, nothing of the body has left
 * data     the body leaves   sent     the server took it      failed  refused for good
 * in_doubt the connection or the process was lost in `data`: it may or may not have arrived
 * withdrawn its recipient wanted no more of them before it went out
 */
import { type Selectable, sql } from 'kysely'
import type { Instant, Letter } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import { deleteGoneLeases } from '../schedule/lease.ts'
import type { DeliveryTable } from '../tables/outbox-tables.ts'
import { addToPack, createLetterPack, insertLetter, keepFiles, type LetterPack } from './message.ts'

/** Of who sends letters; where several may at once, each has one of its own, which begins so. */
export const SENDER_LEASE = 'delivery'

export type DeliveryRowState = DeliveryTable['state']

/** A letter that was in doubt so often is left to a person. */
export const DOUBTS_MAX = 2

/** Where a letter stands; the letter itself is in `store/outbox/message.ts`. */
export interface Delivery {
  readonly messageId: string
  /** Null for a notice to operators. */
  readonly editionId: string | null
  readonly recipient: string
  /** 0 for the first letter of the edition to the recipient. */
  readonly revision: number
  readonly state: DeliveryRowState
  /** How often the server was asked to take it. */
  readonly attempts: number
  /** How often it has been in doubt. */
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

/** Puts a notice to an operator into the ledger; one that is there under the same Message-ID stays as it is. */
export async function enqueueNotice(trx: Trx, letter: Letter, at: Instant): Promise<void> {
  const pack = createLetterPack()
  addToPack(pack, letter)
  await enqueueLetters(trx, { editionId: null, revision: 0 }, pack, at)
}

/**
 * Puts letters into the ledger; one that is there for the edition, recipient and revision, or under the same
 * Message-ID, stays as it is.
 * @returns how many are new
 */
export async function enqueueLetters(
  trx: Trx,
  { editionId, revision }: Pick<Delivery, 'editionId' | 'revision'>,
  pack: LetterPack,
  at: Instant,
): Promise<number> {
  let count = 0
  for (const letter of pack.letters) {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('delivery')
      .values({
        message_id: letter.messageId,
        edition_id: editionId,
        recipient: letter.recipient,
        revision,
        state: 'pending',
        queued_at: at,
        state_at: at,
        next_attempt_at: at,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows !== 1n) continue
    await insertLetter(trx, letter)
    count++
  }
  if (count > 0) await keepFiles(trx, pack)
  return count
}

export async function listDeliveries(db: Db, editionId: string): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('delivery')
    .where('edition_id', '=', editionId)
    .selectAll()
    .orderBy('recipient')
    .orderBy('revision')
    .execute()
  return rows.map(deliveryOf)
}

export async function findDelivery(db: Db, messageId: string): Promise<Delivery | undefined> {
  const letter = db.selectFrom('delivery').where('message_id', '=', messageId)
  const row = await letter.selectAll().executeTakeFirst()
  return row && deliveryOf(row)
}

/** Letters that are to be tried up to an instant or beyond another, those first that wait longest. */
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

/** How many letters stand in each state. */
export async function countDeliveries(db: Db): Promise<Record<string, number>> {
  // Nearly all were sent; of the others there is an index.
  const { rows } = await sql<{ state: DeliveryRowState; letters: number }>`
    WITH not_sent AS (SELECT state, count(*) AS letters FROM delivery WHERE state <> 'sent' GROUP BY state)
    SELECT state, letters FROM not_sent
    UNION ALL SELECT 'sent', (SELECT count(*) FROM delivery) - coalesce(sum(letters), 0) FROM not_sent`.execute(
    db,
  )
  return Object.fromEntries(rows.filter(({ letters }) => letters > 0).map((row) => [row.state, row.letters]))
}

/** A step of a letter; what is absent stays as it was. */
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
 * Puts a letter into the hands of who holds a lease; nobody else takes it while that lives.
 * @param known where anything was tried since this was read, the letter is not taken
 */
export async function takeInHand(trx: Trx, known: Delivery, sender: string, at: Instant): Promise<boolean> {
  const taken = await trx
    .updateTable('delivery')
    .where('message_id', '=', known.messageId)
    .where('state', 'in', ['pending', 'in_doubt'])
    .where('attempts', '=', known.attempts)
    .where('doubts', '=', known.doubts)
    .where('next_attempt_at', '=', known.nextAttemptAt)
    .set((eb) => ({ state: 'sending', state_at: at, attempts: eb('attempts', '+', 1), sender }))
    .executeTakeFirst()
  return taken.numUpdatedRows > 0n
}

/**
 * Moves a letter from one of the given states into another; false when it is in none of them any more, which
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
      ...(state === 'in_doubt' ? { doubts: eb('doubts', '+', 1) } : {}),
    }))
    .executeTakeFirst()
  return moved.numUpdatedRows > 0n
}

/** Whether any letter is on its way: of a process that sends, or of one that ended in the midst of it. */
export async function isAnyOnItsWay(db: Db): Promise<boolean> {
  // They have a time for another attempt; of all that were ever sent there is an index of those that do.
  const waiting = db.selectFrom('delivery').where('next_attempt_at', 'is not', null)
  const onTheirWay = waiting.where('state', 'in', ['sending', 'data'])
  return (await onTheirWay.select('message_id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Of senders that are gone: letters whose body had not begun to leave are pending again, the others are in doubt. Their
 * leases end with it, so that a sender that only slept writes nothing more.
 * @param doubtsMax how often a letter may be in doubt before it is left to a person
 */
export async function recoverDeliveries(trx: Trx, now: Date, doubtsMax: number): Promise<void> {
  await deleteGoneLeases(trx, SENDER_LEASE, now)
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
      state: 'in_doubt',
      state_at: at,
      doubts: eb('doubts', '+', 1),
      next_attempt_at: sql<string | null>`iif(doubts + 1 < ${doubtsMax}, next_attempt_at, NULL)`,
      reply_code: null,
      response: 'the program ended while the letter was leaving',
    }))
    .execute()
}

function deliveryOf(row: Selectable<DeliveryTable>): Delivery {
  return {
    messageId: row.message_id,
    editionId: row.edition_id,
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

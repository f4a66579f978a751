/**
 * The ledger of letters: one row an edition and recipient, and each step of handing it over committed before
 * the next is taken, so that a crash at any point leaves a state that says what is known.
 *
 * pending  to be sent        sending  connected, nothing of the body has left
 * data     the body leaves   sent     the server took it      failed  refused for good
 * in_doubt the connection or the process was lost in `data`: it may or may not have arrived
 */
import type { Selectable } from 'kysely'
import type { Instant, Letter } from '../model.ts'
import { insertLetter } from './letter.ts'
import type { Db, Trx } from './open.ts'
import type { DeliveryTable } from './tables.ts'

export type DeliveryRowState = DeliveryTable['state']

/** Where a letter stands; the letter itself is in `store/letter.ts`. */
export interface Delivery {
  readonly messageId: string
  readonly recipient: string
  readonly state: DeliveryRowState
  readonly attempts: number
  /** How often it has been in doubt. */
  readonly doubts: number
  readonly stateAt: Instant
  readonly response: string | null
}

/**
 * Puts a letter into the ledger; one that is there for the edition and recipient, or under the same Message-ID,
 * stays as it is.
 */
export async function enqueueLetter(trx: Trx, editionId: string, letter: Letter, at: Instant): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('delivery')
    .values({
      message_id: letter.messageId,
      edition_id: editionId,
      recipient: letter.to,
      state: 'pending',
      state_at: at,
      response: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows === 1n) await insertLetter(trx, letter)
}

export async function listDeliveries(db: Db, editionId: string): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('delivery')
    .where('edition_id', '=', editionId)
    .selectAll()
    .orderBy('recipient')
    .execute()
  return rows.map(deliveryOf)
}

/** The letters of a state over all editions, oldest first. */
export async function listDeliveriesIn(db: Db, states: readonly DeliveryRowState[]): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('delivery')
    .where('state', 'in', states)
    .selectAll()
    .orderBy('state_at')
    .execute()
  return rows.map(deliveryOf)
}

/** How many letters stand in each state. */
export async function countDeliveries(db: Db): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('delivery')
    .select((eb) => ['state', eb.fn.countAll<number>().as('n')])
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map((row) => [row.state, row.n]))
}

/**
 * Moves a letter from one of the given states into another; false when it is in none of them any more, which
 * means that another process has it.
 */
export async function moveDelivery(
  trx: Trx,
  messageId: string,
  from: readonly DeliveryRowState[],
  to: { readonly state: DeliveryRowState; readonly at: Instant; readonly response?: string },
): Promise<boolean> {
  const moved = await trx
    .updateTable('delivery')
    .where('message_id', '=', messageId)
    .where('state', 'in', from)
    .set((eb) => ({
      state: to.state,
      state_at: to.at,
      ...(to.response === undefined ? {} : { response: to.response }),
      ...(to.state === 'sending' ? { attempts: eb('attempts', '+', 1) } : {}),
      ...(to.state === 'in_doubt' ? { doubts: eb('doubts', '+', 1) } : {}),
    }))
    .executeTakeFirst()
  return moved.numUpdatedRows > 0n
}

/**
 * After a crash: letters whose body had not begun to leave are pending again, the others are in doubt.
 * To be called while nobody sends.
 */
export async function recoverDeliveries(trx: Trx): Promise<void> {
  await trx.updateTable('delivery').where('state', '=', 'sending').set({ state: 'pending' }).execute()
  const lost = 'the program ended while the letter was leaving'
  await trx
    .updateTable('delivery')
    .where('state', '=', 'data')
    .set((eb) => ({ state: 'in_doubt', doubts: eb('doubts', '+', 1), response: lost }))
    .execute()
}

function deliveryOf(row: Selectable<DeliveryTable>): Delivery {
  return {
    messageId: row.message_id,
    recipient: row.recipient,
    state: row.state,
    attempts: row.attempts,
    doubts: row.doubts,
    stateAt: row.state_at,
    response: row.response,
  }
}

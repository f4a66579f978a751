/** Stores what was read from the mailbox of bounces and from the provider, and finds the messages that it is about. */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { type Model, modelsIn } from '../db/model.ts'
import type { Db, Trx } from '../db/store.ts'

export type StoredNotification = Model<'notification'>
type BounceMailbox = Model<'bounce_mailbox'>

export async function isKnownNotification(db: Db, id: string): Promise<boolean> {
  return (
    (await db.selectFrom('notification').where('id', '=', id).select('id').executeTakeFirst()) !== undefined
  )
}

/** A notification that is stored already stays as it is. */
export async function insertNotification(trx: Trx, notification: StoredNotification): Promise<void> {
  await modelsIn(trx)
    .insertInto('notification')
    .values(notification)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Counts the notifications by kind and outcome. */
export function countNotifications(db: Db) {
  return db
    .selectFrom('notification')
    .select(['kind', 'outcome', (eb) => eb.fn.countAll<number>().as('notifications')])
    .groupBy(['kind', 'outcome'])
    .execute()
}

/** A message with what a notification about it needs. `report` is null for an alert. */
export type NotifiedMessage = NonNullable<Awaited<ReturnType<typeof findMessageById>>>

/** @param id what stands before the `@` of its Message-ID */
export function findMessageById(db: Db, id: string) {
  // The next character after `@` ends the range, so that the search uses the index.
  return messages(db)
    .where('messageId', '>=', `<${id}@`)
    .where('messageId', '<', `<${id}A`)
    .executeTakeFirst()
}

/** Lists the messages to an address that were queued in a span and tried, the newest first. */
export function listMessagesTo(db: Db, address: string, from: Instant, to: Instant) {
  return messages(db)
    .where(sql`lower(recipient)`, '=', address)
    .where('queuedAt', '>=', from)
    .where('queuedAt', '<=', to)
    .where('state', 'not in', ['pending', 'failed', 'withdrawn'])
    .orderBy('queuedAt', 'desc')
    .execute()
}

function messages(db: Db) {
  return modelsIn(db)
    .selectFrom('delivery')
    .leftJoin('report_issue', 'report_issue.id', 'delivery.issueId')
    .select(['messageId', 'issueId', 'recipient', 'revision', 'state', 'unconfirmedCount'])
    .select(['isRefusal', 'response', 'queuedAt', 'report', 'periodFrom', 'periodTo'])
}

export async function readSubject(db: Db, messageId: string): Promise<string> {
  const { head } = await db
    .selectFrom('message')
    .where('message_id', '=', messageId)
    .select('head')
    .executeTakeFirstOrThrow()
  return JSON.parse(head).subject
}

export function findBounceMailbox(db: Db, name: string): Promise<BounceMailbox | undefined> {
  return modelsIn(db).selectFrom('bounce_mailbox').where('name', '=', name).selectAll().executeTakeFirst()
}

/** Lists the mailboxes that cannot be read, of those that were tried since an instant. */
export function listMailboxesAway(db: Db, triedSince: Instant): Promise<BounceMailbox[]> {
  return modelsIn(db)
    .selectFrom('bounce_mailbox')
    .where('failingSince', 'is not', null)
    .where('triedAt', '>=', triedSince)
    .selectAll()
    .execute()
}

/** An absent property leaves the stored value unchanged. */
export async function saveBounceMailbox(
  trx: Trx,
  mailbox: Pick<BounceMailbox, 'name' | 'triedAt'> & Partial<BounceMailbox>,
): Promise<void> {
  await modelsIn(trx)
    .insertInto('bounce_mailbox')
    .values({ position: null, failingSince: null, response: null, ...mailbox })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(mailbox))
    .execute()
}

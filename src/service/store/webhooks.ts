/**
 * Stores the registrations of webhooks and the messages that are to be sent. Messages are stored before they
 * are sent, so that a crash loses no message. Secrets are stored in plain text, because signing a message
 * needs them.
 */
import { sql } from 'kysely'
import type { WireWebhook, WireWebhookAttempt, WireWebhookWithSecret } from '../../contract/webhook.ts'
import type {
  EventRow,
  ServiceDatabase,
  WebhookAttemptRow,
  WebhookMessageRow,
  WebhookRow,
} from './database.ts'
import { instantOf } from './database.ts'

/** Registers a webhook. The webhook gets the events that happen from now on. */
export function insertWebhook(
  db: ServiceDatabase,
  webhook: Pick<WireWebhookWithSecret, 'id' | 'url' | 'events' | 'description' | 'secret'>,
  now: number,
): Promise<WebhookRow> {
  return db
    .insertInto('webhook')
    .values({
      ...webhook,
      status: 'active',
      events: JSON.stringify(webhook.events),
      created_at: now,
      last_event_id: newestEventId,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Lists all webhooks, the oldest first. */
export function listWebhooks(db: ServiceDatabase): Promise<WebhookRow[]> {
  return db.selectFrom('webhook').selectAll().orderBy('created_at').orderBy('id').execute()
}

export function findWebhook(db: ServiceDatabase, id: string): Promise<WebhookRow | undefined> {
  return db.selectFrom('webhook').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Deletes a webhook with its messages and their attempts. */
export async function deleteWebhook(db: ServiceDatabase, id: string): Promise<void> {
  await db.deleteFrom('webhook').where('id', '=', id).execute()
}

export function toWireWebhook(row: WebhookRow): WireWebhook {
  const instant = (at: number | null): string | null => (at === null ? null : instantOf(at))
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events),
    description: row.description,
    status: row.status,
    disabled_reason: row.disabled_reason,
    disabled_at: instant(row.disabled_at),
    failing_since: instant(row.failing_since),
    created_at: instantOf(row.created_at),
  }
}

/** Lists the attempts to send messages to a webhook, the newest first. */
export async function listAttempts(
  db: ServiceDatabase,
  webhookId: string,
  limit: number,
): Promise<readonly WireWebhookAttempt[]> {
  const rows = await db
    .selectFrom('webhook_attempt as attempt')
    .innerJoin('webhook_message as message', 'message.id', 'attempt.message_id')
    .selectAll('attempt')
    .select(['message.type', 'message.attempts', 'message.next_attempt_at'])
    .where('attempt.webhook_id', '=', webhookId)
    .orderBy('attempt.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => toWireAttempt(row, row))
}

/** Only a message's last attempt gets the time of the next attempt. */
export function toWireAttempt(
  attempt: Pick<WebhookAttemptRow, 'message_id' | 'attempt' | 'at' | 'status' | 'error' | 'duration_ms'>,
  message: Pick<WebhookMessageRow, 'type' | 'attempts' | 'next_attempt_at'>,
): WireWebhookAttempt {
  const isLast = attempt.attempt === message.attempts
  const next = isLast ? message.next_attempt_at : null
  return {
    message_id: attempt.message_id,
    type: message.type,
    attempt: attempt.attempt,
    at: instantOf(attempt.at),
    outcome: attempt.error === null ? 'delivered' : 'failed',
    status: attempt.status,
    error: attempt.error,
    duration_ms: attempt.duration_ms,
    next_attempt_at: next === null ? null : instantOf(next),
  }
}

/** An active webhook with the state of its waiting messages. */
interface WebhookQueue extends WebhookRow {
  /** 1 if a message is due now, otherwise 0. */
  readonly has_due: 0 | 1
  /** The time when the first later message is due; null if there is no later message. */
  readonly next_at: number | null
}

export type NewAttempt = Omit<WebhookAttemptRow, 'id'>

/** The maximum number of rows that one statement changes. A longer statement would block the process. */
const BATCH_ROWS = 200

export function listQueues(db: ServiceDatabase, now: number): Promise<WebhookQueue[]> {
  const waiting = sql`from webhook_message where webhook_id = webhook.id and state = 'waiting'`
  return db
    .selectFrom('webhook')
    .selectAll()
    .select([
      sql<0 | 1>`exists (select 1 ${waiting} and next_attempt_at <= ${now})`.as('has_due'),
      sql<number | null>`(select min(next_attempt_at) ${waiting} and next_attempt_at > ${now})`.as('next_at'),
    ])
    .where('status', '=', 'active')
    .execute()
}

/** Lists the due messages of a webhook. The message that was due first comes first. */
export function listDueMessages(
  db: ServiceDatabase,
  webhookId: string,
  now: number,
  limit: number,
): Promise<WebhookMessageRow[]> {
  return db
    .selectFrom('webhook_message')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'waiting')
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    .orderBy(sql`rowid`)
    .limit(limit)
    .execute()
}

/**
 * Makes messages from new events for active webhooks. The messages of one webhook and its new `last_event_id`
 * are written in one transaction.
 * @returns true if there may be more events to process
 */
export async function queueEvents(
  db: ServiceDatabase,
  messageOf: (event: EventRow) => Pick<WebhookMessageRow, 'id' | 'type' | 'body'>,
  now: number,
): Promise<boolean> {
  const behind = await db
    .selectFrom('webhook')
    .select('id')
    .where('status', '=', 'active')
    .where('last_event_id', '<', newestEventId)
    .orderBy('last_event_id')
    .execute()
  let lookedAt = 0
  for (const { id } of behind) {
    if (lookedAt >= BATCH_ROWS) break
    lookedAt += await queueEventsOf(db, id, messageOf, now)
  }
  return lookedAt >= BATCH_ROWS
}

const newestEventId = sql<number>`(select ifnull(max(id), 0) from event)`

/** @returns how many events were checked */
function queueEventsOf(
  db: ServiceDatabase,
  webhookId: string,
  messageOf: (event: EventRow) => Pick<WebhookMessageRow, 'id' | 'type' | 'body'>,
  now: number,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const webhook = await trx
      .selectFrom('webhook')
      .select(['events', 'last_event_id'])
      .where('id', '=', webhookId)
      .where('status', '=', 'active')
      .executeTakeFirst()
    if (webhook === undefined) return 0
    const events = await trx
      .selectFrom('event')
      .selectAll()
      .where('id', '>', webhook.last_event_id)
      .orderBy('id')
      .limit(BATCH_ROWS)
      .execute()
    const last = events.at(-1)
    if (last === undefined) return 0
    const wanted: readonly string[] = JSON.parse(webhook.events)
    const messages = events
      .filter(({ type }) => wanted.includes(type))
      .map((event) => ({
        ...messageOf(event),
        webhook_id: webhookId,
        event_id: event.id,
        state: 'waiting' as const,
        attempts: 0,
        created_at: now,
        next_attempt_at: now,
      }))
    await insertMessages(trx, messages)
    await trx.updateTable('webhook').set({ last_event_id: last.id }).where('id', '=', webhookId).execute()
    return events.length
  })
}

export async function insertMessages(
  db: ServiceDatabase,
  messages: readonly WebhookMessageRow[],
): Promise<void> {
  if (messages.length > 0) await db.insertInto('webhook_message').values(messages).execute()
}

/** Saves an attempt and the new state of its message. Saves nothing if the message was deleted in the meantime. */
export async function saveAttempt(
  db: ServiceDatabase,
  attempt: NewAttempt,
  message: Pick<WebhookMessageRow, 'state' | 'next_attempt_at'>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('webhook_message')
    .set({ ...message, attempts: attempt.attempt })
    .where('id', '=', attempt.message_id)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) await db.insertInto('webhook_attempt').values(attempt).execute()
}

/** Disables a webhook. Its waiting messages are never sent. */
export async function disableWebhook(
  db: ServiceDatabase,
  webhookId: string,
  reason: NonNullable<WebhookRow['disabled_reason']>,
  now: number,
): Promise<void> {
  await db
    .updateTable('webhook')
    .set({ status: 'disabled', disabled_reason: reason, disabled_at: now, paused_until: null })
    .where('id', '=', webhookId)
    .execute()
  await db
    .updateTable('webhook_message')
    .set({ state: 'failed', next_attempt_at: null })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'waiting')
    .execute()
}

export async function saveWebhookHealth(
  db: ServiceDatabase,
  webhookId: string,
  health: Pick<WebhookRow, 'failing_since' | 'paused_until'>,
): Promise<void> {
  await db.updateTable('webhook').set(health).where('id', '=', webhookId).execute()
}

/** Returns true if there may be more messages to delete. */
export async function deleteOldMessages(db: ServiceDatabase, before: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_message')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhook_message')
        .select('id')
        .where('created_at', '<', before)
        .where('state', '!=', 'waiting')
        .orderBy('created_at')
        .limit(BATCH_ROWS),
    )
    .executeTakeFirst()
  return numDeletedRows === BigInt(BATCH_ROWS)
}

/**
 * Stores the registrations of webhooks. The secret is stored as plain text, because it signs the messages.
 */
import { sql } from 'kysely'
import type { WireWebhook, WireWebhookAttempt, WireWebhookWithSecret } from '../../contract/webhook.ts'
import type { ServiceDatabase } from './database.ts'
import { instantOf } from './database.ts'
import type { WebhookAttemptRow, WebhookMessageRow, WebhookRow } from './tables.ts'

const NEWEST_EVENT = sql<number>`(select ifnull(max(id), 0) from event)`

/** Registers a webhook. It gets the events that happen from now on. */
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
      last_event_id: NEWEST_EVENT,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function countWebhooks(db: ServiceDatabase): Promise<number> {
  const { count } = await db
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Lists all webhooks, the oldest first. */
export function listWebhooks(db: ServiceDatabase): Promise<WebhookRow[]> {
  return db.selectFrom('webhook').selectAll().orderBy('created_at').orderBy('id').execute()
}

export function findWebhook(db: ServiceDatabase, id: string): Promise<WebhookRow | undefined> {
  return db.selectFrom('webhook').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Deletes a webhook with its messages and their attempts.
 * @returns false if there is no such webhook
 */
export async function deleteWebhook(db: ServiceDatabase, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('webhook').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/**
 * Sets a new secret. Until `oldUntil`, the current secret signs messages too. A still older secret stops
 * signing now.
 */
export function rotateWebhookSecret(
  db: ServiceDatabase,
  id: string,
  secret: string,
  oldUntil: number,
): Promise<WebhookRow | undefined> {
  return db
    .updateTable('webhook')
    .set((eb) => ({ secret, old_secret: eb.ref('secret'), old_secret_until: oldUntil }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/**
 * Enables a disabled webhook. It gets only events after the newest event so far. An active webhook stays
 * unchanged.
 */
export async function enableWebhook(db: ServiceDatabase, id: string): Promise<WebhookRow | undefined> {
  await db
    .updateTable('webhook')
    .set({
      ...{ status: 'active', disabled_reason: null, disabled_at: null, failing_since: null },
      last_event_id: NEWEST_EVENT,
    })
    .where('id', '=', id)
    .where('status', '=', 'disabled')
    .execute()
  return findWebhook(db, id)
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

/** Converts a webhook for the two answers that show the secret. */
export function toWireWebhookWithSecret(row: WebhookRow): WireWebhookWithSecret {
  return { ...toWireWebhook(row), secret: row.secret }
}

/** Lists the attempts of a webhook, the newest first. */
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

/**
 * Converts an attempt for an answer of the API. Only the last attempt of a message shows the time of the next
 * attempt.
 */
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

/** What follows from an attempt: for its message, and for the webhook. */
import type { ServiceDatabase } from '../store/database.ts'
import type { WebhookMessageRow, WebhookRow } from '../store/tables.ts'
import { findWebhook } from '../store/webhook.ts'
import {
  disableWebhook,
  insertMessage,
  type NewAttempt,
  saveAttempt,
  saveWebhookHealth,
} from '../store/webhook-message.ts'
import type { PostOutcome } from './post.ts'
import { isGivenUp, nextAttemptAt, pausedUntil } from './retry-schedule.ts'

/** The address is gone, and wants no message ever again. */
const GONE = 410

export interface Attempt {
  readonly message: WebhookMessageRow
  /** When it began. */
  readonly at: number
  readonly outcome: PostOutcome
}

type Reason = NonNullable<WebhookRow['disabled_reason']>

/** A webhook that has just been disabled, and why. */
export interface Disabled {
  readonly webhook: WebhookRow
  readonly reason: Reason
}

/**
 * @param db a transaction
 * @param now after the attempt
 * @param random from 0 up to 1
 * @returns the webhook if it is disabled by this
 */
export async function settleAttempt(
  db: ServiceDatabase,
  attempt: Attempt,
  now: number,
  random: number,
): Promise<Disabled | null> {
  const { message, outcome } = attempt
  const webhook = await findWebhook(db, message.webhook_id)
  // Deleted meanwhile, with all that was to be sent to it.
  if (webhook === undefined) return null
  const isDelivered = outcome.error === null
  const isPing = message.event_id === null
  if (isPing) await insertMessage(db, message)
  const failingSince = isDelivered ? null : (webhook.failing_since ?? (isPing ? null : now))
  const earliest = outcome.retryAfterMs === null ? null : pausedUntil(outcome.retryAfterMs, now)
  const reason = reasonToDisable(webhook, outcome, failingSince, now)
  const isOver = isDelivered || isPing || webhook.status === 'disabled' || reason !== null
  const next = isOver ? null : nextAttemptAt(message.attempts + 1, earliest, now, random)
  const state = isDelivered ? 'delivered' : next === null ? 'failed' : 'waiting'
  await saveAttempt(db, attemptRow(attempt), { state, next_attempt_at: next })
  const health = { failing_since: failingSince, paused_until: earliest ?? webhook.paused_until }
  if (health.failing_since !== webhook.failing_since || health.paused_until !== webhook.paused_until) {
    await saveWebhookHealth(db, webhook.id, health)
  }
  if (reason === null) return null
  await disableWebhook(db, webhook.id, reason, now)
  return { webhook, reason }
}

export function attemptRow({ message, at, outcome }: Attempt): NewAttempt {
  return {
    ...{ webhook_id: message.webhook_id, message_id: message.id, attempt: message.attempts + 1, at },
    ...{ status: outcome.status, error: outcome.error, duration_ms: outcome.durationMs },
  }
}

function reasonToDisable(
  webhook: WebhookRow,
  { status, error }: PostOutcome,
  failingSince: number | null,
  now: number,
): Reason | null {
  if (webhook.status === 'disabled' || error === null) return null
  if (status === GONE) return 'gone'
  return failingSince !== null && isGivenUp(failingSince, now) ? 'failing' : null
}

/** Applies the outcomes of attempts to their messages and to the webhook. */
import { BACKOFF, GIVE_UP, ladderWaitMs, SERVICE_PAUSE_MAX_MS } from '../../retry.ts'
import type { ServiceDatabase } from '../store/database.ts'
import type { WebhookMessageRow, WebhookRow } from '../store/tables.ts'
import { findWebhook } from '../store/webhook.ts'
import {
  disableWebhook,
  insertMessages,
  type NewAttempt,
  saveAttempts,
  saveWebhookHealth,
} from '../store/webhook-message.ts'
import type { PostOutcome } from './post.ts'

const DAY_MS = 24 * 60 * 60_000
/** The status of an answer that disables the webhook immediately. */
const GONE = 410

export interface Attempt {
  readonly message: WebhookMessageRow
  /** The start of the attempt. */
  readonly at: number
  readonly outcome: PostOutcome
}

type DisabledReason = NonNullable<WebhookRow['disabled_reason']>

/** A webhook that was just disabled, and why. */
export interface Disabled {
  readonly webhook: WebhookRow
  readonly reason: DisabledReason
}

/**
 * Applies the outcomes of attempts of one webhook.
 * @param db a transaction
 * @param attempts in the order in which they ended
 * @param now an instant after the attempts
 * @returns the webhook if these attempts disable it; otherwise null
 */
export async function settleAttempts(
  db: ServiceDatabase,
  webhookId: string,
  attempts: readonly Attempt[],
  now: number,
): Promise<Disabled | null> {
  const webhook = await findWebhook(db, webhookId)
  // Nothing is to be saved if the webhook was deleted in the meantime, because its messages were deleted too.
  if (webhook === undefined) return null
  await insertMessages(db, attempts.map(({ message }) => message).filter(isPing))
  let { failing_since, paused_until } = webhook
  let reason: DisabledReason | null = null
  const messages = []
  for (const { message, outcome } of attempts) {
    const isDelivered = outcome.error === null
    // A failed test message is reported only to the caller who asked for it, so it does not count as a
    // failure of the webhook.
    failing_since = isDelivered ? null : (failing_since ?? (isPing(message) ? null : now))
    const pause =
      outcome.retryAfterMs === null ? null : now + Math.min(outcome.retryAfterMs, SERVICE_PAUSE_MAX_MS)
    paused_until = pause ?? paused_until
    reason ??= webhook.status === 'disabled' ? null : reasonToDisable(outcome, failing_since, now)
    const isOver = isDelivered || isPing(message) || webhook.status === 'disabled'
    const waitMs = isOver ? null : ladderWaitMs(BACKOFF.serviceWebhook, message.attempts + 1, Math.random())
    const next = waitMs === null ? null : Math.max(now + waitMs, pause ?? 0)
    const state = isDelivered ? 'delivered' : next === null ? 'failed' : 'waiting'
    messages.push({ id: message.id, state, next_attempt_at: next } as const)
  }
  await saveAttempts(db, attempts.map(attemptRow), messages)
  if (failing_since !== webhook.failing_since || paused_until !== webhook.paused_until) {
    await saveWebhookHealth(db, webhook.id, { failing_since, paused_until })
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

function isPing({ event_id }: WebhookMessageRow): boolean {
  return event_id === null
}

function reasonToDisable(
  { status, error }: PostOutcome,
  failingSince: number | null,
  now: number,
): DisabledReason | null {
  if (error === null) return null
  if (status === GONE) return 'gone'
  return failingSince !== null && now - failingSince >= GIVE_UP.serviceWebhook.days * DAY_MS
    ? 'failing'
    : null
}

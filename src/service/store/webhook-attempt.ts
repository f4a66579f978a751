/** What became of each time that a message was sent, as whoever registered the webhook may read it. */
import type { WireWebhookAttempt } from '../../contract/webhook.ts'
import type { ServiceDatabase } from './database.ts'
import { instantOf } from './instant.ts'
import type { WebhookAttemptRow, WebhookMessageRow } from './tables.ts'

/** The newest first. */
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

/** What is to come stands at the last attempt of a message. */
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

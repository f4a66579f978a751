/** Webhook registrations. The secret stays in clear: deliveries are signed with it. */
import { sql } from 'kysely'
import type { WireWebhook, WireWebhookWithSecret } from '../../contract/webhook.ts'
import type { ServiceDatabase } from './database.ts'
import { instantOf } from './instant.ts'
import type { WebhookRow } from './tables.ts'

/** It is told of what happens from now on. */
export async function insertWebhook(
  db: ServiceDatabase,
  webhook: Pick<WireWebhookWithSecret, 'id' | 'url' | 'events' | 'description' | 'secret'>,
  now: number,
): Promise<WireWebhookWithSecret> {
  const row = await db
    .insertInto('webhook')
    .values({
      ...webhook,
      status: 'active',
      events: JSON.stringify(webhook.events),
      created_at: now,
      last_event_id: sql<number>`(select ifnull(max(id), 0) from event)`,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { ...toWireWebhook(row), secret: row.secret }
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

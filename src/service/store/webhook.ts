/** Webhook registrations. The secret stays in clear: deliveries are signed with it. */
import type { WireWebhook } from '../../contract/webhook.ts'
import type { ServiceDatabase } from './database.ts'
import { instantOf } from './instant.ts'

export async function insertWebhook(
  db: ServiceDatabase,
  webhook: Pick<WireWebhook, 'id' | 'url' | 'events' | 'description' | 'secret'>,
  now: number,
): Promise<WireWebhook> {
  const status = 'active'
  await db
    .insertInto('webhook')
    .values({ ...webhook, status, events: JSON.stringify(webhook.events), created_at: now })
    .execute()
  return { ...webhook, status, created_at: instantOf(now) }
}

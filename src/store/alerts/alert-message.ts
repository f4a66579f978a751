/** Stores each message about alerts, and whether the alert webhook has accepted it. */
import type { Instant } from '../../domain/model.ts'
import { modelsIn } from '../db/model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

export type WaitingPost = Awaited<ReturnType<typeof listWaitingPosts>>[number]

/** If there is a webhook, the message (JSON) waits to be posted to it. */
export async function insertAlertMessage(
  trx: Trx,
  message: { readonly madeAt: Instant; readonly content: string; readonly hasWebhook: boolean },
): Promise<void> {
  await trx
    .insertInto('alert_message')
    .values({
      made_at: message.madeAt,
      content: message.content,
      post_state: message.hasWebhook ? 'pending' : null,
      next_post_at: message.hasWebhook ? message.madeAt : null,
      post_response: null,
    })
    .execute()
}

export async function listMessageTimes(db: Db, since: Instant): Promise<Instant[]> {
  const rows = await db
    .selectFrom('alert_message')
    .where('made_at', '>=', since)
    .select('made_at')
    .orderBy('made_at')
    .execute()
  return rows.map((row) => row.made_at)
}

/** Lists the messages that have to be posted to the webhook by the time `dueBy`, oldest first. */
export function listWaitingPosts(db: Db, dueBy: Instant, limit: number) {
  return modelsIn(db)
    .selectFrom('alert_message')
    .where('nextPostAt', '<=', dueBy)
    .select(['id', 'madeAt', 'content', 'postAttempts as attempts'])
    .orderBy('id')
    .limit(limit)
    .execute()
}

export async function updatePost(
  trx: Trx,
  id: number,
  post: {
    readonly state: NonNullable<Row<'alert_message'>['post_state']>
    /** The time of the next attempt; null where the message was accepted or no attempt is left. */
    readonly nextAt: Instant | null
    readonly response: string
  },
): Promise<void> {
  await trx
    .updateTable('alert_message')
    .where('id', '=', id)
    .set((eb) => ({
      post_state: post.state,
      post_attempts: eb('post_attempts', '+', 1),
      next_post_at: post.nextAt,
      post_response: post.response,
    }))
    .execute()
}

export async function deleteMessagesBefore(trx: Trx, madeBefore: Instant): Promise<void> {
  await trx.deleteFrom('alert_message').where('made_at', '<', madeBefore).execute()
}

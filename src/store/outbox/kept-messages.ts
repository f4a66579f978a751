/** Lists the messages of issues by recipient, without their text. */
import { sql } from 'kysely'
import type { Instant, Period } from '../../domain/model.ts'
import type { Db } from '../db/store.ts'
import { type Delivery, type DeliveryRowState, listDeliveries } from './delivery.ts'

interface KeptMessage {
  readonly messageId: string
  readonly recipient: string
  readonly state: DeliveryRowState
  readonly stateAt: Instant
  readonly response: string | null
}

/** Lists messages by recipient. The newest message of each recipient comes first. */
export async function listKeptMessages(
  db: Db,
  report: string,
  { from, to }: Pick<Period, 'from' | 'to'>,
): Promise<KeptMessage[]> {
  const { rows } = await sql<KeptMessage>`
    SELECT message_id AS "messageId", recipient, state, state_at AS "stateAt", response
    FROM report_issue JOIN delivery ON issue_id = id
    WHERE report = ${report} AND period_from = ${from} AND period_to = ${to}
    ORDER BY recipient, revision DESC, message_id`.execute(db)
  return rows
}

export interface IssueMessage extends Delivery {
  /** BCP 47; null if the message has been pruned. */
  readonly lang: string | null
}

/** Lists messages by recipient. The oldest message of each recipient comes first. */
export async function listIssueMessages(db: Db, issueId: string): Promise<IssueMessage[]> {
  const { rows } = await sql<{ messageId: string; lang: string | null }>`
    SELECT message_id AS "messageId", head ->> '$.lang' AS lang
    FROM delivery JOIN message USING (message_id) WHERE issue_id = ${issueId}`.execute(db)
  const langs = new Map(rows.map(({ messageId, lang }) => [messageId, lang]))
  const messages = await listDeliveries(db, issueId)
  return messages.map((message) => ({ ...message, lang: langs.get(message.messageId) ?? null }))
}

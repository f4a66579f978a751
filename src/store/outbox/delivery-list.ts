/** The ledger as a person asks for it: where messages stand, and who refuses them again and again. */
import { sql } from 'kysely'
import type { Instant, Period } from '../../model.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'
import type { Delivery, DeliveryRowState } from './delivery.ts'

/** A message with what it is of. */
export interface ListedDelivery extends Omit<Delivery, 'issueId' | 'putOffAt'> {
  /** Null for a notice to operators. */
  readonly report: string | null
  readonly period: Period | null
}

export interface DeliveryQuestion {
  /** Null for all, notices included. */
  readonly report: string | null
  /** Put into the ledger since. */
  readonly since: Instant | null
  readonly states: readonly DeliveryRowState[] | null
  readonly recipient: string | null
}

type Row = Omit<ListedDelivery, 'period'> & { [K in keyof Period]: Period[K] | null }

/** The newest first. */
export async function findDeliveries(
  db: Db,
  { report, since, states, recipient }: DeliveryQuestion,
  limit: number,
): Promise<ListedDelivery[]> {
  const conditions = [
    ...(report === null ? [] : [sql<boolean>`report = ${report}`]),
    ...(since === null ? [] : [sql<boolean>`queued_at >= ${since}`]),
    ...(states === null ? [] : [sql<boolean>`state IN ${listOf(states)}`]),
    ...(recipient === null ? [] : [sql<boolean>`lower(recipient) = lower(${recipient})`]),
  ]
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${sql.join(conditions, sql` AND `)}`
  const { rows } = await sql<Row>`
    SELECT message_id AS "messageId", report, period_from AS "from", period_to AS "to", time_zone AS "timeZone",
      recipient, revision, state, attempts, doubts, queued_at AS "queuedAt", state_at AS "stateAt",
      next_attempt_at AS "nextAttemptAt", reply_code AS "replyCode", response
    FROM delivery LEFT JOIN report_issue ON report_issue.id = issue_id ${where}
    ORDER BY queued_at DESC, report NULLS FIRST, recipient, revision DESC LIMIT ${limit}`.execute(db)
  return rows.map(({ from, to, timeZone, ...message }) => ({
    ...message,
    period: from === null || to === null || timeZone === null ? null : { from, to, timeZone },
  }))
}

/** A recipient whose server refuses one issue of a report after the other. */
export interface RefusingRecipient {
  readonly recipient: string
  readonly report: string
  /** In a row, up to the last one. */
  readonly issues: number
  readonly since: Instant
  /** What was said of the last one. */
  readonly response: string
}

/**
 * Those of whom at least so many issues in a row were refused for good, counted since they last changed their
 * subscription, or had it changed.
 */
export async function listRefusing(db: Db, atLeast: number): Promise<RefusingRecipient[]> {
  const { rows } = await sql<RefusingRecipient>`
    WITH refusal AS (
      SELECT recipient, issue.report, issue.id AS issue_id, state_at, response,
        row_number() OVER (PARTITION BY recipient, issue.report ORDER BY state_at DESC, message_id) AS place
      FROM delivery AS refused JOIN report_issue AS issue ON issue.id = issue_id
      WHERE refused.state = 'failed' AND reply_code >= 500
        AND state_at > coalesce((SELECT changed_at FROM subscription
          WHERE address = lower(recipient) AND subscription.report = issue.report), '')
        AND NOT EXISTS (SELECT 1 FROM delivery AS other JOIN report_issue ON report_issue.id = other.issue_id
          WHERE other.recipient = refused.recipient AND report_issue.report = issue.report
            AND other.state IN ('sent', 'in_doubt') AND other.queued_at >= refused.queued_at))
    SELECT recipient, report, count(DISTINCT issue_id) AS issues, min(state_at) AS since,
      max(response) FILTER (WHERE place = 1) AS response
    FROM refusal GROUP BY recipient, report HAVING count(DISTINCT issue_id) >= ${atLeast}
    ORDER BY report, recipient`.execute(db)
  return rows
}

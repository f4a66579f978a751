/** Finds messages by their state, problems of sending, and recipients whose server keeps refusing. */
import { sql } from 'kysely'
import type { Instant, Period } from '../../domain/model.ts'
import { modelsIn } from '../db/model.ts'
import type { Db } from '../db/store.ts'
import type { DeliveryRowState } from './delivery.ts'

/** A message, with the name of its report, which is null for an alert. */
export type ListedDelivery = Awaited<ReturnType<typeof findDeliveries>>[number]

/** The messages to list; an absent property leaves none out. */
interface DeliveryQuestion {
  readonly report?: string
  readonly period?: Pick<Period, 'from' | 'to'>
  /** Only messages queued at or after this time are listed. */
  readonly since?: Instant
  readonly states?: readonly DeliveryRowState[]
  readonly recipient?: string
}

/** Lists messages, the newest first. */
export async function findDeliveries(
  db: Db,
  { report, period, since, states, recipient }: DeliveryQuestion,
  limit: number,
) {
  let query = modelsIn(db)
    .selectFrom('delivery')
    .leftJoin('report_issue', 'report_issue.id', 'delivery.issueId')
  if (report !== undefined) query = query.where('report', '=', report)
  if (period !== undefined)
    query = query.where('periodFrom', '=', period.from).where('periodTo', '=', period.to)
  if (since !== undefined) query = query.where('queuedAt', '>=', since)
  if (states !== undefined) query = query.where('state', 'in', states)
  if (recipient !== undefined) query = query.where(sql`lower(recipient)`, '=', sql`lower(${recipient})`)
  const rows = await query
    .selectAll('delivery')
    .select(['report', 'periodFrom as from', 'periodTo as to', 'timeZone'])
    .orderBy('queuedAt', 'desc')
    .orderBy('report', (order) => order.asc().nullsFirst())
    .orderBy('recipient')
    .orderBy('revision', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ from, to, timeZone, ...message }) => ({
    ...message,
    period: from === null || to === null || timeZone === null ? null : { from, to, timeZone },
  }))
}

/** A recipient whose mail server has refused several issues of a report in a row. */
export interface RefusingRecipient {
  readonly recipient: string
  readonly report: string
  /** The number of issues refused in a row, the latest included. */
  readonly issues: number
  readonly since: Instant
  readonly response: string
}

/**
 * Lists the recipients whose mail server has permanently refused at least `atLeast` issues of a report in a
 * row. Issues before the last change of the recipient's preference do not count. A refusal does not count
 * either if most recipients of the period got the same one, because it is then no fault of theirs.
 */
export async function listRefusing(db: Db, atLeast: number): Promise<RefusingRecipient[]> {
  // Two refusals are the same if they begin alike behind the reply code: `550 5.7.1 ` and what follows names
  // recipients and queues. Bounces have the words of many servers.
  const answer = sql`coalesce(alike, reply_code || substr(replace(response, recipient, ''), 4, 7))`
  const { rows } = await sql<RefusingRecipient>`
    WITH failed AS (
      SELECT report, period_from, period_to, recipient, ${answer} AS answer
      FROM delivery JOIN report_issue ON report_issue.id = issue_id
      WHERE state IN ('failed', 'bounced') AND is_refusal = 1),
    shared AS (
      SELECT report, period_from, period_to, answer FROM failed GROUP BY report, period_from, period_to, answer
      HAVING count(DISTINCT recipient) > 1 AND 2 * count(DISTINCT recipient) > (
        SELECT count(DISTINCT recipient) FROM delivery JOIN report_issue AS issue ON issue.id = issue_id
        WHERE issue.report = failed.report AND issue.period_from = failed.period_from
          AND issue.period_to = failed.period_to AND state <> 'withdrawn')),
    refusal AS (
      SELECT recipient, issue.report, issue.id AS issue_id, state_at, response,
        row_number() OVER (PARTITION BY recipient, issue.report ORDER BY state_at DESC, message_id) AS place
      FROM delivery AS refused JOIN report_issue AS issue ON issue.id = issue_id
      WHERE refused.state IN ('failed', 'bounced') AND is_refusal = 1
        AND state_at > coalesce((SELECT changed_at FROM preference
          WHERE address = lower(recipient) AND preference.report = issue.report), '')
        AND NOT EXISTS (SELECT 1 FROM shared WHERE shared.report = issue.report
          AND shared.period_from = issue.period_from AND shared.period_to = issue.period_to
          AND shared.answer = ${answer})
        AND NOT EXISTS (SELECT 1 FROM delivery AS other JOIN report_issue ON report_issue.id = other.issue_id
          WHERE other.recipient = refused.recipient AND report_issue.report = issue.report
            AND other.state IN ('sent', 'unconfirmed') AND other.queued_at >= refused.queued_at))
    SELECT recipient, report, count(DISTINCT issue_id) AS issues, min(state_at) AS since,
      max(response) FILTER (WHERE place = 1) AS response
    FROM refusal GROUP BY recipient, report HAVING count(DISTINCT issue_id) >= ${atLeast}
    ORDER BY report, recipient`.execute(db)
  return rows
}

export interface DeliveryProblem {
  readonly report: string | null
  readonly messages: number
  readonly since: Instant
  readonly last: Instant
  readonly recipient: string
  readonly response: string | null
}

/**
 * The conditions for the messages that have a problem since an instant; those that are deferred have it from before
 * it. The states are literals, because with parameters SQLite does not use the index on states.
 */
const PROBLEMS = {
  /** Refused permanently or given up. */
  failed: (since: Instant) => sql`message.state = 'failed' AND ${isLost(since)}`,
  bounced: (since: Instant) => sql`message.state = 'bounced' AND ${isLost(since)}`,
  complained: (since: Instant) => sql`message.state = 'complained' AND message.state_at >= ${since}`,
  /** Those that a person has to resolve. */
  unconfirmed: (since: Instant) =>
    sql`message.state = 'unconfirmed' AND message.state_at >= ${since} AND message.next_attempt_at IS NULL`,
  /** Unsent, and deferred first before the instant or refused at any time. */
  deferred: (before: Instant) =>
    sql`message.next_attempt_at IS NOT NULL AND (message.deferred_at < ${before} OR message.deferred_at IS NOT NULL AND message.is_refusal = 1)`,
}

/** Leaves out a message if a later message of the same report reached the recipient. */
function isLost(since: Instant) {
  return sql`message.state IN ('failed', 'bounced') AND message.state_at >= ${since}
      AND NOT EXISTS (SELECT 1 FROM delivery AS later LEFT JOIN report_issue ON report_issue.id = later.issue_id
        WHERE later.recipient = message.recipient AND later.state IN ('sent', 'complained') AND later.state_at > message.state_at
          AND report_issue.report IS NOT DISTINCT FROM issue.report)`
}

/** Lists the messages with a problem by report, alerts first. */
export async function listProblems(
  db: Db,
  problem: keyof typeof PROBLEMS,
  at: Instant,
): Promise<DeliveryProblem[]> {
  const fate = sql.ref(problem === 'deferred' ? 'message.deferred_at' : 'message.state_at')
  const { rows } = await sql<DeliveryProblem>`
    WITH affected AS (
      SELECT issue.report, ${fate} AS at, message.recipient, message.response,
        row_number() OVER (PARTITION BY issue.report ORDER BY ${fate} DESC, message.message_id) AS place
      FROM delivery AS message LEFT JOIN report_issue AS issue ON issue.id = message.issue_id
      WHERE ${PROBLEMS[problem](at)})
    SELECT report, count(*) AS messages, min(at) AS since, max(at) AS last,
      max(recipient) FILTER (WHERE place = 1) AS recipient, max(response) FILTER (WHERE place = 1) AS response
    FROM affected GROUP BY report ORDER BY report NULLS FIRST`.execute(db)
  return rows
}

/**
 * Counts the messages that are still to be sent, and those of them that are alerts. `since` is the time at which
 * the oldest was queued.
 */
export async function countWaiting(db: Db) {
  return db
    .selectFrom('delivery')
    .where('next_attempt_at', 'is not', null)
    .select((eb) => [
      eb.fn.countAll<number>().as('messages'),
      sql<number>`count(*) - count(issue_id)`.as('alerts'),
      eb.fn.min('queued_at').$castTo<Instant | null>().as('since'),
    ])
    .executeTakeFirstOrThrow()
}

/** Searches issues by their text, recipients, period and state. */
import { type RawBuilder, sql } from 'kysely'
import type { Period } from '../../domain/model.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db } from '../db/store.ts'

/** `looked_at` means that a person made the issue only to look at it, so that it has no messages. */
export const ISSUE_STATES = ['sent', 'waiting', 'failed', 'unconfirmed', 'not_sent', 'looked_at'] as const
export type IssueState = (typeof ISSUE_STATES)[number]

/** A word, a phrase, or days as periods, one for each time zone that issues have. */
export type IssueTerm = { readonly word: string } | { readonly days: readonly Period[] }

export interface IssueQuestion {
  /** Null for all reports. */
  readonly report: string | null
  readonly state: IssueState | null
  readonly terms: readonly IssueTerm[]
  /** The id of the issue after which the list continues; null to begin with the newest issue. */
  readonly after: string | null
}

export async function findIssues(
  db: Db,
  { report, state, terms, after }: IssueQuestion,
  limit: number,
): Promise<string[]> {
  const conditions = [
    ...(report === null ? [] : [sql<boolean>`report = ${report}`]),
    ...(state === null ? [] : [STATES[state]]),
    ...terms.map((term) => ('days' in term ? isOfDays(term.days) : hasWord(db, term.word))),
    ...(after === null ? [] : [comesAfter(after)]),
  ]
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${sql.join(conditions, sql` AND `)}`
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM report_issue AS issue ${where}
    ORDER BY period_to DESC, rendered_at DESC, report, variant LIMIT ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

export async function listIssueReports(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('report_issue').select('report').distinct().orderBy('report').execute()
  return rows.map(({ report }) => report)
}

export async function listIssueZones(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('report_issue').select('time_zone').distinct().execute()
  return rows.map((row) => row.time_zone)
}

/**
 * Builds the condition that an issue has a message in a state. The state is a literal in the SQL, because
 * with a parameter SQLite does not use the index on messages in these states. Leaves out alerts, which are
 * messages without an issue.
 */
const messageIn = (state: 'failed' | 'bounced' | 'complained' | 'unconfirmed') =>
  sql<boolean>`id IN (SELECT issue_id FROM delivery WHERE state = ${sql.lit(state)} AND issue_id IS NOT NULL)`
const HAS_FAILED = sql<boolean>`(${messageIn('failed')} OR ${messageIn('bounced')} OR ${messageIn('complained')})`
const HAS_MESSAGES = sql<boolean>`EXISTS (SELECT 1 FROM delivery WHERE issue_id = issue.id)`
const IS_WAITING = sql<boolean>`id IN (SELECT issue_id FROM delivery
  WHERE next_attempt_at IS NOT NULL AND state <> 'unconfirmed' AND issue_id IS NOT NULL)`

const STATES = {
  sent: sql<boolean>`EXISTS (SELECT 1 FROM delivery WHERE issue_id = issue.id AND state = 'sent')
    AND NOT (${IS_WAITING} OR ${HAS_FAILED} OR ${messageIn('unconfirmed')})`,
  waiting: IS_WAITING,
  failed: HAS_FAILED,
  unconfirmed: messageIn('unconfirmed'),
  not_sent: sql<boolean>`NOT ${HAS_MESSAGES} AND not_sent IS NOT NULL`,
  looked_at: sql<boolean>`NOT ${HAS_MESSAGES} AND not_sent IS NULL`,
} as const satisfies Record<IssueState, RawBuilder<boolean>>

/** Searches subject, text, report, filter and recipients. Capitals do not matter. */
function hasWord(db: Db, word: string): RawBuilder<boolean> {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`
  const like = isPostgres(db) ? sql`ILIKE ${pattern}` : sql`LIKE ${pattern} ESCAPE '\\'`
  return sql<boolean>`(subject ${like} OR report ${like} OR variant ${like} OR text ${like}
    OR EXISTS (SELECT 1 FROM delivery WHERE issue_id = issue.id AND recipient ${like}))`
}

function isOfDays(days: readonly Period[]): RawBuilder<boolean> {
  const spans = days.map(
    ({ from, to, timeZone }) =>
      sql<boolean>`(time_zone = ${timeZone} AND period_to > ${from} AND period_from < ${to})`,
  )
  return spans.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(spans, sql` OR `)})`
}

/** Holds for no issue if the given issue does not exist. */
function comesAfter(id: string): RawBuilder<boolean> {
  const last = sql`SELECT period_to, rendered_at FROM report_issue WHERE id = ${id}`
  const lastInTurn = sql`SELECT report, variant FROM report_issue WHERE id = ${id}`
  return sql<boolean>`(period_to, rendered_at) <= (${last})
    AND ((period_to, rendered_at) < (${last}) OR (report, variant) > (${lastInTurn}))`
}

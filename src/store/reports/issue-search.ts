/**
 * Searches issues by their text, recipients, period and state. The words are in the table `issue_search`,
 * which triggers keep up to date. The last word of a term may be incomplete. SQLite and PostgreSQL find the
 * same issues.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Period } from '../../domain/model.ts'
import { isPostgres } from '../db/postgres.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'
import { saysAllInPostgres } from '../postgres/issue-words.ts'

/**
 * `sent` means that all messages of the issue were sent. `looked_at` means that a person made the issue only
 * to look at it, so that it has no messages.
 */
export const ISSUE_STATES = ['sent', 'waiting', 'failed', 'unconfirmed', 'not_sent', 'looked_at'] as const
export type IssueState = (typeof ISSUE_STATES)[number]

/**
 * A condition on issues: words in the text or in a recipient, or days. The days are given as periods, one for
 * each time zone that issues have.
 */
export type IssueTerm = { readonly words: string } | { readonly days: readonly Period[] }

export interface IssueQuestion {
  /** The name of a report; null for all reports. */
  readonly report: string | null
  /** The state that the issues must have; null for any state. */
  readonly state: IssueState | null
  /** An issue has to match all terms. */
  readonly terms: readonly IssueTerm[]
  /** The id of the issue after which the list continues; null to begin with the newest issue. */
  readonly after: string | null
}

/** Finds the ids of the issues that match all parts of the question, newest first. */
export async function findIssues(
  db: Db,
  { report, state, terms, after }: IssueQuestion,
  limit: number,
): Promise<string[]> {
  const words = terms.flatMap((term) => ('words' in term ? [term.words] : []))
  const spans = terms.flatMap((term) => ('days' in term ? [term.days] : []))
  const conditions = [
    ...(report === null ? [] : [sql<boolean>`report = ${report}`]),
    ...(state === null ? [] : [STATES[state]]),
    ...spans.map(isOfDays),
    ...(words.length === 0 ? [] : holdWords(db, words, await listDistinct(db, 'delivery', 'recipient'))),
    ...(after === null ? [] : [comesAfter(after)]),
  ]
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${sql.join(conditions, sql` AND `)}`
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM report_issue AS issue ${where}
    ORDER BY period_to DESC, rendered_at DESC, report, variant LIMIT ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

export async function readIssueTexts(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('report_issue')
    .where('id', 'in', listOf(ids))
    .select(['id', 'text'])
    .execute()
  return new Map(rows.map(({ id, text }) => [id, text]))
}

/** Lists the reports that have issues, in order. */
export function listIssueReports(db: Db): Promise<string[]> {
  return listDistinct(db, 'report_issue', 'report')
}

export async function listIssueZones(db: Db): Promise<string[]> {
  const { rows } = await sql<{ zone: string }>`SELECT DISTINCT time_zone AS zone FROM report_issue`.execute(
    db,
  )
  return rows.map(({ zone }) => zone)
}

/**
 * Builds the condition that an issue has a message in a state. The state is a literal in the SQL, because
 * with a parameter SQLite does not use the index on messages in these states. Leaves out alerts, which are
 * messages without an issue.
 */
const messageIn = (state: 'failed' | 'unconfirmed') =>
  sql<boolean>`id IN (SELECT issue_id FROM delivery WHERE state = ${sql.lit(state)} AND issue_id IS NOT NULL)`
const HAS_MESSAGES = sql<boolean>`EXISTS (SELECT 1 FROM delivery WHERE issue_id = issue.id)`
const IS_WAITING = sql<boolean>`id IN (SELECT issue_id FROM delivery
  WHERE next_attempt_at IS NOT NULL AND state <> 'unconfirmed' AND issue_id IS NOT NULL)`

const STATES = {
  sent: sql<boolean>`EXISTS (SELECT 1 FROM delivery WHERE issue_id = issue.id AND state = 'sent')
    AND NOT (${IS_WAITING} OR ${messageIn('failed')} OR ${messageIn('unconfirmed')})`,
  waiting: IS_WAITING,
  failed: messageIn('failed'),
  unconfirmed: messageIn('unconfirmed'),
  not_sent: sql<boolean>`NOT ${HAS_MESSAGES} AND not_sent IS NOT NULL`,
  looked_at: sql<boolean>`NOT ${HAS_MESSAGES} AND not_sent IS NULL`,
} as const satisfies Record<IssueState, RawBuilder<boolean>>

/**
 * Lists the distinct values of a column. Because each value occurs many times, the query jumps in the index
 * from one value to the next instead of reading all rows.
 */
async function listDistinct(
  db: Db,
  tableName: 'delivery' | 'report_issue',
  columnName: 'recipient' | 'report',
): Promise<string[]> {
  const [table, column] = [sql.table(tableName), sql.ref(columnName)]
  const { rows } = await sql<{ value: string }>`
    WITH RECURSIVE known (value) AS (SELECT min(${column}) FROM ${table}
      UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > known.value) FROM known
        WHERE known.value IS NOT NULL)
    SELECT value FROM known WHERE value IS NOT NULL`.execute(db)
  return rows.map(({ value }) => value)
}

/**
 * Builds the conditions for the words. Words that occur in no recipient are searched together. Such a search
 * is faster, because it finds fewer issues than a search for each word.
 */
function holdWords(db: Db, words: readonly string[], recipients: readonly string[]): RawBuilder<boolean>[] {
  const calledSo = (each: string) =>
    recipients.filter((one) => one.toLowerCase().includes(each.toLowerCase()))
  const said = words.filter((each) => calledSo(each).length === 0)
  const saidOrCalled = words.filter((each) => !said.includes(each))
  return [
    ...(said.length === 0 ? [] : [saysAll(db, said)]),
    ...saidOrCalled.map(
      (each) => sql<boolean>`(${saysAll(db, [each])} OR EXISTS (SELECT 1 FROM delivery
        WHERE issue_id = issue.id AND recipient IN ${listOf(calledSo(each))}))`,
    ),
  ]
}

/**
 * Builds the condition that the text of an issue has all words. Each word or group of words is a phrase of
 * FTS5 whose last word may be incomplete. Because phrases are quoted, no character that a user types has a
 * special meaning. The plus before `id` makes SQLite begin with the newest issues instead of reading all
 * issues that match.
 */
function saysAll(db: Db, words: readonly string[]): RawBuilder<boolean> {
  if (isPostgres(db)) return saysAllInPostgres(words)
  const phrases = words.map((each) => `"${each.replaceAll('"', '""')}"*`).join(' ')
  return sql<boolean>`+id IN (SELECT issue_id FROM issue_search JOIN issue_no ON no = issue_search.rowid
    WHERE issue_search MATCH ${phrases})`
}

function isOfDays(days: readonly Period[]): RawBuilder<boolean> {
  const spans = days.map(
    ({ from, to, timeZone }) =>
      sql<boolean>`(time_zone = ${timeZone} AND period_to > ${from} AND period_from < ${to})`,
  )
  return spans.length === 0 ? sql<boolean>`false` : sql<boolean>`(${sql.join(spans, sql` OR `)})`
}

/**
 * Builds the condition that an issue comes after the given issue in the list. If the given issue does not
 * exist, no issue meets the condition.
 */
function comesAfter(id: string): RawBuilder<boolean> {
  const last = sql`SELECT period_to, rendered_at FROM report_issue WHERE id = ${id}`
  const lastInTurn = sql`SELECT report, variant FROM report_issue WHERE id = ${id}`
  return sql<boolean>`(period_to, rendered_at) <= (${last})
    AND ((period_to, rendered_at) < (${last}) OR (report, variant) > (${lastInTurn}))`
}

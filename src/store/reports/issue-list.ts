/** Lists the stored issues without their text, with the states of their messages. */
import { sql } from 'kysely'
import type { PeriodKind } from '../../domain/figures.ts'
import type { Instant, Period } from '../../domain/model.ts'
import { modelsIn } from '../db/model.ts'
import { listOf } from '../db/rows.ts'
import type { Db } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

export interface ListedIssue {
  readonly id: string
  readonly report: string
  readonly kind: PeriodKind
  readonly period: Period
  /** The recipients' filter of leads as JSON; empty for all leads of the report. */
  readonly variant: string
  readonly subject: string
  readonly renderedAt: Instant
  readonly programVersion: string | null
  /** Null if it was sent, or was made only for viewing. */
  readonly notSent: string | null
  /** The counts of the first message to each recipient. They show how many recipients got the report. */
  readonly messages: MessageCounts
  /** The counts of new copies that were sent later. For each recipient, only the last copy counts. */
  readonly copies: MessageCounts
}

/**
 * The final states: `bounced` messages came back, `complained` ones were reported as spam, and the recipients of
 * `withdrawn` ones unsubscribed before they were sent.
 */
const FINAL_STATES = ['sent', 'failed', 'bounced', 'complained', 'unconfirmed', 'withdrawn'] as const

/** The messages in each final state, and all. The others wait to be sent. */
export type MessageCounts = Readonly<Record<'total' | (typeof FINAL_STATES)[number], number>>

/** Lists the issues, newest first; `report` is null for all reports. */
export async function listIssues(db: Db, report: string | null, limit: number): Promise<ListedIssue[]> {
  const all = issues(db).limit(limit)
  return withCounts(db, await (report === null ? all : all.where('report', '=', report)).execute())
}

export async function listIssuesOf(db: Db, ids: readonly string[]): Promise<ListedIssue[]> {
  return withCounts(db, await issues(db).where('id', 'in', listOf(ids)).execute())
}

function issues(db: Db) {
  return modelsIn(db)
    .selectFrom('report_issue')
    .select(['id', 'report', 'kind', 'variant', 'subject', 'renderedAt', 'programVersion', 'notSent'])
    .select(['periodFrom as from', 'periodTo as to', 'timeZone'])
    .orderBy('periodTo', 'desc')
    .orderBy('renderedAt', 'desc')
    .orderBy('report')
    .orderBy('variant')
}

async function withCounts(
  db: Db,
  listed: readonly (Omit<ListedIssue, 'kind' | 'period' | 'messages' | 'copies'> &
    Period & { kind: string })[],
): Promise<ListedIssue[]> {
  const { rows } = await sql<{
    issue_id: string
    is_copy: number
    state: Row<'delivery'>['state']
    messages: number
  }>`
    SELECT issue_id, iif(revision > 0, 1, 0) AS is_copy, state, count(*) AS messages FROM delivery
    WHERE issue_id IN ${listOf(listed.map(({ id }) => id))} AND (revision = 0 OR NOT EXISTS (
      SELECT 1 FROM delivery AS later WHERE later.issue_id = delivery.issue_id
        AND later.recipient = delivery.recipient AND later.revision > delivery.revision))
    GROUP BY 1, 2, 3`.execute(db)
  return listed.map(({ from, to, timeZone, kind, ...issue }) => {
    const own = rows.filter((row) => row.issue_id === issue.id)
    return {
      ...issue,
      kind: kind as PeriodKind,
      period: { from, to, timeZone },
      messages: countsOf(own.filter((row) => row.is_copy === 0)),
      copies: countsOf(own.filter((row) => row.is_copy === 1)),
    }
  })
}

function countsOf(rows: readonly { state: Row<'delivery'>['state']; messages: number }[]): MessageCounts {
  const counts = FINAL_STATES.map((state) => [state, rows.find((row) => row.state === state)?.messages ?? 0])
  return { total: rows.reduce((sum, { messages }) => sum + messages, 0), ...Object.fromEntries(counts) }
}

export interface IssueName {
  readonly id: string
  readonly period: Period
}

/** Finds the previous and next issue with the same filter of leads and kind of period. */
export async function findNeighbours(
  db: Db,
  { report, variant, kind, period }: Pick<ListedIssue, 'report' | 'variant' | 'kind' | 'period'>,
): Promise<{ readonly older: IssueName | null; readonly newer: IssueName | null }> {
  const series = db
    .selectFrom('report_issue')
    .where('report', '=', report)
    .where('variant', '=', variant)
    .where('kind', '=', kind)
    .select(['id', 'period_from as from', 'period_to as to', 'time_zone as timeZone'])
    .limit(1)
  const older = series.where('period_to', '<', period.to).orderBy('period_to', 'desc')
  const newer = series.where('period_to', '>', period.to).orderBy('period_to')
  const [before, after] = [await older.executeTakeFirst(), await newer.executeTakeFirst()]
  return { older: nameOf(before), newer: nameOf(after) }
}

function nameOf(row: (Period & { readonly id: string }) | undefined): IssueName | null {
  if (row === undefined) return null
  const { id, ...period } = row
  return { id, period }
}

export async function countIssues(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('report_issue')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/**
 * Issues: what a report of a period said, kept for ever. One issue a report, period and variant, which is the
 * choice of leads that some of its readers have.
 */
import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { FailedSection, PeriodKind, ReportFigures } from '../../domain/figures.ts'
import type { Instant, Period, Rendered } from '../../model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { LastTold } from '../figures/changes.ts'
import type { ReportIssueTable } from '../tables/tables.ts'

export interface IssueKey {
  readonly report: string
  readonly period: Period
  /** JSON of the filter of its readers; empty for all leads that the report is about. */
  readonly variant: string
}

export interface Issue extends IssueKey, Rendered {
  readonly id: string
  /** Just before its figures were read: what became known later is not in it. */
  readonly renderedAt: Instant
  readonly figures: ReportFigures
  /** Of the leadsheet that made it; null where that is not known. */
  readonly programVersion: string | null
  /** Why it was not sent at its time; null where it was, or was only looked at. */
  readonly notSent: string | null
  /** Messages of it exist, so it stays as it is. */
  readonly isMailed: boolean
}

/** One that is not in the store. */
export type UnsavedIssue = Omit<Issue, 'id' | 'isMailed' | 'notSent'>

/** Those issues of a report that follow one another: of the same leads, and of the same kind of period. */
export interface SeriesKey extends Pick<IssueKey, 'report' | 'variant'> {
  readonly kind: PeriodKind
}

/** What the next issue has to know of the last one that was sent. */
export interface SentIssue {
  readonly periodTo: Instant
  readonly renderedAt: Instant
  readonly figures: ReportFigures
}

export async function findIssue(db: Db, { report, period, variant }: IssueKey): Promise<Issue | undefined> {
  const row = await db
    .selectFrom('report_issue')
    .where('report', '=', report)
    .where('period_from', '=', period.from)
    .where('period_to', '=', period.to)
    .where('variant', '=', variant)
    .selectAll()
    .executeTakeFirst()
  return row && issueOf(row, await hasMessages(db, row.id))
}

export async function readIssue(db: Db, id: string): Promise<Issue | undefined> {
  const row = await db.selectFrom('report_issue').where('id', '=', id).selectAll().executeTakeFirst()
  return row && issueOf(row, await hasMessages(db, row.id))
}

/**
 * The issues of which messages exist and whose period ended last by an instant: one for each choice of leads, and that
 * of a week where it ended then too.
 */
export async function listLastMailed(db: Db, report: string, by: Instant): Promise<Issue[]> {
  const last = await findLastMailedEnd(db, report, by)
  if (last === null) return []
  const rows = await mailedIssues(db, report)
    .where('period_to', '=', last)
    .selectAll()
    .orderBy('rendered_at')
    .orderBy('variant')
    .execute()
  return rows.map((row) => issueOf(row, true))
}

/** The end of the last period that ended by an instant, of the issues of which messages exist. */
export async function findLastMailedEnd(db: Db, report: string, by: Instant): Promise<Instant | null> {
  const row = await mailedIssues(db, report)
    .where('period_to', '<=', by)
    .select('period_to')
    .orderBy('period_to', 'desc')
    .executeTakeFirst()
  return row?.period_to ?? null
}

/** What could not be read for the issue of a report that was mailed last. */
export async function listLastFailed(db: Db, report: string): Promise<readonly FailedSection[]> {
  const row = await db
    .selectFrom('report_issue')
    .where('report', '=', report)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('delivery').whereRef('issue_id', '=', 'report_issue.id').select('message_id')),
    )
    .orderBy('period_from', 'desc')
    .limit(1)
    .select(sql<string | null>`figures ->> '$.failed'`.as('failed'))
    .executeTakeFirst()
  // Older programs kept other figures.
  return row?.failed ? JSON.parse(row.failed) : []
}

/** The end of the last period of a series that ended before an instant and of which messages exist. */
export async function findLastSentEnd(db: Db, key: SeriesKey, before: Instant): Promise<Instant | null> {
  const row = await sentIssues(db, key, before).select('period_to').executeTakeFirst()
  return row?.period_to ?? null
}

/**
 * The last issue of a series whose period ended by an instant and of which messages exist.
 * @param madeBefore only of those that there were then
 */
export async function findLastSent(
  db: Db,
  key: SeriesKey,
  by: Instant,
  madeBefore: Instant | null = null,
): Promise<SentIssue | null> {
  const sent = sentIssues(db, key, by, '<=')
  const row = await (madeBefore === null ? sent : sent.where('rendered_at', '<', madeBefore))
    // Older programs kept other figures.
    .where('program_version', 'is not', null)
    .select(['period_to', 'rendered_at', 'figures'])
    .executeTakeFirst()
  if (!row) return null
  return { periodTo: row.period_to, renderedAt: row.rendered_at, figures: figuresOf(row.figures) }
}

/**
 * Up to where an issue has told of changes. Where these failed, the next one tells them: from the beginning, since
 * nobody knows how much of it was known when.
 */
export function toldUpTo({ periodTo, renderedAt, figures }: SentIssue): LastTold {
  const hasFailed = figures.failed.some(({ block }) => block === 'changes')
  const { since } = figures.changes
  return hasFailed ? { at: since, knownAt: since } : { at: periodTo, knownAt: renderedAt }
}

/**
 * Keeps an issue. An earlier one of the same key is replaced, unless a message of it exists: what was sent stays as
 * it was sent, and the earlier one comes back. Why it was not sent stays too.
 */
export async function saveIssue(trx: Trx, issue: UnsavedIssue): Promise<Issue> {
  const earlier = await findIssue(trx, issue)
  if (earlier?.isMailed) return earlier
  if (earlier) await trx.deleteFrom('report_issue').where('id', '=', earlier.id).execute()
  const id = earlier?.id ?? randomUUID()
  const notSent = earlier?.notSent ?? null
  await trx
    .insertInto('report_issue')
    .values({
      id,
      report: issue.report,
      period_from: issue.period.from,
      period_to: issue.period.to,
      time_zone: issue.period.timeZone,
      rendered_at: issue.renderedAt,
      run_id: issue.figures.freshness.runId,
      figures: JSON.stringify(issue.figures),
      subject: issue.subject,
      html: issue.html,
      text: issue.text,
      kind: issue.figures.kind,
      variant: issue.variant,
      not_sent: notSent,
      program_version: issue.programVersion,
    })
    .execute()
  return { id, ...issue, notSent, isMailed: false }
}

/** Whether a report of a period that ended within a span went out, or was not worth it: to whomever, of any leads. */
export async function wasSent(
  db: Db,
  report: string,
  { from, to }: { readonly from: Instant; readonly to: Instant },
): Promise<boolean> {
  const row = await db
    .selectFrom('report_issue')
    .where('report', '=', report)
    .where('period_to', '>=', from)
    .where('period_to', '<', to)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('not_sent', 'is not', null),
        exists(selectFrom('delivery').whereRef('issue_id', '=', 'report_issue.id').select('message_id')),
      ]),
    )
    .select('id')
    .executeTakeFirst()
  return row !== undefined
}

/** @param reason null where it is sent after all */
export async function noteNotSent(trx: Trx, id: string, reason: string | null): Promise<void> {
  await trx.updateTable('report_issue').where('id', '=', id).set({ not_sent: reason }).execute()
}

function mailedIssues(db: Db, report: string) {
  return db
    .selectFrom('report_issue')
    .where('report', '=', report)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('delivery').whereRef('issue_id', '=', 'report_issue.id').select('message_id')),
    )
}

function sentIssues(
  db: Db,
  { report, variant, kind }: SeriesKey,
  end: Instant,
  comparison: '<' | '<=' = '<',
) {
  return db
    .selectFrom('report_issue')
    .where('report', '=', report)
    .where('variant', '=', variant)
    .where('kind', '=', kind)
    .where('period_to', comparison, end)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('delivery').whereRef('issue_id', '=', 'report_issue.id').select('message_id')),
    )
    .orderBy('period_to', 'desc')
    .limit(1)
}

async function hasMessages(trx: Db, issueId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('delivery')
    .where('issue_id', '=', issueId)
    .select('message_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Issues of before these were told have neither failures nor warnings. */
function figuresOf(json: string): ReportFigures {
  const figures = JSON.parse(json)
  const { freshness = {}, failed = [], warnings = [] } = figures
  const { statsAsOf = null, agentsAsOf = null } = freshness
  return { ...figures, freshness: { ...freshness, statsAsOf, agentsAsOf }, failed, warnings }
}

function issueOf(row: Selectable<ReportIssueTable>, isMailed: boolean): Issue {
  return {
    id: row.id,
    report: row.report,
    period: { from: row.period_from, to: row.period_to, timeZone: row.time_zone },
    variant: row.variant,
    renderedAt: row.rendered_at,
    figures: figuresOf(row.figures),
    programVersion: row.program_version,
    notSent: row.not_sent,
    subject: row.subject,
    html: row.html,
    text: row.text,
    isMailed,
  }
}

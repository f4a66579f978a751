/** Stores issues for ever, one for each report, period and variant (the same filter of leads). */
import { randomUUID } from 'node:crypto'
import {
  type FailedSection,
  FIGURES_FORMAT,
  type PeriodKind,
  type ReportFigures,
} from '../../domain/figures.ts'
import type { Rendered } from '../../domain/message.ts'
import type { Instant, Period } from '../../domain/model.ts'
import type { Db, Trx } from '../db/store.ts'
import type { LastReported } from '../figures/report-lists.ts'
import type { Row } from '../tables/tables.ts'

interface IssueKey {
  readonly report: string
  readonly period: Period
  /** The recipients' filter of leads as JSON; empty for all leads of the report. */
  readonly variant: string
}

export interface Issue extends IssueKey, Rendered {
  readonly id: string
  /** The time just before the figures were read. Data that became known later is not in the issue. */
  readonly renderedAt: Instant
  readonly figures: ReportFigures
  /** Null if the figures have another format than today's; the issue then stays as stored. */
  readonly programVersion: string | null
  /** Null if it was sent, or was made only for viewing. */
  readonly notSent: string | null
  /** Tells whether the issue has messages. An issue with messages must not change. */
  readonly isEnqueued: boolean
}

export type UnsavedIssue = Omit<Issue, 'id' | 'isEnqueued' | 'notSent'>

/** A series of issues: all issues of a report with the same variant and the same kind of period. */
export interface SeriesKey extends Pick<IssueKey, 'report' | 'variant'> {
  readonly kind: PeriodKind
}

/** The part of the last enqueued issue that the next one needs. */
export interface EnqueuedIssue {
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

/** Lists the enqueued issues with the last end by an instant, such as those of a day and a week. */
export async function listLastEnqueued(db: Db, report: string, by: Instant): Promise<Issue[]> {
  const last = await findReportEnd(db, report, by)
  if (last === null) return []
  const rows = await enqueuedIssues(db, report)
    .where('period_to', '=', last)
    .selectAll()
    .orderBy('rendered_at')
    .orderBy('variant')
    .execute()
  return rows.map((row) => issueOf(row, true))
}

/** The end of the last enqueued period that ended at or before an instant. */
export async function findReportEnd(db: Db, report: string, by: Instant): Promise<Instant | null> {
  const row = await enqueuedIssues(db, report)
    .where('period_to', '<=', by)
    .select('period_to')
    .orderBy('period_to', 'desc')
    .executeTakeFirst()
  return row?.period_to ?? null
}

export async function listLastFailed(db: Db, report: string): Promise<readonly FailedSection[]> {
  const row = await enqueuedIssues(db, report)
    .orderBy('period_from', 'desc')
    .limit(1)
    .select('figures')
    .executeTakeFirst()
  return row === undefined ? [] : figuresOf(row.figures).failed
}

/** The end of the series' last enqueued period that ended before an instant. */
export async function findSeriesEnd(db: Db, key: SeriesKey, before: Instant): Promise<Instant | null> {
  const row = await enqueuedInSeries(db, key, before).select('period_to').executeTakeFirst()
  return row?.period_to ?? null
}

/** The last enqueued issue that ended by an instant, made before `madeBefore`. */
export async function findLastEnqueued(
  db: Db,
  key: SeriesKey,
  by: Instant,
  madeBefore: Instant | null = null,
): Promise<EnqueuedIssue | null> {
  const sent = enqueuedInSeries(db, key, by, '<=')
  const row = await (madeBefore === null ? sent : sent.where('rendered_at', '<', madeBefore))
    .select(['period_to', 'rendered_at', 'figures', 'program_version', 'figures_format'])
    .executeTakeFirst()
  if (!row || !isOfToday(row)) return null
  return { periodTo: row.period_to, renderedAt: row.rendered_at, figures: figuresOf(row.figures) }
}

/** If the list of changes failed, this is the time from which it should have begun. */
export function reportedUpTo({ periodTo, renderedAt, figures }: EnqueuedIssue): LastReported {
  const hasFailed = figures.failed.some(({ block }) => block === 'changes')
  const { since } = figures.changes
  return hasFailed ? { at: since, knownAt: since } : { at: periodTo, knownAt: renderedAt }
}

/** Replaces an issue but keeps its id and `notSent`. An issue with messages is returned unchanged. */
export async function saveIssue(trx: Trx, issue: UnsavedIssue): Promise<Issue> {
  const earlier = await findIssue(trx, issue)
  if (earlier?.isEnqueued) return earlier
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
      figures_format: FIGURES_FORMAT,
    })
    .execute()
  return { id, ...issue, notSent, isEnqueued: false }
}

/** True if, for a period that ended between, the report was enqueued or deliberately not sent. */
export async function wasEnqueuedOrSkipped(
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

/** The reason is null if the issue is sent after all. */
export async function noteNotSent(trx: Trx, id: string, reason: string | null): Promise<void> {
  await trx.updateTable('report_issue').where('id', '=', id).set({ not_sent: reason }).execute()
}

function enqueuedIssues(db: Db, report: string) {
  return db
    .selectFrom('report_issue')
    .where('report', '=', report)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('delivery').whereRef('issue_id', '=', 'report_issue.id').select('message_id')),
    )
}

function enqueuedInSeries(
  db: Db,
  { report, variant, kind }: SeriesKey,
  end: Instant,
  comparison: '<' | '<=' = '<',
) {
  return enqueuedIssues(db, report)
    .where('variant', '=', variant)
    .where('kind', '=', kind)
    .where('period_to', comparison, end)
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

/** Parses stored figures, whatever they are. Figures that are no JSON, or no group, have no fields. */
function parseFigures(json: string): Readonly<Record<string, unknown>> {
  try {
    const figures: unknown = JSON.parse(json)
    return isGroup(figures) ? figures : {}
  } catch {
    return {}
  }
}

function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Only figures of today's format are known to be whole; others have at least the list of failures. */
function figuresOf(json: string): ReportFigures {
  const figures = parseFigures(json)
  const failed = Array.isArray(figures.failed) ? figures.failed : []
  return { ...figures, failed } as unknown as ReportFigures
}

/** Returns whether the figures of an issue have today's format, so that its blocks can be composed of them again. */
function isOfToday(
  row: Pick<Row<'report_issue'>, 'program_version' | 'figures_format' | 'figures'>,
): boolean {
  const isKnown = row.program_version !== null && row.figures_format === FIGURES_FORMAT
  return isKnown && 'period' in parseFigures(row.figures)
}

function issueOf(row: Row<'report_issue'>, isEnqueued: boolean): Issue {
  return {
    id: row.id,
    report: row.report,
    period: { from: row.period_from, to: row.period_to, timeZone: row.time_zone },
    variant: row.variant,
    renderedAt: row.rendered_at,
    figures: figuresOf(row.figures),
    programVersion: isOfToday(row) ? row.program_version : null,
    notSent: row.not_sent,
    subject: row.subject,
    html: row.html,
    text: row.text,
    isEnqueued,
  }
}

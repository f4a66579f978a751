/**
 * Makes an issue: reads the figures of a period, renders them, and stores the issue in the store and in the
 * archive. There is one issue per report, period and filter. Once its messages were made, an issue never
 * changes: making it again returns the stored issue.
 */

import { join } from 'node:path'
import type { FieldTable } from '../../domain/declared-fields.ts'
import type { FailedSection, ReportFigures, ReportWarning } from '../../domain/figures.ts'
import type { MessageFile } from '../../domain/message.ts'
import type { Period } from '../../domain/model.ts'
import { daysUpTo, periodOf, priorOf } from '../../domain/period.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import { type ReportRequest, readReportFigures } from '../../store/figures/report-figures.ts'
import { readFieldTable } from '../../store/leads/declared-fields.ts'
import { runReportQueries } from '../../store/queries/report-query.ts'
import {
  type EnqueuedIssue,
  findIssue,
  findLastEnqueued,
  findSeriesEnd,
  type Issue,
  reportedUpTo,
  type SeriesKey,
  saveIssue,
  type UnsavedIssue,
} from '../../store/reports/issue.ts'
import { archivedPage, archiveIssue } from '../archive/archive.ts'
import { tryInsight } from '../insight/report-insight.ts'
import { freshSnapshot, type PublishDeps } from '../snapshot/publish-snapshot.ts'
import { type ContentDeps, contentsOf, createContents, type FindContent } from './report-content.ts'
import { type Audience, LIST_ROWS_MAX, type Report, variantOf } from './report-definition.ts'
import { findUnusual } from './volume-anomaly.ts'

/** The recipients who share an issue, because they all have the same filter. */
type Audiences = readonly [Audience, ...Audience[]]

export interface IssueDeps extends ContentDeps {
  readonly store: Store
  readonly archive: string
  readonly publishing: PublishDeps
  readonly program: string
  readonly now: () => Date
}

/** An issue that was rendered but not stored yet; {@link keepIssue} stores it. */
export interface ComposedIssue {
  readonly issue: UnsavedIssue
  /** The stored issue if it was already enqueued, otherwise null. */
  readonly enqueued: Issue | null
  readonly failed: readonly FailedSection[]
  readonly findContent: FindContent
}

/** 90 days are shown, and the moving average of the first needs six earlier days. */
const TREND_DAYS = 96
/** The maximum number of rows of each list if no recipient wants files. It is more than any mail shows. */
const ROWS_SHOWN = 50

/**
 * Returns the period that a report due at `at` covers.
 * @param audience the recipients whose last issue decides where a `since_last` period begins; if absent, the
 *   recipients with the report's own filter
 */
export async function findPeriod(
  store: Pick<Store, 'db'>,
  report: Report,
  at: Date,
  audience: Pick<Audience, 'filter'> = report,
): Promise<Period> {
  const { kind, timeZone } = report
  const never = periodOf(kind, at, timeZone, { ...report, lastEnd: null })
  if (kind !== 'since_last') return never
  // An issue that ends with this period does not count as the last one. Therefore, if the report was already
  // sent today, the same period is found again and no empty report follows.
  const lastEnd = await findSeriesEnd(store.db, seriesOf(report, audience), never.to)
  return periodOf(kind, at, timeZone, { ...report, lastEnd })
}

/**
 * Makes the issue for viewing: in the store and the archive, but without messages.
 * @throws LeadsheetError report_no_data, report_failed, report_template, data_unwritable
 */
export async function makeIssue(
  deps: IssueDeps,
  report: Report,
  period: Period,
  audiences: Audiences,
  signal: AbortSignal,
) {
  const composed = await composeIssue(deps, report, period, audiences, signal)
  const issue = await deps.store.write((trx) => keepIssue(trx, composed))
  return { issue, page: await putInArchive(deps, report, issue, audiences, composed.findContent) }
}

/**
 * Composes the issue of a period for recipients with the same filter, in the report's own language and with
 * the report's own blocks and files. An issue that was already enqueued is returned unchanged; any other
 * issue is made again from the current data.
 * @param notes what readers are told of the making, such as that the report is late
 * @throws LeadsheetError report_no_data, report_failed, report_template
 */
export async function composeIssue(
  deps: IssueDeps,
  report: Report,
  period: Period,
  audiences: Audiences,
  signal: AbortSignal,
  notes: readonly ReportWarning[] = [],
): Promise<ComposedIssue> {
  const key = { ...keyOf(report, audiences[0]), period }
  const stored = await findIssue(deps.store.db, key)
  if (stored?.isEnqueued) {
    const { failed } = stored.figures
    return { issue: stored, enqueued: stored, failed, findContent: contentsOf(deps, report, stored) }
  }
  const renderedAt = deps.now().toISOString()
  const read = await readIssueFigures(deps, report, period, audiences, signal)
  const figures = { ...read, warnings: [...notes, ...read.warnings] }
  const findContent = createContents(deps, report, { figures, renderedAt })
  const { subject, html, text, failed } = await findContent(report, null)
  const programVersion = deps.program
  const issue = { ...key, renderedAt, figures, subject, html, text, programVersion }
  return { issue, enqueued: null, failed, findContent }
}

/**
 * The content of a preview or a test, from the current data even if the issue was already enqueued.
 * @throws LeadsheetError report_no_data, report_failed
 */
export async function contentsOfNow(
  deps: IssueDeps,
  report: Report,
  issue: Issue,
  audiences: Audiences,
  signal: AbortSignal,
): Promise<FindContent> {
  if (!issue.isEnqueued) return contentsOf(deps, report, issue)
  const figures = await readIssueFigures(deps, report, issue.period, audiences, signal)
  return createContents(deps, report, { figures, renderedAt: deps.now().toISOString() })
}

export async function keepIssue(trx: Trx, { issue, enqueued }: ComposedIssue): Promise<Issue> {
  return enqueued ?? (await saveIssue(trx, issue))
}

/**
 * @returns the path of the issue's page
 * @throws LeadsheetError data_unwritable
 */
export async function putInArchive(
  { archive }: Pick<IssueDeps, 'archive'>,
  report: Report,
  issue: Issue,
  audiences: Audiences,
  findContent: FindContent,
): Promise<string> {
  // Issues of older program versions have figures in another format, so their pages cannot be rendered again.
  if (issue.programVersion === null) return join(archive, archivedPage(issue))
  const pictures = (await findContent(report, null)).files.filter(({ cid }) => cid !== null)
  const files = [...pictures, ...(await attachmentsFor(findContent, report, audiences))]
  return archiveIssue(archive, { ...issue, files })
}

/** Returns every file that any recipient gets, including files that are too large for a mail. */
async function attachmentsFor(
  findContent: FindContent,
  report: Report,
  audiences: Audiences,
): Promise<readonly MessageFile[]> {
  const wanted = new Set([report, ...audiences].flatMap(({ attachments }) => attachments))
  const { files, leftOut } = await findContent({ ...report, attachments: [...wanted] }, null)
  return [...files.filter(({ cid }) => cid === null), ...leftOut]
}

/** @throws LeadsheetError report_no_data, report_failed */
async function readIssueFigures(
  deps: Pick<IssueDeps, 'store' | 'now' | 'publishing'>,
  report: Report,
  period: Period,
  audiences: Audiences,
  signal: AbortSignal,
): Promise<ReportFigures> {
  const last = await findLastEnqueued(deps.store.db, seriesOf(report, audiences[0]), period.to)
  const request = requestFor(report, period, audiences, last)
  const figures = await readFigures(deps, report, request, signal)
  const warnings = await findUnusual(deps.store.db, figures, last?.figures ?? null)
  const judged = { ...report, ...figures.freshness }
  const { insight, failed } = await tryInsight(deps, request, last?.figures.insight ?? null, judged)
  const all = { ...figures, insight, failed: [...figures.failed, ...failed], warnings }
  const { columns = [] } = report
  return columns.length === 0 ? all : { ...all, fields: await readListedFields(deps.store, all, columns) }
}

/** Like the lists, the fields show present values. */
async function readListedFields(
  { db }: Store,
  { topLeads, stalled, changes, insight }: ReportFigures,
  columns: readonly string[],
): Promise<FieldTable> {
  const listed = [
    ...topLeads.rows,
    ...stalled.rows,
    ...changes.kinds.flatMap(({ rows }) => rows),
    ...(insight?.today.rows ?? []).map(({ lead }) => lead),
  ]
  return readFieldTable(db, [...new Set(listed.map(({ id }) => id))], columns)
}

function requestFor(
  report: Report,
  period: Period,
  audiences: Audiences,
  last: EnqueuedIssue | null,
): ReportRequest {
  const { kind, stalledDays, topScore } = report
  const { filter } = audiences[0]
  const hasFiles = [report, ...audiences].some(({ attachments }) => attachments.length > 0)
  return {
    kind,
    period,
    prior: priorOf(kind, period),
    filter,
    stalledDays,
    topScore,
    rowsMax: hasFiles ? LIST_ROWS_MAX : ROWS_SHOWN,
    since: last && reportedUpTo(last),
    trendDays: daysUpTo(period.to, TREND_DAYS, period.timeZone),
  }
}

function seriesOf(report: Report, audience: Pick<Audience, 'filter'>): SeriesKey {
  return { ...keyOf(report, audience), kind: report.kind }
}

function keyOf(report: Report, audience: Pick<Audience, 'filter'>): { report: string; variant: string } {
  return { report: report.name, variant: variantOf(report, audience) }
}

async function readFigures(
  { store, publishing }: Pick<IssueDeps, 'store' | 'publishing'>,
  report: Report,
  request: ReportRequest,
  signal: AbortSignal,
): Promise<ReportFigures> {
  const figures = await readReportFigures(store.db, request)
  if (figures.freshness.dataAsOf === null) {
    throw new LeadsheetError(
      'report_no_data',
      `The report ${report.name} has no data: no sync has read all leads yet`,
      { hint: `Run ${shellCommand('sync')} first.` },
    )
  }
  const { tables, failed } = await runReportQueries(
    () => freshSnapshot(publishing, signal),
    report.queries,
    request,
    { signal },
  )
  return { ...figures, queries: tables, failed: [...figures.failed, ...failed] }
}

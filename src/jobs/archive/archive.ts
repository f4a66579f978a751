/**
 * Writes the archive, which consists of plain files that only need a browser. Each issue (a report for one
 * period) has a folder with its page (index.html), text, figures as JSON and attachments. An index page lists
 * all issues.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { LeadFilter, ReportFigures } from '../../domain/figures.ts'
import type { MessageFile, Rendered } from '../../domain/message.ts'
import type { Instant, Period } from '../../domain/model.ts'
import { formatDates, localDates } from '../../domain/period.ts'
import { faultText, LeadsheetError } from '../../errors.ts'
import type { ExplainedFigure } from '../../report/archive/about.ts'
import { leadsText } from '../../report/archive/about.ts'
import type { AboutView, ArchivePages, IndexLine, NavView } from '../../report/archive/pages.ts'
import type { Db } from '../../store/db/store.ts'
import { explainReport } from '../../store/figures/explain-report.ts'
import type { ReportRequest } from '../../store/figures/report-figures.ts'
import { explainReportQuery } from '../../store/queries/report-query.ts'
import type { ListedIssue, MessageCounts } from '../../store/reports/issue-list.ts'
import { countIssues, listIssues } from '../../store/reports/issue-list.ts'

export interface Archive {
  readonly folder: string
  readonly pages: ArchivePages
}

/** An issue as it is written to the archive. */
export interface ArchivedIssue extends Rendered {
  readonly report: string
  readonly period: Period
  /** The issue's own filter as JSON; empty if the issue covers all leads of the report. */
  readonly variant: string
  readonly renderedAt: Instant
  readonly figures: object
  /** The images of the message, and every attachment that was made for any recipient. */
  readonly files: readonly MessageFile[]
  readonly about: Omit<AboutView, 'files'>
}

const PAGE = 'index.html'
const FIGURES = 'figures.json'
/**
 * Matches the name of an issue's folder. The name consists of the dates of the period, and of a hash if the
 * issue has its own filter.
 */
const FOLDER = /^(\d{4}-\d\d-\d\d(?:--\d{4}-\d\d-\d\d)?)(-[\da-f]{8})?$/

/**
 * Writes the folder of an issue and replaces an earlier folder of the same name. The folder is written
 * completely or not at all. Also updates the links on the pages of the issues before and after.
 * @returns the path of the issue's page
 * @throws LeadsheetError data_unwritable
 */
export async function archiveIssue(archive: Archive, issue: ArchivedIssue): Promise<string> {
  const report = join(archive.folder, issue.report)
  const name = folderNameOf(issue)
  const page = join(report, name, PAGE)
  await writable(page, async () => {
    await mkdir(report, { recursive: true, mode: 0o700 })
    const others = await listSeries(report, name)
    const series = [...new Set([...others, name])].sort()
    const navOf = (folder: string) => navIn(series, issue.report, folder)
    await replaceFolder(join(report, name), contentsOf(archive.pages, issue, navOf(name)))
    const at = series.indexOf(name)
    for (const folder of [series[at - 1], series[at + 1]].filter((each) => each !== undefined)) {
      const file = join(report, folder, PAGE)
      await replaceFile(file, archive.pages.withNav(await readFile(file, 'utf8'), navOf(folder)))
    }
  })
  return page
}

/** Returns the path of an issue's page within the archive, whether or not the page exists. */
export function archivedPage(issue: Pick<ArchivedIssue, 'report' | 'period' | 'variant'>): string {
  return join(issue.report, folderNameOf(issue), PAGE)
}

/**
 * Returns whether the archive has a folder of this issue. If an earlier issue left a folder with the same
 * name, the result is false.
 */
export async function isArchived(
  { folder }: Pick<Archive, 'folder'>,
  issue: Pick<ArchivedIssue, 'report' | 'period' | 'variant' | 'renderedAt'>,
): Promise<boolean> {
  const page = join(folder, archivedPage(issue))
  const figures = join(dirname(page), FIGURES)
  if (!existsSync(page) || !existsSync(figures)) return false
  return (await readFile(figures, 'utf8')).includes(`"renderedAt":${JSON.stringify(issue.renderedAt)}`)
}

function folderNameOf({ period, variant }: Pick<ArchivedIssue, 'period' | 'variant'>): string {
  const dates = localDates(period)
  if (variant === '') return dates
  return `${dates}-${createHash('sha256').update(variant).digest('hex').slice(0, 8)}`
}

/** Lists the folders of the report's issues that have the same filter as the folder `name`. */
async function listSeries(report: string, name: string): Promise<string[]> {
  const mark = markOf(name)
  const entries = await readdir(report)
  return entries.filter(
    (each) => FOLDER.test(each) && markOf(each) === mark && existsSync(join(report, each, PAGE)),
  )
}

function markOf(folder: string): string | undefined {
  return FOLDER.exec(folder)?.[2]
}

/**
 * Builds the links to the issue before and the issue after.
 * @param series the names of the folders of all issues with the same filter, oldest first
 */
function navIn(series: readonly string[], report: string, folder: string): NavView {
  const at = series.indexOf(folder)
  const neighbour = (index: number) => {
    const found = series[index]
    return found === undefined ? null : { href: `../${found}/${PAGE}`, dates: datesOf(found) }
  }
  return { report, current: datesOf(folder), previous: neighbour(at - 1), next: neighbour(at + 1) }
}

function datesOf(folder: string): string {
  return (FOLDER.exec(folder)?.[1] ?? folder).replace('--', ' to ')
}

function contentsOf(
  pages: ArchivePages,
  issue: ArchivedIssue,
  nav: NavView,
): ReadonlyMap<string, string | Uint8Array> {
  const { report, period, subject, html, text, renderedAt, figures, files, about } = issue
  const attached = files.filter(({ cid }) => cid === null)
  const names = ['mail.txt', FIGURES, ...attached.map((file) => file.name)]
  return new Map<string, string | Uint8Array>([
    ['mail.txt', text],
    [FIGURES, `${JSON.stringify({ report, period, subject, renderedAt, figures })}\n`],
    ...attached.map(({ name, content }) => [name, content] as const),
    [PAGE, pages.issue({ html, files }, nav, { ...about, files: names })],
  ])
}

/**
 * Replaces a folder. The temporary names contain the process id, because another process may write the same
 * folder at the same time.
 */
async function replaceFolder(
  folder: string,
  contents: ReadonlyMap<string, string | Uint8Array>,
): Promise<void> {
  const unfinished = `${folder}.${process.pid}.part`
  const before = `${folder}.${process.pid}.old`
  const clear = () =>
    Promise.all([unfinished, before].map((each) => rm(each, { recursive: true, force: true })))
  await clear()
  try {
    await mkdir(unfinished, { mode: 0o700 })
    for (const [name, content] of contents) await writeFile(join(unfinished, name), content, { mode: 0o600 })
    if (existsSync(folder)) await rename(folder, before)
    await rename(unfinished, folder)
  } finally {
    if (!existsSync(folder) && existsSync(before)) await rename(before, folder)
    await clear()
  }
}

async function replaceFile(file: string, content: string): Promise<void> {
  const unfinished = `${file}.${process.pid}.part`
  await writeFile(unfinished, content, { mode: 0o600 })
  await rename(unfinished, file)
}

async function writable(path: string, write: () => Promise<void>): Promise<void> {
  await write().catch((cause: unknown) => {
    const isOfFile = cause instanceof Error && 'syscall' in cause
    if (!isOfFile) throw cause
    throw new LeadsheetError('data_unwritable', `${path} cannot be written: ${faultText(cause)}`, {
      hint: 'Check that data_dir (LEADSHEET_DATA_DIR) is writable by this user and has space.',
      cause,
    })
  })
}

/** The maximum number of issues on the index page. Nobody reads a longer page to its end. */
const LINES_MAX = 1000

/**
 * Writes the index page of all issues. It must be called twice for an issue: when it was made, and again when
 * its messages were sent.
 * @returns the path of the page
 * @throws LeadsheetError data_unwritable
 */
export async function writeArchiveIndex(archive: Archive, db: Db): Promise<string> {
  const issues = await listIssues(db, null, LINES_MAX)
  const count = await countIssues(db)
  const byMonth = Map.groupBy(issues, ({ period }) => monthOf(localDates(period)))
  const months = [...byMonth].map(([name, all]) => ({
    name,
    issues: all.map((one) => lineOf(archive, one)),
  }))
  const page = join(archive.folder, PAGE)
  await writable(page, async () => {
    await mkdir(archive.folder, { recursive: true, mode: 0o700 })
    await replaceFile(page, archive.pages.index({ summary: summaryOf(count), months }))
  })
  return page
}

/**
 * Describes whether an issue was sent, such as `sent to 12`, `sent to 10 of 12, 2 refused` or `not sent:
 * quiet`.
 */
export function issueState({
  notSent,
  messages,
  copies,
}: Pick<ListedIssue, 'notSent' | 'messages' | 'copies'>): string {
  if (messages.total === 0) return notSent === null ? 'looked at, not sent' : `not sent: ${notSent}`
  const copied = copies.total === 0 ? '' : `; again to ${countsText(copies)}`
  return `sent to ${countsText(messages)}${copied}`
}

/** Formats counts: `2`, or `1 of 3, 1 refused, 1 waiting` if not all messages are sent. */
function countsText({ total, sent, failed, unconfirmed, withdrawn }: MessageCounts): string {
  if (sent === total) return String(total)
  const waiting = total - sent - failed - unconfirmed - withdrawn
  const rest = [
    ...(failed > 0 ? [`${failed} refused`] : []),
    ...(unconfirmed > 0 ? [`${unconfirmed} unconfirmed`] : []),
    ...(withdrawn > 0 ? [`${withdrawn} not wanted`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ]
  return `${sent} of ${total}, ${rest.join(', ')}`
}

/** Describes the filter of an issue; null if the issue uses the report's own filter. */
export function variantText(variant: string): string | null {
  if (variant === '') return null
  const filter: LeadFilter = JSON.parse(variant)
  return leadsText(filter)
}

function lineOf(archive: Archive, issue: ListedIssue): IndexLine {
  const { report, period, variant, subject, messages, copies } = issue
  const problems = messages.failed + messages.unconfirmed + copies.failed + copies.unconfirmed
  const page = archivedPage(issue)
  const scope = variantText(variant)
  return {
    href: existsSync(join(archive.folder, page)) ? page : null,
    subject,
    about: [report, formatDates(period), ...(scope === null ? [] : [scope])].join(' · '),
    state: issueState(issue),
    tone: problems > 0 ? 'bad' : messages.sent > 0 ? 'good' : 'about',
  }
}

/** Converts `2026-11-20` to `November 2026`. */
function monthOf(dates: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
  return format.format(Date.parse(dates.slice(0, 10)))
}

function summaryOf(count: number): string {
  if (count === 0) return 'None has been made yet.'
  if (count > LINES_MAX) {
    return `${count.toLocaleString('en')} issues; the newest ${LINES_MAX.toLocaleString('en')} are listed here, all of them are in the folders beside this page.`
  }
  return count === 1 ? 'One issue.' : `${count} issues, the newest first.`
}

/**
 * Explains how each figure of an issue was computed. The issue's page in the archive shows this explanation.
 * @param request the request with which the figures were read
 */
export function explainIssue(request: ReportRequest, figures: ReportFigures): ExplainedFigure[] {
  const queries = figures.queries.map(
    ({ title, note, sql }): ExplainedFigure => ({
      ...{ block: 'queries', figure: null, title, meaning: note ?? 'as the report’s own folder asks' },
      ...{ sql: explainReportQuery(sql, request), priorSql: null },
    }),
  )
  return [...explainReport(request, figures), ...queries]
}

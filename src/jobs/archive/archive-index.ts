/** The page that lists the issues of all reports, the newest first, with what became of each. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LeadFilter } from '../../domain/figures.ts'
import { localDates, tellDates } from '../../domain/period.ts'
import { leadsText } from '../../report/archive/about.ts'
import type { IndexLine } from '../../report/archive/pages.ts'
import type { Db } from '../../store/db/store.ts'
import { countIssues, type ListedIssue, listIssues } from '../../store/reports/issue-list.ts'
import { type Archive, archivedPage, writeArchiveFile } from './archive.ts'

/** More would make a page that nobody reads to its end. */
const LINES_MAX = 1000

/**
 * To be called whenever an issue was kept or its messages went out.
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
  return writeArchiveFile(archive, 'index.html', archive.pages.index({ summary: summaryOf(count), months }))
}

/** What became of an issue: `sent to 12`, `sent to 10 of 12, 2 refused`, `not sent: quiet`. */
export function issueState({ notSent, messages }: Pick<ListedIssue, 'notSent' | 'messages'>): string {
  const { total, sent, failed, unconfirmed, withdrawn } = messages
  if (total === 0) return notSent === null ? 'looked at, not sent' : `not sent: ${notSent}`
  if (sent === total) return `sent to ${total}`
  const waiting = total - sent - failed - unconfirmed - withdrawn
  const rest = [
    ...(failed > 0 ? [`${failed} refused`] : []),
    ...(unconfirmed > 0 ? [`${unconfirmed} unconfirmed`] : []),
    ...(withdrawn > 0 ? [`${withdrawn} not wanted`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ]
  return `sent to ${sent} of ${total}, ${rest.join(', ')}`
}

/** Which leads an issue is about; null for all that its report is about. */
export function variantText(variant: string): string | null {
  if (variant === '') return null
  const filter: LeadFilter = JSON.parse(variant)
  return leadsText(filter)
}

function lineOf(archive: Archive, issue: ListedIssue): IndexLine {
  const { report, period, variant, subject, messages } = issue
  const page = archivedPage(issue)
  const scope = variantText(variant)
  return {
    href: existsSync(join(archive.folder, page)) ? page : null,
    subject,
    about: [report, tellDates(period), ...(scope === null ? [] : [scope])].join(' · '),
    state: issueState(issue),
    tone: messages.failed + messages.unconfirmed > 0 ? 'bad' : messages.sent > 0 ? 'good' : 'about',
  }
}

/** `2026-11-20` -> `November 2026` */
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

/**
 * Writes the page of each issue (a report for one period) into the archive folder, for people without a dashboard.
 * The archive that the dashboard shows is the table of issues.
 */
import { createHash } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { LeadFilter } from '../../domain/figures.ts'
import type { MessageFile } from '../../domain/message.ts'
import type { Period } from '../../domain/model.ts'
import { localDates } from '../../domain/period.ts'
import { faultText, LeadsheetError } from '../../errors.ts'
import { leadsText } from '../../report/archive/about.ts'
import { renderArchivePage } from '../../report/archive/page.ts'
import type { ListedIssue, MessageCounts } from '../../store/reports/issue-list.ts'

export interface ArchivedIssue {
  readonly report: string
  readonly period: Period
  /** The issue's own filter as JSON; empty if the issue covers all leads of the report. */
  readonly variant: string
  readonly html: string
  readonly files: readonly MessageFile[]
}

/**
 * Writes the page of an issue completely or not at all, and replaces an earlier page.
 * @returns the path of the page
 * @throws LeadsheetError data_unwritable
 */
export async function archiveIssue(folder: string, issue: ArchivedIssue): Promise<string> {
  const page = join(folder, archivedPage(issue))
  const html = renderArchivePage(issue)
  // The temporary name contains the process id, because another process may write the same page.
  const unfinished = `${page}.${process.pid}.part`
  try {
    await mkdir(dirname(page), { recursive: true, mode: 0o700 })
    await writeFile(unfinished, html, { mode: 0o600 })
    await rename(unfinished, page)
  } catch (cause) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw new LeadsheetError('data_unwritable', `${page} cannot be written: ${faultText(cause)}`, {
      hint: 'Check that data_dir (LEADSHEET_DATA_DIR) is writable by this user and has space.',
      cause,
    })
  }
  return page
}

export function archivedPage({
  report,
  period,
  variant,
}: Pick<ArchivedIssue, 'report' | 'period' | 'variant'>): string {
  const hash = variant === '' ? '' : `-${createHash('sha256').update(variant).digest('hex').slice(0, 8)}`
  return join(report, `${localDates(period)}${hash}.html`)
}

/** Writes `sent to 12`, `sent to 10 of 12, 2 refused` or `not sent: quiet`. */
export function issueState({
  notSent,
  messages,
  copies,
}: Pick<ListedIssue, 'notSent' | 'messages' | 'copies'>): string {
  if (messages.total === 0) return notSent === null ? 'looked at, not sent' : `not sent: ${notSent}`
  const copied = copies.total === 0 ? '' : `; again to ${countsText(copies)}`
  return `sent to ${countsText(messages)}${copied}`
}

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

/** Null if the issue uses the report's own filter. */
export function variantText(variant: string): string | null {
  if (variant === '') return null
  const filter: LeadFilter = JSON.parse(variant)
  return leadsText(filter)
}

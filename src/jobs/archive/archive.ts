/**
 * Writes issues (reports for one period) into the archive folder, for people without a dashboard. Each issue
 * has a folder with its page (index.html) and its attachments. The archive that the dashboard shows is the
 * table of issues.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, constants, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { LeadFilter } from '../../domain/figures.ts'
import type { MessageFile } from '../../domain/message.ts'
import type { Period } from '../../domain/model.ts'
import { localDates } from '../../domain/period.ts'
import { faultText, LeadsheetError } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'
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

const PAGE = 'index.html'

/**
 * Writes the folder of an issue and replaces an earlier folder of the same name. The folder is written
 * completely or not at all.
 * @returns the path of the issue's page
 * @throws LeadsheetError data_unwritable
 */
export async function archiveIssue(folder: string, issue: ArchivedIssue): Promise<string> {
  const page = join(folder, archivedPage(issue))
  const attached = issue.files.filter(({ cid }) => cid === null)
  const contents = new Map<string, string | Uint8Array>([
    ...attached.map(({ name, content }) => [name, content] as const),
    [PAGE, renderArchivePage(issue)],
  ])
  await replaceFolder(dirname(page), contents).catch((cause: unknown) => {
    const isOfFile = cause instanceof Error && 'syscall' in cause
    if (!isOfFile) throw cause
    throw new LeadsheetError('data_unwritable', `${page} cannot be written: ${faultText(cause)}`, {
      hint: 'Check that data_dir (LEADSHEET_DATA_DIR) and all in it belong to this user, and that it has space.',
      cause,
    })
  })
  return page
}

export function archivedPage({
  report,
  period,
  variant,
}: Pick<ArchivedIssue, 'report' | 'period' | 'variant'>): string {
  const hash = variant === '' ? '' : `-${createHash('sha256').update(variant).digest('hex').slice(0, 8)}`
  return join(report, `${localDates(period)}${hash}`, PAGE)
}

/** The temporary names contain the process id, because another process may write the same folder. */
async function replaceFolder(
  folder: string,
  contents: ReadonlyMap<string, string | Uint8Array>,
): Promise<void> {
  const unfinished = `${folder}.${process.pid}.part`
  const before = `${folder}.${process.pid}.old`
  const clear = () =>
    Promise.all([unfinished, before].map((each) => rm(each, { recursive: true, force: true })))
  makeFolders(dirname(folder), 0o700)
  await clear()
  try {
    await mkdir(unfinished, { mode: 0o700 })
    for (const [name, content] of contents) await writeFile(join(unfinished, name), content, { mode: 0o600 })
    if (existsSync(folder)) {
      // A folder of another user keeps its name, because it could not be deleted afterwards.
      await access(folder, constants.W_OK)
      await rename(folder, before)
    }
    await rename(unfinished, folder)
  } finally {
    if (!existsSync(folder) && existsSync(before)) await rename(before, folder)
    await clear()
  }
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

function countsText(counts: MessageCounts): string {
  const { total, sent, failed, bounced, complained, unconfirmed, withdrawn } = counts
  if (sent === total) return String(total)
  const waiting = total - sent - failed - bounced - complained - unconfirmed - withdrawn
  const rest = [
    ...(failed > 0 ? [`${failed} refused`] : []),
    ...(bounced > 0 ? [`${bounced} bounced`] : []),
    ...(complained > 0 ? [`${complained} reported as spam`] : []),
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

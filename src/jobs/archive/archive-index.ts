/** The page that lists the editions of all reports, the newest first, with what became of each. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LeadFilter } from '../../domain/figures.ts'
import { localDates, tellDates } from '../../domain/period.ts'
import { leadsText } from '../../report/archive/about.ts'
import type { IndexLine } from '../../report/archive/pages.ts'
import type { Db } from '../../store/db/store.ts'
import { countEditions, type ListedEdition, listEditions } from '../../store/reports/issue-list.ts'
import { type Archive, archivedPage, writeArchiveFile } from './archive.ts'

/** More would make a page that nobody reads to its end. */
const LINES_MAX = 1000

/**
 * To be called whenever an edition was kept or its letters went out.
 * @returns the path of the page
 * @throws LeadsheetError data_unwritable
 */
export async function writeArchiveIndex(archive: Archive, db: Db): Promise<string> {
  const editions = await listEditions(db, null, LINES_MAX)
  const count = await countEditions(db)
  const byMonth = Map.groupBy(editions, ({ period }) => monthOf(localDates(period)))
  const months = [...byMonth].map(([name, all]) => ({
    name,
    editions: all.map((one) => lineOf(archive, one)),
  }))
  return writeArchiveFile(archive, 'index.html', archive.pages.index({ summary: summaryOf(count), months }))
}

/** What became of an edition: `sent to 12`, `sent to 10 of 12, 2 refused`, `not sent: quiet`. */
export function editionState({ notSent, letters }: Pick<ListedEdition, 'notSent' | 'letters'>): string {
  const { total, sent, failed, inDoubt, withdrawn } = letters
  if (total === 0) return notSent === null ? 'looked at, not sent' : `not sent: ${notSent}`
  if (sent === total) return `sent to ${total}`
  const waiting = total - sent - failed - inDoubt - withdrawn
  const rest = [
    ...(failed > 0 ? [`${failed} refused`] : []),
    ...(inDoubt > 0 ? [`${inDoubt} in doubt`] : []),
    ...(withdrawn > 0 ? [`${withdrawn} not wanted`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ]
  return `sent to ${sent} of ${total}, ${rest.join(', ')}`
}

/** Which leads an edition is about; null for all that its report is about. */
export function variantText(variant: string): string | null {
  if (variant === '') return null
  const filter: LeadFilter = JSON.parse(variant)
  return leadsText(filter)
}

function lineOf(archive: Archive, edition: ListedEdition): IndexLine {
  const { report, period, variant, subject, letters } = edition
  const page = archivedPage(edition)
  const scope = variantText(variant)
  return {
    href: existsSync(join(archive.folder, page)) ? page : null,
    subject,
    about: [report, tellDates(period), ...(scope === null ? [] : [scope])].join(' · '),
    state: editionState(edition),
    tone: letters.failed + letters.inDoubt > 0 ? 'bad' : letters.sent > 0 ? 'good' : 'about',
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
    return `${count.toLocaleString('en')} editions; the newest ${LINES_MAX.toLocaleString('en')} are listed here, all of them are in the folders beside this page.`
  }
  return count === 1 ? 'One edition.' : `${count} editions, the newest first.`
}

/** Reads what the page of an issue shows: messages, preferences, neighbours and CSV files. */

import { ATTACHED_LISTS } from '../../domain/choices.ts'
import type { MessageFile } from '../../domain/message.ts'
import { localDates } from '../../domain/period.ts'
import { type FigureTable, figureTable, trendTable } from '../../report/archive/about.ts'
import { blockOf } from '../../report/blocks/registry.ts'
import { hasWordsIn } from '../../report/words/catalogue.ts'
import { createLocaleContext, type LocaleContext } from '../../report/words/locale-context.ts'
import type { Db } from '../../store/db/store.ts'
import { listDeliveries } from '../../store/outbox/delivery.ts'
import { listMailOutages, nextTry } from '../../store/outbox/send-limits.ts'
import { findReportEnd, type Issue, readIssue } from '../../store/reports/issue.ts'
import { findNeighbours, listIssuesOf } from '../../store/reports/issue-list.ts'
import { listPreferences } from '../../store/reports/preference.ts'
import { encodeCsv } from '../snapshot/encode-text.ts'
import { makeAttachments } from './attachment.ts'
import { drawPictures } from './report-content.ts'

export type KeptIssue = NonNullable<Awaited<ReturnType<typeof readKeptIssue>>>

const DEFAULT_LOCALE = 'en-GB'

/** Null if there is no issue with that id. */
export async function readKeptIssue(db: Db, id: string, now: Date) {
  const issue = await readIssue(db, id)
  const [line] = issue === undefined ? [] : await listIssuesOf(db, [id])
  if (issue === undefined || line === undefined) return null
  const outages = await listMailOutages(db)
  const messages = await listDeliveries(db, id)
  const choices = await listPreferences(db, issue.report)
  const lastEnd = await findReportEnd(db, issue.report, now.toISOString())
  return {
    issue,
    line,
    ...(await findNeighbours(db, line)),
    // During an outage, the next attempt is not earlier than the next attempt to reach the server.
    messages: messages.map((one) => ({ ...one, nextAttemptAt: nextTry(one.nextAttemptAt, outages) })),
    /** By address in lower case. */
    choices: new Map(choices.map((one) => [one.address, one])),
    isLast: issue.isEnqueued && issue.period.to === lastEnd,
  }
}

/** Draws the charts of the archived issue again. The images are identical to those in the messages. */
export async function picturesOf(issue: Issue): Promise<readonly MessageFile[]> {
  if (issue.programVersion === null) return []
  return drawPictures(issue.figures, localeContextOf(issue))
}

function localeContextOf({ html, period, renderedAt }: Issue): LocaleContext {
  const [, lang = DEFAULT_LOCALE] = /<html lang="([\w-]+)"/.exec(html) ?? []
  return createLocaleContext(hasWordsIn(lang) ? lang : DEFAULT_LOCALE, period.timeZone, renderedAt)
}

const FIGURES = 'figures'
const TREND = 'trend'

interface FigureFile {
  readonly name: string
  readonly title: string
}

/** A section that failed has no file, and an issue of an older program version has none at all. */
export function listFigureFiles({ figures, programVersion }: Issue): FigureFile[] {
  if (programVersion === null) return []
  const failed = new Set<string>(figures.failed.map(({ block, query }) => query ?? block))
  const files: readonly FigureFile[] = [
    { name: FIGURES, title: 'Key figures' },
    { name: TREND, title: 'Trend by day' },
    ...ATTACHED_LISTS.map((name) => ({ name, title: blockOf(name).title })),
    ...figures.queries.map(({ name, title }) => ({ name, title })),
  ]
  return files.filter(({ name }) => !failed.has(name))
}

/** Null if the issue has no file of that name. */
export async function makeFigureFile(issue: Issue, name: string): Promise<MessageFile | null> {
  if (!listFigureFiles(issue).some((file) => file.name === name)) return null
  const { report, figures } = issue
  if (name === FIGURES) return fileOf(issue, name, figureTable(figures, report))
  if (name === TREND) return fileOf(issue, name, trendTable(figures))
  const request = { report, figures, charts: [], locale: localeContextOf(issue), leadUrl: null }
  const [made] = await makeAttachments([`${name}.csv`], request)
  return made?.file ?? null
}

function fileOf(issue: Issue, name: string, { columns, rows }: FigureTable): MessageFile {
  const { report, period } = issue
  return {
    name: `${report}-${name}-${localDates(period)}.csv`,
    contentType: 'text/csv; charset=utf-8',
    content: Buffer.from(encodeCsv(columns, rows, localeContextOf(issue).tag)),
    cid: null,
  }
}

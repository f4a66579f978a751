/** The figures of a kept issue as CSV files: the numbers, the trend, and each of its lists whole. */
import { ATTACHED_LISTS } from '../../domain/choices.ts'
import { localDates } from '../../domain/period.ts'
import type { MessageFile } from '../../model.ts'
import { type FigureTable, figureTable, trendTable } from '../../report/archive/figure-table.ts'
import type { Issue } from '../../store/reports/issue.ts'
import { encodeCsv } from '../snapshot/export-csv.ts'
import { makeAttachments } from './attachment.ts'
import { voiceOf } from './issue-page.ts'

const FIGURES = 'figures'
const TREND = 'trend'

export interface FigureFile {
  /** In an address. */
  readonly name: string
  readonly title: string
}

const TITLES: Readonly<Record<(typeof ATTACHED_LISTS)[number], string>> = {
  top_leads: 'Top leads',
  stalled: 'Stalled leads',
  changes: 'Changes',
  pipelines: 'Pipelines',
  sources: 'Sources',
}

/** Of what there are files; without what could not be made, and of an older program without any. */
export function listFigureFiles({ figures, programVersion }: Issue): FigureFile[] {
  if (programVersion === null) return []
  const failed = new Set<string>(figures.failed.map(({ block, query }) => query ?? block))
  const files: readonly FigureFile[] = [
    { name: FIGURES, title: 'Key figures' },
    { name: TREND, title: 'Trend by day' },
    ...ATTACHED_LISTS.map((name) => ({ name, title: TITLES[name] })),
    ...figures.queries.map(({ name, title }) => ({ name, title })),
  ]
  return files.filter(({ name }) => !failed.has(name))
}

/** @returns null where the issue has none of that name */
export async function makeFigureFile(issue: Issue, name: string): Promise<MessageFile | null> {
  if (!listFigureFiles(issue).some((file) => file.name === name)) return null
  const { report, figures } = issue
  if (name === FIGURES) return fileOf(issue, name, figureTable(figures, report))
  if (name === TREND) return fileOf(issue, name, trendTable(figures))
  const request = { report, figures, charts: [], voice: voiceOf(issue), leadUrl: null }
  const [made] = await makeAttachments([`${name}.csv`], request)
  return made?.file ?? null
}

function fileOf({ report, period }: Issue, name: string, { columns, rows }: FigureTable): MessageFile {
  return {
    name: `${report}-${name}-${localDates(period)}.csv`,
    contentType: 'text/csv; charset=utf-8',
    content: Buffer.from([...encodeCsv(columns, [rows])].join('')),
    cid: null,
  }
}

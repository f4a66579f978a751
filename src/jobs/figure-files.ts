/** The figures of a kept edition as CSV files: the numbers, the trend, and each of its lists whole. */
import { ATTACHED_LISTS } from '../choices.ts'
import type { LetterFile } from '../model.ts'
import { type FigureTable, figureTable, trendTable } from '../report/figure-table.ts'
import { localDates } from '../report/period.ts'
import type { Edition } from '../store/edition.ts'
import { makeAttachments } from './attachment.ts'
import { encodeCsv } from './export/csv.ts'
import { voiceOf } from './kept-edition.ts'

/** Of what there are files; without what could not be made, and of an older program without any. */
export function listFigureFiles({ figures, programVersion }: Edition): string[] {
  if (programVersion === null) return []
  const failed = new Set<string>(figures.failed.map(({ block, query }) => query ?? block))
  const lists = [...ATTACHED_LISTS, ...figures.queries.map(({ name }) => name)]
  return ['figures', 'trend', ...lists].filter((name) => !failed.has(name))
}

/** @returns null where the edition has none of that name */
export async function makeFigureFile(edition: Edition, name: string): Promise<LetterFile | null> {
  if (!listFigureFiles(edition).includes(name)) return null
  const { report, figures } = edition
  if (name === 'figures') return fileOf(edition, name, figureTable(figures, report))
  if (name === 'trend') return fileOf(edition, name, trendTable(figures))
  const request = { report, figures, charts: [], voice: voiceOf(edition), leadUrl: null }
  const [made] = await makeAttachments([`${name}.csv`], request)
  return made?.file ?? null
}

function fileOf({ report, period }: Edition, name: string, { columns, rows }: FigureTable): LetterFile {
  return {
    name: `${report}-${name}-${localDates(period)}.csv`,
    contentType: 'text/csv; charset=utf-8',
    content: Buffer.from([...encodeCsv(columns, [rows])].join('')),
    cid: null,
  }
}

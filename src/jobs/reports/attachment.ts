/**
 * Makes the files that are attached to the messages of an issue: its lists as CSV or Excel, and its trend
 * chart. The same figures and locale always give the same bytes.
 */

import { ATTACHED_LISTS } from '../../domain/choices.ts'
import type { ReportFigures } from '../../domain/figures.ts'
import type { MessageFile } from '../../domain/message.ts'
import { localDates } from '../../domain/period.ts'
import { LeadsheetError } from '../../errors.ts'
import type { ListOptions, ListTable } from '../../report/blocks/lists.ts'
import { composeList } from '../../report/blocks/registry.ts'
import type { LocaleContext } from '../../report/words/locale-context.ts'
import { encodeCsv } from '../snapshot/encode-text.ts'
import { encodeXlsx } from '../snapshot/encode-xlsx.ts'

/** The mark at the beginning of a CSV file by which Excel recognises UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

const EXCEL = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** `of` names the content: a list, one of the report's own queries, or `charts`. */
export interface Attachment {
  readonly of: string
  readonly file: MessageFile
}

interface AttachmentRequest extends ListOptions {
  readonly report: string
  readonly figures: ReportFigures
  readonly charts: readonly Pick<MessageFile, 'name' | 'content'>[]
  readonly locale: LocaleContext
}

/**
 * Makes the files that `wanted` names, such as `stalled.xlsx`, `charts`, or `by-industry.csv` for one of the
 * report's own queries.
 * @throws LeadsheetError config_invalid if the report has no list of that name
 */
export async function makeAttachments(
  wanted: readonly string[],
  request: AttachmentRequest,
): Promise<Attachment[]> {
  const attachments: Attachment[] = []
  for (const name of wanted) {
    if (name === 'charts') attachments.push(...attachCharts(request))
    else attachments.push(await attachList(name, request))
  }
  return attachments
}

function attachCharts({ report, figures, charts }: AttachmentRequest): Attachment[] {
  const trend = charts.find((chart) => chart.name === 'trend-light.png')
  if (trend === undefined) return []
  const name = `${report}-trend-${localDates(figures.period)}.png`
  return [{ of: 'charts', file: { name, contentType: 'image/png', content: trend.content, cid: null } }]
}

async function attachList(
  wanted: string,
  { report, figures, locale, leadUrl }: AttachmentRequest,
): Promise<Attachment> {
  const [list, format] = splitName(wanted)
  const table = composeList(list, figures, locale, { leadUrl })
  if (table === undefined) throw unknownList(wanted, figures)
  const name = `${report}-${list.replaceAll('_', '-')}-${localDates(figures.period)}.${format}`
  const file =
    format === 'csv'
      ? { contentType: 'text/csv; charset=utf-8', content: csvOf(table, locale.tag) }
      : { contentType: EXCEL, content: await encodeXlsx(table) }
  return { of: list, file: { name, ...file, cid: null } }
}

/** The format is valid, because the settings were checked before. */
function splitName(wanted: string): [list: string, format: string] {
  const dot = wanted.lastIndexOf('.')
  return [wanted.slice(0, dot), wanted.slice(dot + 1)]
}

function csvOf({ columns, rows }: ListTable, locale: string): Buffer {
  return Buffer.from(BYTE_ORDER_MARK + encodeCsv(columns, rows, locale))
}

function unknownList(wanted: string, { queries }: ReportFigures): LeadsheetError {
  const lists = [...ATTACHED_LISTS, ...queries.map((query) => query.name)]
  return new LeadsheetError('config_invalid', `The report has no list for the attachment ${wanted}`, {
    hint: `Its lists are ${lists.join(', ')}.`,
  })
}

/** The pipelines block shows the numbers of all pipelines in one table. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { ExpectedFigure } from '../../../domain/insight.ts'
import type { PipelineLine } from '../../../domain/lists.ts'
import { type BlockContext, composeHistory } from '../../context.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { expectationOf, newsOf } from '../headline/judged.ts'
import {
  BREAKDOWN_ROWS,
  columnsByCurrency,
  composeBreakdown,
  countColumns,
  formatMoneys,
  type ListColumn,
  type ListTable,
  listTable,
  NAME_LENGTH,
  winRateColumns,
} from '../lists.ts'

/** Returns no view for a single pipeline, because the table would only repeat the key figures. */
export function composePipelines(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words } = locale
  const { byPipeline } = figures
  if (byPipeline.length < 2) return []
  const sizeOf = ({ newLeads, leads }: PipelineLine) => newLeads * 1e9 + leads
  const areAll = byPipeline.length <= BREAKDOWN_ROWS + 1
  const chosenBy = byPipeline.some(({ newLeads }) => newLeads > 0) ? 'mostNew' : 'mostLeads'
  const rows = areAll ? byPipeline : byPipeline.toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const isOpenKnown = composeHistory(figures.known.value.current, locale).isShown
  const toneOf = (figure: ExpectedFigure, id: string) =>
    TONES[newsOf(expectationOf(figures, figure, id)) ?? 'normal']
  const lineOf = (line: PipelineLine) => ({
    name: oneLine(line.name, NAME_LENGTH),
    detail: isOpenKnown ? detailOf(line, locale) : '',
    tones: { newLeads: toneOf('new_leads', line.id), won: toneOf('won', line.id) },
  })
  return [
    {
      kind: 'pipelines' as const,
      ...composeBreakdown('pipelines', rows, lineOf, figures, locale, context),
      note: areAll ? '' : words(`pipelines.${chosenBy}`),
    },
  ]
}

/** An unusual number has a colour. */
const TONES = { high: 'good', low: 'bad', normal: 'neutral' } as const

function detailOf({ openValue }: PipelineLine, locale: LocaleContext): string {
  const value = formatMoneys(openValue, locale)
  return value === '' ? '' : locale.words('pipelines.open', { value })
}

export function listPipelines(figures: ReportFigures, locale: LocaleContext): ListTable {
  const rows = figures.byPipeline
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: locale.words('lists.pipeline'), cell: ({ name }) => name },
    { name: locale.words('lists.leads'), cell: ({ leads }) => leads },
    ...countColumns<Line>(locale),
    ...winRateColumns<Line>(locale),
    ...columnsByCurrency<Line>(
      rows,
      (currency) => locale.words('lists.openValue', { currency, hasCurrency: currency !== '' }),
      ({ openValue }) => openValue,
    ),
    {
      name: locale.words('lists.stalled', { idleDays: figures.stalled.days }),
      cell: ({ stalled }) => stalled,
    },
    { name: locale.words('lists.id'), cell: ({ id }) => id },
  ]
  return listTable(locale.words('pipelines.title'), columns, rows, '', locale)
}

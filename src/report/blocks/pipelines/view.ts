/** The pipelines block shows the numbers of all pipelines in one table. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { ExpectedFigure } from '../../../domain/insight.ts'
import type { PipelineLine } from '../../../domain/lists.ts'
import type { Compared } from '../../../domain/model.ts'
import type { BlockContext } from '../../context.ts'
import { canCompare, composeHistory, isStalledKnown } from '../../context.ts'
import { oneLine } from '../../words/clean-text.ts'
import { namePeriod } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { boundsOf, expectationOf, newsOf, percentsOf } from '../headline/judged.ts'
import {
  type ComparedCell,
  columnsByCurrency,
  compareCell,
  comparedColumns,
  formatMoneys,
  joined,
  type ListColumn,
  type ListedFigures,
  type ListTable,
  listTable,
  moreOf,
  NAME_LENGTH,
  rateCell,
  winRateColumns,
} from '../lists.ts'

// The maximum number of pipelines in the table. If only one pipeline would be left out, it is shown too.
const ROWS = 6

export function composePipelines(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words } = locale
  const { byPipeline } = figures
  const hasNew = byPipeline.some(({ newLeads }) => newLeads.current > 0)
  const sizeOf = ({ newLeads, leads }: PipelineLine) => (hasNew ? newLeads.current : leads)
  const areAll = byPipeline.length <= ROWS + 1
  const shown = areAll ? byPipeline : byPipeline.toSorted((a, b) => sizeOf(b) - sizeOf(a)).slice(0, ROWS)
  const isComparable = canCompare(figures)
  const cellOf = (figure: ExpectedFigure, compared: Compared<number>, id: string): ComparedCell =>
    compareCell(compared, isComparable, locale, newsOf(expectationOf(figures, figure, id)))
  return {
    kind: 'pipelines' as const,
    title: words('pipelines.title'),
    note: [
      ...(areAll ? [] : [chosenBy(figures, hasNew, shown.length, locale)]),
      noteOf(figures, isComparable, areAll, locale),
    ]
      .filter(Boolean)
      .join(' · '),
    columns: {
      name: words('pipelines.pipeline'),
      newLeads: words('pipelines.newLeads'),
      won: words('pipelines.won'),
      winRate: words('pipelines.winRate'),
    },
    lines: shown.map((line) => ({
      name: oneLine(line.name, NAME_LENGTH),
      detail: detailOf(line, isStalledKnown(figures), locale),
      usual: isComparable ? usualOf(line.id, figures, locale) : null,
      newLeads: cellOf('new_leads', line.newLeads, line.id),
      won: cellOf('won', line.won, line.id),
      winRate: rateCell(line.winRate, locale),
    })),
    more: moreOf(
      'pipelines',
      { total: byPipeline.length, shown: shown.length, stored: byPipeline.length },
      locale,
      context,
    ),
  }
}

/** Says that only the pipelines with the most new leads, or otherwise with the most leads, are shown. */
function chosenBy(
  figures: ReportFigures,
  hasNew: boolean,
  shown: number,
  { words, tag }: LocaleContext,
): string {
  const total = figures.byPipeline.length
  if (!hasNew) return words('pipelines.mostLeads', { shown, total })
  return words('pipelines.mostNew', {
    shown,
    total,
    shape: namePeriod(tag, figures.kind, figures.period).shape,
  })
}

function noteOf(
  figures: ReportFigures,
  isComparable: boolean,
  areAll: boolean,
  { words, tag }: LocaleContext,
): string {
  if (figures.byPipeline.length === 0) return words('pipelines.empty')
  if (!isComparable) return areAll ? words('pipelines.noteWithout') : ''
  const against = words('period.against', { ...namePeriod(tag, figures.kind, figures.prior) })
  return words(`pipelines.${areAll ? 'note' : 'noteBehind'}`, { against })
}

function detailOf(
  { openValue, stalled }: PipelineLine,
  isStalledKnown: boolean,
  locale: LocaleContext,
): string {
  const { words } = locale
  const value = formatMoneys(openValue, locale)
  return joined([
    value === '' ? null : words('pipelines.open', { value }),
    stalled > 0 && isStalledKnown ? words('pipelines.stalled', { n: stalled }) : null,
  ])
}

/** Returns the usual ranges of a pipeline's new leads, won leads and win rate; null if none is known. */
function usualOf(id: string, figures: ReportFigures, locale: LocaleContext) {
  const { words } = locale
  const { expectations = [], winRates = [] } = figures.insight ?? {}
  const isOfStatus = composeHistory(figures.known.status.current, locale).isShown
  const parts = expectations
    .filter(({ pipeline, figure }) => pipeline?.id === id && (figure === 'new_leads' || isOfStatus))
    .flatMap(({ figure, range }) =>
      range === null
        ? []
        : [words(`pipelines.usualOf.${figure}`, { range: words('range', boundsOf(range)) })],
    )
  const { range = null, decided = 0 } = winRates.find(({ pipeline }) => pipeline?.id === id) ?? {}
  if (range !== null && isOfStatus)
    parts.push(words('pipelines.usualOf.win_rate', { range: words('rateRange', percentsOf(range, decided)) }))
  return parts.length === 0 ? null : { label: words('pipelines.usual'), ranges: parts }
}

export function listPipelines(figures: ListedFigures, locale: LocaleContext): ListTable {
  const rows = figures.byPipeline
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: locale.words('lists.pipeline'), cell: ({ name }) => name },
    { name: locale.words('lists.leads'), cell: ({ leads }) => leads },
    ...comparedColumns<Line>(figures, locale),
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

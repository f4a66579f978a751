/** The sources block shows each source of leads, such as `referral`, with its counts and its win rate. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { BlockContext } from '../../context.ts'
import { canCompare } from '../../context.ts'
import { namePeriod } from '../../words/dates.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { nameStatus } from '../../words/locale-context.ts'
import {
  compareCell,
  comparedColumns,
  type ListColumn,
  type ListedFigures,
  type ListTable,
  listTable,
  moreOf,
  rateCell,
  shownOf,
  winRateColumns,
} from '../lists.ts'

const ROWS = 5

export function composeSources(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words } = locale
  const { bySource } = figures
  const isTold = bySource.some(({ source }) => source !== null)
  const shown = isTold ? shownOf(bySource, bySource.length, ROWS) : []
  const isComparable = canCompare(figures)
  const before = words('period.against', { ...namePeriod(locale.tag, figures.kind, figures.prior) })
  const note = isComparable ? words('sources.note', { against: before }) : words('sources.noteWithout')
  return {
    kind: 'sources' as const,
    title: words('sources.title'),
    note: isTold ? note : words('sources.empty'),
    columns: {
      name: words('sources.source'),
      newLeads: words('pipelines.newLeads'),
      won: words('pipelines.won'),
      winRate: words('pipelines.winRate'),
    },
    lines: shown.map((line) => ({
      detail: '',
      usual: null,
      name: line.source === null ? words('sources.unknown') : nameStatus(line.source, locale),
      newLeads: compareCell(line.newLeads, isComparable, locale),
      won: compareCell(line.won, isComparable, locale),
      winRate: rateCell(line.winRate, locale),
    })),
    more: isTold
      ? moreOf(
          'sources',
          { total: bySource.length, shown: shown.length, stored: bySource.length },
          locale,
          context,
        )
      : '',
  }
}

export function listSources(figures: ListedFigures, locale: LocaleContext): ListTable {
  const rows = figures.bySource
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: locale.words('lists.source'), cell: ({ source }) => source ?? locale.words('sources.unknown') },
    ...comparedColumns<Line>(figures, locale),
    ...winRateColumns<Line>(locale),
  ]
  return listTable(locale.words('sources.title'), columns, rows, '', locale)
}

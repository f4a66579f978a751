/** The sources block shows each source of leads, such as `referral`, with its counts and its win rate. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { BlockContext } from '../../context.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { nameStatus } from '../../words/locale-context.ts'
import {
  countCell,
  countColumns,
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

/** Returns no view if the leads name no sources. */
export function composeSources(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words } = locale
  const { bySource } = figures
  if (bySource.every(({ source }) => source === null)) return []
  const shown = shownOf(bySource, bySource.length, ROWS)
  const cellOf = (count: number) => ({ value: countCell(count, figures, locale), tone: 'neutral' as const })
  return [
    {
      kind: 'sources' as const,
      title: words('sources.title'),
      note: '',
      columns: {
        name: words('sources.source'),
        newLeads: words('pipelines.newLeads'),
        won: words('pipelines.won'),
        winRate: words('pipelines.winRate'),
      },
      lines: shown.map((line) => ({
        detail: '',
        name: line.source === null ? words('sources.unknown') : nameStatus(line.source, locale),
        newLeads: cellOf(line.newLeads),
        won: cellOf(line.won),
        winRate: rateCell(line.winRate, locale),
      })),
      more: moreOf(
        'sources',
        { total: bySource.length, shown: shown.length, stored: bySource.length },
        locale,
        context,
      ),
    },
  ]
}

export function listSources(figures: ListedFigures, locale: LocaleContext): ListTable {
  const rows = figures.bySource
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: locale.words('lists.source'), cell: ({ source }) => source ?? locale.words('sources.unknown') },
    ...countColumns<Line>(locale),
    ...winRateColumns<Line>(locale),
  ]
  return listTable(locale.words('sources.title'), columns, rows, '', locale)
}

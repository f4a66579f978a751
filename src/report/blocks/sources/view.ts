/** The sources block shows each source of leads, such as `referral`, with its counts and its win rate. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { SourceLine } from '../../../domain/lists.ts'
import type { BlockContext } from '../../context.ts'
import { type LocaleContext, nameStatus } from '../../words/locale-context.ts'
import {
  composeBreakdown,
  countColumns,
  type ListColumn,
  type ListTable,
  listTable,
  winRateColumns,
} from '../lists.ts'

/** Returns no view if the leads name no sources. */
export function composeSources(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { bySource } = figures
  if (bySource.every(({ source }) => source === null)) return []
  const lineOf = ({ source }: SourceLine) => ({
    name: source === null ? locale.words('sources.unknown') : nameStatus(source, locale),
  })
  const breakdown = composeBreakdown('sources', bySource, lineOf, figures, locale, context)
  return [{ kind: 'sources' as const, ...breakdown }]
}

export function listSources(figures: ReportFigures, locale: LocaleContext): ListTable {
  const rows = figures.bySource
  type Line = (typeof rows)[number]
  const columns: ListColumn<Line>[] = [
    { name: locale.words('lists.source'), cell: ({ source }) => source ?? locale.words('sources.unknown') },
    ...countColumns<Line>(locale),
    ...winRateColumns<Line>(locale),
  ]
  return listTable(locale.words('sources.title'), columns, rows, '', locale)
}

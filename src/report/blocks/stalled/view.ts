/** The stalled block lists the open leads that have not changed in any way for the longest time. */

import type { ReportFigures } from '../../../domain/figures.ts'
import { type BlockContext, composeHistory } from '../../context.ts'
import { type LocaleContext, nameStatus } from '../../words/locale-context.ts'
import {
  composeLead,
  joined,
  type ListColumn,
  type ListOptions,
  type ListTable,
  leadTable,
  moreOf,
  shownOf,
} from '../lists.ts'

const ROWS = 3

/** Returns no view if no lead is stalled, or if it is not known for most leads. */
export function composeStalled(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers } = locale
  const { stalled } = figures
  const { total, days, rows } = stalled
  const history = composeHistory(stalled.coverage, locale)
  if (total === 0 || !history.isShown) return []
  const shown = shownOf(rows, total, ROWS)
  return [
    {
      kind: 'stalled' as const,
      title: words('stalled.counted', { n: total, idleDays: days, isLeast: !history.isExact }),
      note: history.note,
      leads: shown.map((lead) => ({
        ...composeLead(lead, context),
        about: joined([nameStatus(lead.status, locale), lead.value ? numbers.money(lead.value) : null]),
        idle: words('days', { n: lead.idleDays }),
      })),
      more: moreOf('stalled', { total, shown: shown.length, stored: rows.length }, locale, context),
    },
  ]
}

export function listStalled(
  { stalled }: ReportFigures,
  locale: LocaleContext,
  options: ListOptions,
): ListTable {
  const { words } = locale
  const own: readonly ListColumn<(typeof stalled.rows)[number]>[] = [
    { name: words('lists.idleDays'), cell: (lead) => lead.idleDays },
  ]
  return leadTable(words('stalled.title'), own, stalled, locale, options)
}

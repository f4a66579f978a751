/** The stalled block lists the open leads that have not changed in any way for the longest time. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { BlockContext } from '../../context.ts'
import { composeHistory } from '../../context.ts'
import { oneLineOrNull } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { nameStatus } from '../../words/locale-context.ts'
import {
  composeLead,
  joined,
  type ListColumn,
  type ListedFigures,
  type ListOptions,
  type ListTable,
  leadTable,
  moreOf,
  NAME_LENGTH,
  pipelineOf,
  shownOf,
} from '../lists.ts'

const ROWS = 5

export function composeStalled(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers } = locale
  const { stalled, pipelines, freshness } = figures
  const { total, days, rows } = stalled
  const history = composeHistory(stalled.coverage, locale)
  const shown = history.isShown ? shownOf(rows, total, ROWS) : []
  const none =
    freshness.dataAsOf === null ? words('stalled.unread') : words('stalled.empty', { idleDays: days })
  return {
    kind: 'stalled' as const,
    title: words('stalled.title'),
    note: history.isShown
      ? joined([
          total > 0 ? words('stalled.some', { idleDays: days }) : history.note === '' ? none : null,
          history.note,
        ])
      : words('notShown', { what: null, known: history.note || null }),
    columns: { lead: words('stalled.lead'), stage: words('stalled.stage'), idle: words('stalled.idle') },
    leads: shown.map((lead) => ({
      ...composeLead(lead, context),
      person: joined([oneLineOrNull(lead.contactName, NAME_LENGTH), pipelineOf(lead, pipelines)]),
      stage: nameStatus(lead.status, locale),
      idle: words('days', { n: lead.idleDays }),
      value: lead.value ? numbers.money(lead.value) : '',
    })),
    more: history.isShown
      ? moreOf('stalled', { total, shown: shown.length, stored: rows.length }, locale, context)
      : '',
  }
}

export function listStalled(
  { stalled }: ListedFigures,
  locale: LocaleContext,
  options: ListOptions,
): ListTable {
  const { words } = locale
  const own: readonly ListColumn<(typeof stalled.rows)[number]>[] = [
    { name: words('lists.idleDays'), cell: (lead) => lead.idleDays },
  ]
  return leadTable(words('stalled.title'), own, stalled, locale, options)
}

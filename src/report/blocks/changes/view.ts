/** The changes block names the leads that were won and lost, the most valuable first. */

import type { PeriodKind, ReportFigures } from '../../../domain/figures.ts'
import type { ChangedLead, ChangeKind } from '../../../domain/lists.ts'
import type { BlockContext } from '../../context.ts'
import { datesOf } from '../../day-notes.ts'
import { formatLocalDays } from '../../words/dates.ts'
import { type LocaleContext, nameStatus } from '../../words/locale-context.ts'
import {
  composeLead,
  fieldColumns,
  formatMoneys,
  identityColumns,
  joined,
  type ListColumn,
  type ListOptions,
  type ListTable,
  listTable,
  moneyColumns,
  moreOf,
  moreThan,
  shownOf,
} from '../lists.ts'

// The maximum number of leads that are named for each kind of change.
const ROWS = 3
/** The changes that a mail names. The attached file has all kinds. */
const NAMED: readonly ChangeKind[] = ['won', 'lost']
// Reports on these periods name only won leads. There would be too many lost leads, and daily reports have
// already named them.
const LONG: readonly PeriodKind[] = ['week', 'month', 'quarter']

/** Returns no view if no lead was won or lost. */
export function composeChanges(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers } = locale
  const { changes, period } = figures
  const days = datesOf({ ...period, from: changes.since })
  const named = LONG.includes(figures.kind) ? NAMED.slice(0, 1) : NAMED
  const kinds = changes.kinds.filter(({ kind, total }) => total > 0 && named.includes(kind))
  if (kinds.length === 0) return []
  return [
    {
      kind: 'changes' as const,
      title: words(named.length === 1 ? 'changes.kinds.won' : 'changes.title'),
      // Otherwise the changes are those of the report's period.
      note: changes.since < period.from ? formatLocalDays(locale.tag, days.first, days.last) : '',
      kinds: kinds.map(({ kind, total, value, rows }) => {
        const shown = shownOf(rows, total, ROWS)
        return {
          // The heading of a single kind would repeat the title.
          label: named.length === 1 ? '' : words(`changes.kinds.${kind}`),
          total: joined([numbers.count(total), formatMoneys(value, locale)]),
          leads: shown.map((lead) => ({
            ...composeLead(lead, context),
            value: lead.value ? numbers.money(lead.value) : '',
          })),
          more: moreOf('changes', { total, shown: shown.length, stored: rows.length }, locale, context),
        }
      }),
    },
  ]
}

export function listChanges(figures: ReportFigures, locale: LocaleContext, options: ListOptions): ListTable {
  const { kinds } = figures.changes
  const rows = kinds.flatMap(({ kind, rows }) => rows.map((lead) => ({ ...lead, kind })))
  const total = kinds.reduce((sum, each) => sum + each.total, 0)
  const columns: ListColumn<ChangedLead & { kind: ChangeKind }>[] = [
    { name: locale.words('lists.change'), cell: ({ kind }) => locale.words(`changes.kinds.${kind}`) },
    { name: locale.words('lists.company'), cell: (lead) => lead.companyName },
    { name: locale.words('lists.pipeline'), cell: (lead) => lead.pipelineName },
    {
      name: locale.words('lists.fromStage'),
      cell: ({ fromStatus }) => fromStatus && nameStatus(fromStatus, locale),
    },
    { name: locale.words('lists.toStage'), cell: ({ toStatus }) => nameStatus(toStatus, locale) },
    { name: locale.words('lists.at'), isInstant: true, cell: ({ at }) => at },
    ...moneyColumns<ChangedLead>(locale, ({ value }) => value),
    ...fieldColumns<ChangedLead>(options),
    ...identityColumns<ChangedLead>(locale, options),
  ]
  return listTable(locale.words('changes.title'), columns, rows, moreThan(rows.length, total, locale), locale)
}

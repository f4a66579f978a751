/** The changes block lists changes since the last report by kind, the most valuable leads first. */

import type { PeriodKind, ReportFigures } from '../../../domain/figures.ts'
import type { ChangedLead, ChangeKind } from '../../../domain/lists.ts'
import type { BlockContext } from '../../context.ts'
import { composeHistory } from '../../context.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { nameStatus } from '../../words/locale-context.ts'
import {
  composeLead,
  formatMoneys,
  identityColumns,
  joined,
  type ListColumn,
  type ListedFigures,
  type ListOptions,
  type ListTable,
  listTable,
  moneyColumns,
  moreOf,
  moreThan,
  pipelineOf,
  shownOf,
} from '../lists.ts'

// The maximum number of leads that are named for each kind of change.
const ROWS = 3
// Reports on weeks, months and quarters name only won leads. There would be too many leads with other changes, and
// daily reports have already named them.
const LONG: readonly PeriodKind[] = ['week', 'month', 'quarter']

export function composeChanges(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers, dates } = locale
  const { changes, pipelines } = figures
  const since = dates.instant(changes.since)
  const history = composeHistory(changes.coverage, locale)
  const kinds = changes.kinds.filter(({ kind, total }) => total > 0 && (history.isShown || !isMove(kind)))
  const isTold = history.note === '' || kinds.some(({ kind }) => isMove(kind))
  const moves = [words('changes.kinds.forward'), words('changes.kinds.back')].join(', ')
  const none = isTold ? words('changes.empty', { at: since }) : words('changes.since', { at: since })
  return {
    kind: 'changes' as const,
    title: words('changes.title'),
    note: joined([
      kinds.length === 0 ? none : words('changes.since', { at: since }),
      isTold
        ? null
        : history.isShown
          ? `${moves}: ${history.note}`
          : words('notShown', { what: moves, known: history.note || null }),
    ]),
    kinds: kinds.map(({ kind, total, value, rows }) => {
      const isNamed = kind === 'won' || !LONG.includes(figures.kind)
      const shown = isNamed ? shownOf(rows, total, ROWS) : []
      return {
        label: words(`changes.kinds.${kind}`),
        total: joined([numbers.count(total), formatMoneys(value, locale), isMove(kind) ? history.note : '']),
        leads: shown.map((lead) => ({
          ...composeLead(lead, context),
          what: joined([moveOf(lead, words(`changes.kinds.${kind}`), locale), pipelineOf(lead, pipelines)]),
          value: lead.value ? numbers.money(lead.value) : '',
        })),
        more: isNamed
          ? moreOf('changes', { total, shown: shown.length, stored: rows.length }, locale, context)
          : '',
      }
    }),
  }
}

/** Moves between stages are counted only for leads whose history is known. */
const isMove = (kind: ChangeKind): boolean => kind === 'forward' || kind === 'back'

/** Formats the move of a lead between stages; empty if the text would only repeat the heading. */
function moveOf({ fromStatus, toStatus }: ChangedLead, heading: string, locale: LocaleContext): string {
  const to = nameStatus(toStatus, locale)
  if (fromStatus !== null) return locale.words('changes.move', { from: nameStatus(fromStatus, locale), to })
  return to === heading ? '' : to
}

export function listChanges(figures: ListedFigures, locale: LocaleContext, options: ListOptions): ListTable {
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
    ...identityColumns<ChangedLead>(locale, options),
  ]
  return listTable(locale.words('changes.title'), columns, rows, moreThan(rows.length, total, locale), locale)
}

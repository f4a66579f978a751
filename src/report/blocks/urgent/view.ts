/**
 * The urgent block lists the open leads that are about to stall, and says how many open leads are older than
 * nearly all won leads were when they were won. A lead that the last report listed already is only named in a
 * sentence.
 */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { UrgentLead } from '../../../domain/insight.ts'
import type { BlockContext } from '../../context.ts'
import { oneLine, oneLineOrNull } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { nameStatus, shortenNames } from '../../words/locale-context.ts'
import {
  composeLead,
  formatMoneys,
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
/** The maximum number of leads from the last report's list that are named again. */
const STILL_NAMED = 3
/** If the share of old leads among the open leads is smaller than this, old leads are not mentioned. */
const OLD_SHARE_MIN = 0.05

/** Returns no view if no lead is urgent and only few open leads are old. */
export function composeUrgent(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { insight, pipelines } = figures
  if (insight === null) return []
  const { words, numbers } = locale
  const { total, rows } = insight.urgent
  const fresh = rows.filter(({ isNew }) => isNew)
  const still = rows.filter(({ isNew }) => !isNew)
  const shown = shownOf(fresh, fresh.length + total - rows.length, ROWS)
  const lines = [
    moreOf(
      'urgent',
      { total: total - still.length, shown: shown.length, stored: rows.length - still.length },
      locale,
      context,
    ),
    stillSentence(still, locale),
    oldSentence(figures, locale),
  ].filter(Boolean)
  if (shown.length === 0 && lines.length === 0) return []
  return [
    {
      kind: 'urgent' as const,
      title: words('urgent.title', { isOld: total === 0 }),
      note: total > 0 ? noteOf(rows, total, still.length, locale) : '',
      columns: { lead: words('stalled.lead'), stage: words('urgent.stage') },
      leads: shown.map((lead) => ({
        ...composeLead(lead, context),
        person: joined([oneLineOrNull(lead.contactName, NAME_LENGTH), pipelineOf(lead, pipelines)]),
        stage: nameStatus(lead.status, locale),
        age: words('urgent.age', { days: lead.stageDays, limit: numbers.decimal(lead.limitDays, 0) }),
        value: lead.value ? numbers.money(lead.value) : '',
      })),
      lines,
    },
  ]
}

export function listUrgent(figures: ListedFigures, locale: LocaleContext, options: ListOptions): ListTable {
  const urgent = figures.insight?.urgent ?? { rows: [], total: 0 }
  const { words } = locale
  const own: readonly ListColumn<UrgentLead>[] = [
    { name: words('lists.stageDays'), cell: (lead) => lead.stageDays },
    { name: words('lists.limitDays'), cell: (lead) => lead.limitDays },
    { name: words('lists.isNew'), cell: (lead) => words(lead.isNew ? 'urgent.new' : 'urgent.still') },
  ]
  return leadTable(words('urgent.title', { isOld: false }), own, urgent, locale, options)
}

/** Explains the limits of stages only if all were computed from won leads, and not set by operators. */
function noteOf(rows: readonly UrgentLead[], total: number, still: number, { words }: LocaleContext): string {
  return words('urgent.note', {
    n: total,
    fresh: total - still,
    isAllNew: still === 0,
    isOne: total === 1,
    isPast: rows.some(({ stageDays, limitDays }) => stageDays >= limitDays),
    limit: rows.every(({ isOfWinners }) => isOfWinners) ? 'winners' : 'other',
  })
}

/** Returns a sentence that names the urgent leads from the last report's list; empty if there are none. */
function stillSentence(leads: readonly UrgentLead[], locale: LocaleContext): string {
  if (leads.length === 0) return ''
  const names = leads.map(({ companyName }) => oneLine(companyName, NAME_LENGTH))
  return locale.words('urgent.stillUrgent', { names: locale.and(shortenNames(names, STILL_NAMED, locale)) })
}

/** Returns a sentence on how many open leads are older than nearly all won leads were; empty if few are. */
function oldSentence({ insight }: ReportFigures, locale: LocaleContext): string {
  if (!insight?.oldLeads) return ''
  const { old, open, value, ageDays, winners, countedAt } = insight.oldLeads
  if (old < open * OLD_SHARE_MIN) return ''
  return locale.words('urgent.old', {
    old,
    open,
    winners,
    age: Math.ceil(ageDays),
    at: locale.dates.recent(countedAt),
    value: formatMoneys(value, locale) || null,
  })
}

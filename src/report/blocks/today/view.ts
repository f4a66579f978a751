/** The today block lists at most five leads to act on, the most valuable first, each with its reason. */
import type { PeriodKind, ReportFigures } from '../../../domain/figures.ts'
import type { Today, TodayLead } from '../../../domain/insight.ts'
import { expectedCloseDay } from '../../../domain/period.ts'
import { type BlockContext, coverageOf, isImplausible, isStalledKnown } from '../../context.ts'
import { oneLine } from '../../words/clean-text.ts'
import { formatLocalDay } from '../../words/dates.ts'
import { type LocaleContext, nameStatus, shortenNames } from '../../words/locale-context.ts'
import { stateOf } from '../goals/view.ts'
import { listUnusual } from '../headline/judged.ts'
import {
  composeLead,
  formatMoneys,
  type ListColumn,
  type ListOptions,
  type ListTable,
  leadTable,
  NAME_LENGTH,
} from '../lists.ts'

const ROWS = 5
const OWNERS_NAMED = 5
/** If the share of old leads among the open leads is smaller than this, old leads are not mentioned. */
const OLD_SHARE_MIN = 0.05
/** Reports on these periods mention old leads; every day it would be the same sentence. */
const LONG: readonly PeriodKind[] = ['week', 'month', 'quarter']

const NOBODY: Today = { total: 0, value: [], byOwner: [], rows: [] }

/** Returns no view if there is nothing to say. Says that nothing needs attention only if all is known and well. */
export function composeToday(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers } = locale
  const { total, value, byOwner, rows } = figures.insight?.today ?? NOBODY
  const old = LONG.includes(figures.kind) ? oldSentence(figures, locale) : ''
  if (total === 0 && old === '' && !isAllWell(figures)) return []
  const shown = rows.slice(0, ROWS)
  // A report about the leads of one person needs no names, nor does one whose service has no owners.
  const isNamed = byOwner.length > 1
  return [
    {
      kind: 'today' as const,
      title:
        total === 0
          ? words('today.allWell')
          : words('today.title', {
              shown: shown.length,
              total,
              isPart: shown.length < total,
              value: formatMoneys(value, locale) || null,
            }),
      leads: shown.map(({ lead, why }) => ({
        ...composeLead(lead, context),
        owner: isNamed ? nameOwner(lead.owner, locale) : '',
        why: writeWhy({ lead, why }, locale),
        value: lead.value ? numbers.money(lead.value) : '',
      })),
      more:
        total > shown.length
          ? words('today.all', { total, file: context.attached.get('today') ?? null })
          : '',
      owners: isNamed && total > shown.length ? ownersOf(byOwner, locale) : '',
      old,
    },
  ]
}

/** All-clear: everything that could need attention is known, and nothing does. */
function isAllWell(figures: ReportFigures): boolean {
  const { insight, stalled, freshness, failed, warnings, leads } = figures
  return (
    insight !== null &&
    insight.today.total === 0 &&
    leads > 0 &&
    coverageOf(figures) === 'whole' &&
    freshness.lastFailure === null &&
    freshness.quarantinedRecords === 0 &&
    failed.length === 0 &&
    warnings.every(({ kind }) => kind === 'late') &&
    isStalledKnown(figures) &&
    stalled.total === 0 &&
    !isImplausible(figures, 'newLeads') &&
    !isImplausible(figures, 'won') &&
    insight.pace.every((pace) => pace.goal === null || ['on_course', 'reached'].includes(stateOf(pace))) &&
    listUnusual(figures).length === 0
  )
}

/** Formats why a lead needs attention: `6 days in Contacted; winners leave within 6`. */
function writeWhy({ lead, why }: TodayLead, locale: LocaleContext): string {
  const { words, dates, numbers } = locale
  const stage = nameStatus(lead.status, locale)
  switch (why.kind) {
    case 'stalling': {
      const limit = numbers.decimal(why.limitDays, 0)
      return words('today.why.stalling', { stage, days: why.stageDays, limit, isOfWinners: why.isOfWinners })
    }
    case 'overdue':
      return words('today.why.overdue', {
        stage,
        day: formatLocalDay(locale.tag, expectedCloseDay(why.expectedCloseAt, locale.timeZone) ?? ''),
      })
    case 'returned':
      return words('today.why.returned', { stage, hasDays: why.days !== null, days: why.days ?? 0 })
    case 'uncontacted':
      return words('today.why.uncontacted', { score: why.score, day: dates.day(why.since) })
  }
}

function nameOwner(owner: string | null, { words }: LocaleContext): string {
  return owner === null ? words('today.nobody') : oneLine(owner, NAME_LENGTH)
}

/** Formats `Ana 12, Ben 9 and nobody 4`. */
function ownersOf(byOwner: Today['byOwner'], locale: LocaleContext): string {
  const names = byOwner.map(
    ({ owner, leads }) => `${nameOwner(owner, locale)} ${locale.numbers.count(leads)}`,
  )
  return shortenNames(names, OWNERS_NAMED, locale).join(', ')
}

export function listToday(figures: ReportFigures, locale: LocaleContext, options: ListOptions): ListTable {
  const { rows, total } = figures.insight?.today ?? NOBODY
  const reasons = new Map(rows.map((row) => [row.lead, writeWhy(row, locale)]))
  const why: ListColumn<TodayLead['lead']> = {
    name: locale.words('today.reason'),
    cell: (lead) => reasons.get(lead) ?? null,
  }
  const leads = rows.map(({ lead }) => lead)
  return leadTable(locale.words('today.list'), [why], { rows: leads, total }, locale, options)
}

/** Returns a sentence on how many open leads are older than nearly all won leads were; empty if few are. */
function oldSentence({ insight }: ReportFigures, locale: LocaleContext): string {
  if (!insight?.oldLeads) return ''
  const { old, open, value, ageDays, winners } = insight.oldLeads
  if (old < open * OLD_SHARE_MIN) return ''
  return locale.words('today.old', {
    old,
    open,
    winners,
    age: Math.ceil(ageDays),
    value: formatMoneys(value, locale) || null,
  })
}

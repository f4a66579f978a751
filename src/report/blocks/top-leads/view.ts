/** The top leads block lists new leads with the highest scores and fields of `LISTED_FIELDS`. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { ListedLead } from '../../../domain/lists.ts'
import type { BlockContext } from '../../context.ts'
import { coverageOf } from '../../context.ts'
import { oneLineOrNull } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import {
  composeLead,
  joined,
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
const ONE_LINER_LENGTH = 90

export function composeTopLeads(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers } = locale
  const { topLeads, pipelines } = figures
  const shown = shownOf(topLeads.rows, topLeads.total, ROWS)
  return {
    kind: 'top_leads' as const,
    title: words('top_leads.title'),
    note: noteOf(figures, shown.length, locale),
    columns: { lead: words('top_leads.lead'), score: words('top_leads.score') },
    leads: shown.map((lead) => ({
      ...composeLead(lead, context),
      person: describe(lead, pipelines),
      oneLiner: oneLineOrNull(lead.companyOneLiner, ONE_LINER_LENGTH) ?? '',
      score: lead.score === null ? words('none') : numbers.count(lead.score),
    })),
    more: moreOf(
      'top_leads',
      { total: topLeads.total, shown: shown.length, stored: topLeads.rows.length },
      locale,
      context,
    ),
  }
}

/** The note of an empty list says that there are no such leads, or that the period was not read. */
function noteOf(figures: ReportFigures, shown: number, { words }: LocaleContext): string {
  const { minScore, total } = figures.topLeads
  if (total === 0) {
    return coverageOf(figures) === 'none'
      ? words('top_leads.unread')
      : words('top_leads.empty', { score: minScore })
  }
  return shown < total
    ? words('top_leads.some', { shown, total, score: minScore })
    : words('top_leads.all', { total, score: minScore })
}

/** Formats what is known about a lead: `Maria Štefan, Head of Operations · Germany · EU mid-market`. */
function describe(lead: ListedLead, pipelines: readonly string[]): string {
  const contact = [lead.contactName, lead.contactTitle].map((text) => oneLineOrNull(text, NAME_LENGTH))
  return joined([
    contact.filter((part) => part !== null).join(', '),
    oneLineOrNull(lead.companyCountry, NAME_LENGTH),
    pipelineOf(lead, pipelines),
  ])
}

export function listTopLeads(figures: ListedFigures, locale: LocaleContext, options: ListOptions): ListTable {
  return leadTable(locale.words('top_leads.title'), [], figures.topLeads, locale, options)
}

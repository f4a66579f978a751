/** The top leads block lists the new leads with the highest scores. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { ListedLead } from '../../../domain/lists.ts'
import type { BlockContext } from '../../context.ts'
import { oneLineOrNull } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import {
  composeLead,
  joined,
  type ListOptions,
  type ListTable,
  leadTable,
  moreOf,
  NAME_LENGTH,
  shownOf,
} from '../lists.ts'

const ROWS = 3

/** Returns no view if no new lead has such a score. */
export function composeTopLeads(figures: ReportFigures, locale: LocaleContext, context: BlockContext) {
  const { words, numbers } = locale
  const { topLeads } = figures
  const { total, minScore, rows } = topLeads
  if (total === 0) return []
  const shown = shownOf(rows, total, ROWS)
  return [
    {
      kind: 'top_leads' as const,
      title: words('top_leads.counted', { total, score: minScore }),
      leads: shown.map((lead) => ({
        ...composeLead(lead, context),
        about: describe(lead),
        score: lead.score === null ? words('none') : numbers.count(lead.score),
      })),
      more: moreOf('top_leads', { total, shown: shown.length, stored: rows.length }, locale, context),
    },
  ]
}

/** Formats what is known about a lead: `Maria Štefan · Germany`. */
function describe(lead: ListedLead): string {
  return joined([
    oneLineOrNull(lead.contactName, NAME_LENGTH),
    oneLineOrNull(lead.companyCountry, NAME_LENGTH),
  ])
}

export function listTopLeads(figures: ReportFigures, locale: LocaleContext, options: ListOptions): ListTable {
  return leadTable(locale.words('top_leads.title'), [], figures.topLeads, locale, options)
}

/** Whether an issue is worth a mail, from its headline numbers. */
import type { SendPolicy } from '../../domain/choices.ts'
import type { ReportFigures } from '../../domain/figures.ts'
import { LeadsheetError } from '../../errors.ts'
import type { Money } from '../../model.ts'
import { FAILING } from '../../report/blocks/agents/view.ts'
import { isTrueOf } from '../../store/queries/select.ts'

type Numbers = Readonly<Record<string, number | null>>

/** By the names that a threshold calls them. Values are in the currency of most leads now, rates from 0 to 1. */
const HEADLINE = {
  leads: (figures) => figures.leads,
  new_leads: (figures) => figures.newLeads.current,
  new_leads_before: (figures) => figures.newLeads.prior,
  won: (figures) => figures.won.current,
  won_before: (figures) => figures.won.prior,
  lost: (figures) => figures.lost.current,
  lost_before: (figures) => figures.lost.prior,
  won_value: (figures) => figures.wonValue.current[0]?.amount ?? 0,
  won_value_before: (figures) => amountIn(figures.wonValue.prior, figures.wonValue.current[0]?.currency),
  win_rate: ({ winRate: { current } }) => (current.whole === 0 ? null : current.part / current.whole),
  open_value: (figures) => figures.openValue.current[0]?.amount ?? 0,
  top_leads: (figures) => figures.topLeads.total,
  stalled: (figures) => figures.stalled.total,
  changes: (figures) => figures.changes.kinds.reduce((sum, { total }) => sum + total, 0),
  agents: (figures) => figures.agents.rows.length,
  agents_failing: ({ agents }) =>
    agents.rows.filter(({ status }) => FAILING.includes(status.toLowerCase())).length,
  quarantined_records: (figures) => figures.dataQuality.held.reduce((sum, { records }) => sum + records, 0),
  query_rows: (figures) => figures.queries.reduce((sum, { rows }) => sum + rows.length, 0),
} as const satisfies Record<string, (figures: ReportFigures) => number | null>

function amountIn(moneys: readonly Money[], currency: string | undefined): number {
  return moneys.find((money) => money.currency === (currency ?? money.currency))?.amount ?? 0
}

/** What there is to tell; of these one that is not 0 makes a report worth its mail. */
const EVENTS = ['new_leads', 'won', 'lost', 'changes', 'agents_failing', 'query_rows'] as const

/** @throws LeadsheetError config_invalid for a threshold that cannot be asked, naming the report, it and the known numbers */
export function checkSendPolicy(report: string, policy: SendPolicy): void {
  if (typeof policy === 'string') return
  try {
    isTrueOf(policy.if_threshold, Object.fromEntries(Object.keys(HEADLINE).map((name) => [name, null])))
  } catch (thrown) {
    if (!(thrown instanceof LeadsheetError)) throw thrown
    const { code, message, hint = '' } = thrown
    throw new LeadsheetError(code, `report ${report}, ${message}`, { hint, cause: thrown })
  }
}

/**
 * Why the issue is not sent; null where it is.
 * @param last the figures that were last sent to the same readers; null before the first time
 */
export function reasonNotToSend(
  policy: SendPolicy,
  figures: ReportFigures,
  last: ReportFigures | null,
): string | null {
  // What failed is unknown, which is no quiet day either.
  if (figures.failed.length > 0) return null
  const now = numbersOf(figures)
  if (typeof policy !== 'string') {
    return isTrueOf(policy.if_threshold, now) ? null : `quiet: not ${policy.if_threshold}`
  }
  switch (policy) {
    case 'always':
      return null
    case 'if_rows':
      // What is not known, or not covered, is no quiet day.
      return !figures.freshness.coversPeriod || EVENTS.some((name) => now[name] !== 0)
        ? null
        : 'quiet: nothing is new, won, lost or changed, and no agent is failing'
    case 'if_changed': {
      const before = last && numbersOf(last)
      const isSame =
        before !== null && Object.keys(now).every((name) => isPast(name) || now[name] === before[name])
      return isSame ? 'quiet: every headline number is as it was last sent' : null
    }
  }
}

function numbersOf(figures: ReportFigures): Numbers {
  return Object.fromEntries(Object.entries(HEADLINE).map(([name, numberIn]) => [name, numberIn(figures)]))
}

/** Of the period before: that changes although nothing does. */
function isPast(name: string): boolean {
  return name.endsWith('_before')
}

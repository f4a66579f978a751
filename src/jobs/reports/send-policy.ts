/** Decides from the headline numbers of an issue whether the issue is worth sending. */
import type { SendPolicy } from '../../domain/choices.ts'
import type { ReportFigures } from '../../domain/figures.ts'
import type { Money } from '../../domain/model.ts'
import { LeadsheetError } from '../../errors.ts'
import { FAILING } from '../../report/blocks/agents/view.ts'
import { isTrueOf } from '../../store/queries/select.ts'

type Numbers = Readonly<Record<string, number | null>>

/** Under the names of thresholds. Amounts are in the currency with the most leads; rates are from 0 to 1. */
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
  quarantined_records: (figures) =>
    figures.dataQuality.quarantined.reduce((sum, { records }) => sum + records, 0),
  query_rows: (figures) => figures.queries.reduce((sum, { rows }) => sum + rows.length, 0),
} as const satisfies Record<string, (figures: ReportFigures) => number | null>

function amountIn(moneys: readonly Money[], currency: string | undefined): number {
  return moneys.find((money) => money.currency === (currency ?? money.currency))?.amount ?? 0
}

/** The numbers that decide under the policy `if_rows`: the report is sent if any of them is not 0. */
const EVENTS = ['new_leads', 'won', 'lost', 'changes', 'agents_failing', 'query_rows'] as const

/**
 * Checks the threshold of a send policy. The error names the report, the threshold and all numbers that a
 * threshold can use.
 * @throws LeadsheetError config_invalid if the threshold is invalid
 */
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

export function reasonNotToSend(policy: SendPolicy, figures: ReportFigures): string | null {
  // The content of a failed section is unknown, so the period does not count as quiet and the issue is sent.
  if (figures.failed.length > 0) return null
  const now = numbersOf(figures)
  if (typeof policy !== 'string') {
    return isTrueOf(policy.if_threshold, now) ? null : `quiet: not ${policy.if_threshold}`
  }
  if (policy === 'always') return null
  // A period does not count as quiet if the data does not cover it, or if one of its numbers is unknown.
  return !figures.freshness.coversPeriod || EVENTS.some((name) => now[name] !== 0)
    ? null
    : 'quiet: nothing is new, won, lost or changed, and no agent is failing'
}

function numbersOf(figures: ReportFigures): Numbers {
  return Object.fromEntries(Object.entries(HEADLINE).map(([name, numberIn]) => [name, numberIn(figures)]))
}

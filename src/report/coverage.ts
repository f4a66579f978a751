/** How much of its period a report can vouch for. */
import type { ReportFigures } from '../figures.ts'

/**
 * `whole`: every number stands. `part`: the data ends inside the period, or some of it was read before a sync
 * broke off, so counts are lower bounds. `none`: nothing of the period has been read.
 */
export type Coverage = 'whole' | 'part' | 'none'

export function coverageOf({ freshness, period, newLeads, won }: ReportFigures): Coverage {
  const { coversPeriod, dataAsOf } = freshness
  if (coversPeriod) return 'whole'
  const endsInside = dataAsOf !== null && dataAsOf > period.from
  return endsInside || newLeads.current + won.current > 0 ? 'part' : 'none'
}

/** Whether nothing at all is known of the time before, so that there is nothing to compare with. */
export function isFirst({ newLeads, won, winRate, openValue }: ReportFigures): boolean {
  return newLeads.prior + won.prior + winRate.prior.whole + openValue.prior.length === 0
}

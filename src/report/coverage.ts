/** How much of its period a report can vouch for. */
import type { HistoryCoverage, ReportFigures } from '../domain/figures.ts'
import type { Instant } from '../model.ts'
import type { LocaleContext } from './words/locale-context.ts'

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

/** A figure that is made of less than this share of the leads in question is not shown: it tells of what was read. */
export const KNOWN_SHARE_MIN = 0.5

export interface HistoryView {
  readonly isShown: boolean
  /** `known for 200 of 2,996 leads`; empty where all are known. */
  readonly note: string
}

/** How a figure that depends on what leads went through is told. */
export function composeHistory(
  { known, of }: HistoryCoverage,
  { words }: Pick<LocaleContext, 'words'>,
): HistoryView {
  return { isShown: known >= of * KNOWN_SHARE_MIN, note: known < of ? words('known', { known, of }) : '' }
}

/** Whether the count of stalled leads may stand by itself, where there is no room to say of how many it is made. */
export function isStalledKnown({ stalled }: Pick<ReportFigures, 'stalled'>): boolean {
  return stalled.coverage.known >= stalled.coverage.of
}

/** Whether nothing at all is known of the time before, so that there is nothing to compare with. */
export function isFirst({ newLeads, won, winRate, openValue }: ReportFigures): boolean {
  return newLeads.prior + won.prior + winRate.prior.whole + openValue.prior.length === 0
}

/** Whether what was read then tells nothing of the period any more: the next one of its length was over. */
export function isLongAfter(asOf: Instant | null, { period }: Pick<ReportFigures, 'period'>): boolean {
  const [from, to] = [Date.parse(period.from), Date.parse(period.to)]
  return asOf !== null && Date.parse(asOf) - to >= to - from
}

/** Whether the period is long past, and no lead of it is known. */
export function isBeforeAll(figures: ReportFigures): boolean {
  const { leads, freshness, filter } = figures
  const isOfAll = filter.pipelineIds === null && filter.conditions.length === 0
  return leads === 0 && isOfAll && isLongAfter(freshness.dataAsOf, figures)
}

/** Whether the time that a number goes by cannot be right. */
export function isImplausible(
  { freshness }: Pick<ReportFigures, 'freshness'>,
  name: 'newLeads' | 'won',
): boolean {
  const field = name === 'newLeads' ? 'created_at' : 'status_changed_at'
  return freshness.implausibleTimes?.includes(field) ?? false
}

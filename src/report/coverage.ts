/** Decides how much of its period a report covers, and which figures are known well enough to be shown. */
import type { HistoryCoverage, ReportFigures } from '../domain/figures.ts'
import type { Instant } from '../model.ts'
import type { LocaleContext } from './words/locale-context.ts'

/**
 * `whole`: all figures are complete. `part`: the data ends inside the period or a sync broke off, so counts
 * are lower bounds. `none`: nothing of the period has been read.
 */
export type Coverage = 'whole' | 'part' | 'none'

export function coverageOf({ freshness, period, newLeads, won }: ReportFigures): Coverage {
  const { coversPeriod, dataAsOf } = freshness
  if (coversPeriod) return 'whole'
  const endsInside = dataAsOf !== null && dataAsOf > period.from
  return endsInside || newLeads.current + won.current > 0 ? 'part' : 'none'
}

/** A figure is hidden if the history of less than this share of its leads is known. */
export const KNOWN_SHARE_MIN = 0.5

export interface HistoryView {
  readonly isShown: boolean
  /** A note such as `known for 200 of 2,996 leads`; empty if all are known. */
  readonly note: string
}

/** Decides whether a figure that needs the history of leads is shown, and with which note. */
export function composeHistory(
  { known, of }: HistoryCoverage,
  { words }: Pick<LocaleContext, 'words'>,
): HistoryView {
  return { isShown: known >= of * KNOWN_SHARE_MIN, note: known < of ? words('known', { known, of }) : '' }
}

/** Returns whether the count of stalled leads may be shown without a note on how many are known. */
export function isStalledKnown({ stalled }: Pick<ReportFigures, 'stalled'>): boolean {
  return stalled.coverage.known >= stalled.coverage.of
}

/** Returns whether nothing is known of the time before, so that there is nothing to compare with. */
export function isFirst({ newLeads, won, winRate, openValue }: ReportFigures): boolean {
  return newLeads.prior + won.prior + winRate.prior.whole + openValue.prior.length === 0
}

/**
 * Returns whether the data is so much later than the period that it says nothing about it: at least one
 * length of the period.
 */
export function isLongAfter(asOf: Instant | null, { period }: Pick<ReportFigures, 'period'>): boolean {
  const [from, to] = [Date.parse(period.from), Date.parse(period.to)]
  return asOf !== null && Date.parse(asOf) - to >= to - from
}

/** Returns whether the period is long past and no lead of it is known. */
export function isBeforeAll(figures: ReportFigures): boolean {
  const { leads, freshness, filter } = figures
  const isOfAll = filter.pipelineIds === null && filter.conditions.length === 0
  return leads === 0 && isOfAll && isLongAfter(freshness.dataAsOf, figures)
}

/** Returns whether the timestamps behind a count cannot be right. */
export function isImplausible(
  { freshness }: Pick<ReportFigures, 'freshness'>,
  name: 'newLeads' | 'won',
): boolean {
  const field = name === 'newLeads' ? 'created_at' : 'status_changed_at'
  return freshness.implausibleTimes?.includes(field) ?? false
}

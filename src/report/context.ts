/** The things that a report needs beside its figures, such as the recipient's settings, charts and files. */
import type { BlockName } from '../domain/choices.ts'
import type { FailedSection, ReportFigures, TrendDay } from '../domain/figures.ts'
import type { ImportedLeads } from '../domain/insight.ts'
import type { HistoryCoverage, Instant } from '../domain/model.ts'
import { localDates } from '../domain/period.ts'
import type { LocaleContext } from './words/locale-context.ts'

/** The address of a chart: `cid:…` in a mail, a path in the archive. */
export interface ChartSource {
  readonly light: string
  /** The address of the chart for the dark colour scheme; null if one picture serves both schemes. */
  readonly dark: string | null
  readonly width: number
  readonly height: number
}

export interface Resend {
  /** The time at which the mail was requested again. */
  readonly at: Instant
  readonly first: Instant
  /** The reason in the operator's words; null if none was given. */
  readonly reason: string | null
}

export interface BlockContext {
  /** The name of the report, such as `Daily leads`. The subject begins with this name. */
  readonly title: string
  readonly blocks: readonly BlockName[]
  /** The recipient's address; null for the archive. */
  readonly recipient: string | null
  /** The address of a lead, such as `https://crm.example.com/leads/{id}`; null if leads have no links. */
  readonly leadUrl: string | null
  /** The address of the report's issues in the dashboard; null if the dashboard has no public address. */
  readonly moreUrl: string | null
  /** The trend of the leads; null if it was not drawn. */
  readonly chart: ChartSource | null
  /** The names of the attached files. The key is the block or query whose whole list is in the file. */
  readonly attached: ReadonlyMap<string, string>
  /** Files that are not attached because the mail would be too large, with their sizes. */
  readonly leftOut: readonly { readonly name: string; readonly megabytes: number }[]
  /** The names of requested files that were not made because their figures failed, such as `stalled.xlsx`. */
  readonly notMade: readonly string[]
  readonly failed: readonly FailedSection[]
  /** Facts about both mails if this one replaces an earlier mail about the same period; otherwise null. */
  readonly resend: Resend | null
  /** The mailto: or https: address to unsubscribe at; null if there is none. */
  readonly unsubscribe: string | null
}

/* Decides how much of a report's period was read, and which figures are known well enough to be shown. */

/** `part` gives lower bounds, as the data ends inside the period or a sync broke off. `none` has nothing. */
export type Coverage = 'whole' | 'part' | 'none'

export function coverageOf({ freshness, period, newLeads, won }: ReportFigures): Coverage {
  const { coversPeriod, dataAsOf } = freshness
  if (coversPeriod) return 'whole'
  const endsInside = dataAsOf !== null && dataAsOf > period.from
  return endsInside || newLeads.current + won.current > 0 ? 'part' : 'none'
}

/** If the history of fewer leads than this share is known, a figure that needs it is hidden. */
export const KNOWN_SHARE_MIN = 0.5

/** If the history of at least this share is known, a sign beside the figure says that it is not exact. */
const KNOWN_SHARE_MUCH = 0.9

export interface HistoryView {
  readonly isShown: boolean
  /** True if the history of all leads is known. */
  readonly isExact: boolean
  /** A note such as `known for 200 of 2,996 leads`; empty if the history of nearly all leads is known. */
  readonly note: string
}

export function composeHistory(
  { known, of }: HistoryCoverage,
  { words }: Pick<LocaleContext, 'words'>,
): HistoryView {
  return {
    isShown: known >= of * KNOWN_SHARE_MIN,
    isExact: known >= of,
    note: known < of * KNOWN_SHARE_MUCH ? words('known', { known, of }) : '',
  }
}

/** Returns whether the history of all leads is known, so that the count of stalled leads is complete. */
export function isStalledKnown({ stalled }: Pick<ReportFigures, 'stalled'>): boolean {
  return stalled.coverage.known >= stalled.coverage.of
}

/** Returns whether all figures of the period before are zero, so that there is nothing to compare with. */
export function isFirst({ newLeads, won, winRate, openValue }: ReportFigures): boolean {
  return newLeads.prior + won.prior + winRate.prior.whole + openValue.prior.length === 0
}

/** Returns the leads that were imported in the period. Normal ranges and expected ends leave them out. */
export function importsOf({
  insight,
  period,
}: Pick<ReportFigures, 'insight' | 'period'>): readonly ImportedLeads[] {
  const [first = '', last = first] = localDates(period).split('--')
  return (insight?.imports ?? []).filter(({ day }) => day >= first && day <= last)
}

/** Returns the number of new leads without the imported ones, which is what is compared and judged. */
export function newLeadsOf(figures: Pick<ReportFigures, 'insight' | 'period' | 'newLeads'>): number {
  return importsOf(figures).reduce((left, { leads }) => left - leads, figures.newLeads.current)
}

/** Returns the days of the chart without imported leads, which would flatten all other days. */
export function trendOf({
  trend,
  insight,
}: Pick<ReportFigures, 'trend'> & Partial<Pick<ReportFigures, 'insight'>>): readonly TrendDay[] {
  const imports = insight?.imports ?? []
  return trend.map((shown) => {
    const { newLeads } = shown
    if (newLeads === null || !imports.some(({ day }) => day === shown.day)) return shown
    const imported = imports.filter(({ day }) => day === shown.day)
    return { ...shown, newLeads: imported.reduce((left, { leads }) => left - leads, newLeads) }
  })
}

/** Returns whether a holiday or a note explains the numbers, so that they are compared with nothing. */
export function isLeftOut({ kind, insight }: ReportFigures): boolean {
  const isOfDays = kind !== 'week' && kind !== 'month' && kind !== 'quarter'
  const isHoliday = isOfDays && (insight?.holidayCount ?? 0) > 0
  return isHoliday || (insight?.expectations.some(({ judgement }) => judgement === 'left_out') ?? false)
}

/** Returns whether the numbers of the period can be compared with those of the period before. */
export function canCompare(figures: ReportFigures): boolean {
  return coverageOf(figures) === 'whole' && !isFirst(figures) && !isLeftOut(figures)
}

/** The data says nothing if it was read at least one length of the period after the period's end. */
export function isLongAfter(asOf: Instant | null, { period }: Pick<ReportFigures, 'period'>): boolean {
  const [from, to] = [Date.parse(period.from), Date.parse(period.to)]
  return asOf !== null && Date.parse(asOf) - to >= to - from
}

/** Returns whether the period ended long ago and no lead from that time is known. */
export function isBeforeAll(figures: ReportFigures): boolean {
  const { leads, freshness, filter } = figures
  const isOfAll = filter.pipelineIds === null && filter.conditions.length === 0
  return leads === 0 && isOfAll && isLongAfter(freshness.dataAsOf, figures)
}

/** Returns whether a number may be wrong, because it is counted from implausible timestamps of leads. */
export function isImplausible(
  { freshness }: Pick<ReportFigures, 'freshness'>,
  name: 'newLeads' | 'won',
): boolean {
  const field = name === 'newLeads' ? 'created_at' : 'status_changed_at'
  return freshness.implausibleTimes?.includes(field) ?? false
}

/** The types of a report's figures, which `store/figures/` reads and each issue stores as JSON. */

import type { PERIOD_KINDS } from './choices.ts'
import type { DeclaredType, FieldTable } from './declared-fields.ts'
import type { Insight } from './insight.ts'
import type {
  Agents,
  Changes,
  DataQuality,
  PipelineLine,
  QueryTable,
  SourceLine,
  Stalled,
  StatDifference,
  TopLeads,
} from './lists.ts'

import type { Compared, FunnelStage, HistoryCoverage, Instant, Money, Period, Ratio } from './model.ts'
import type { Freshness } from './sync.ts'

/** The filter of a report: the report covers the leads that meet every condition. */
export interface LeadFilter {
  /** Null for all pipelines. */
  readonly pipelineIds: readonly string[] | null
  readonly conditions: readonly FilterCondition[]
}

/**
 * A condition on a present value of `lead`, or of a field that the profile declares, which has a `type` then.
 * Bounds are included, and a null bound does not restrict.
 */
export type FilterCondition = { readonly field: string; readonly type?: DeclaredType } & (
  | { readonly in: readonly string[] }
  | { readonly min: number | null; readonly max: number | null }
)

export type PeriodKind = (typeof PERIOD_KINDS)[number]

/** The format of `ReportFigures` in stored issues. Raise it with each change that older figures are without. */
export const FIGURES_FORMAT = 2

export interface ReportFigures {
  readonly kind: PeriodKind
  readonly period: Period
  readonly prior: Period
  readonly filter: LeadFilter
  readonly freshness: Freshness
  readonly pipelines: readonly string[]
  /** The number of stored leads, of any status. */
  readonly leads: number
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly lost: Compared<number>
  /** One amount for each currency. The currency with the most leads comes first. */
  readonly wonValue: Compared<readonly Money[]>
  /** The share of won leads among won and lost leads, over the 30 days up to the end of each period. */
  readonly winRate: Compared<Ratio>
  /** The value at the end of each period, with the currency that has the most leads first. */
  readonly openValue: Compared<readonly Money[]>
  /**
   * The leads whose status at the end of each period is known, and the open leads whose value is known then.
   */
  readonly known: { readonly status: Compared<HistoryCoverage>; readonly value: Compared<HistoryCoverage> }
  readonly trend: readonly TrendDay[]
  readonly funnel: Funnel
  readonly changes: Changes
  readonly topLeads: TopLeads
  /** The declared fields that the lists show; absent if they show none. */
  readonly fields?: FieldTable
  readonly stalled: Stalled
  readonly byPipeline: readonly PipelineLine[]
  /** The figures of each source of leads. The source with the most new leads comes first. */
  readonly bySource: readonly SourceLine[]
  readonly agents: Agents
  readonly serviceStats: readonly StatDifference[]
  readonly dataQuality: DataQuality
  /** Null if nothing was judged, such as for a past state of the data. */
  readonly insight: Insight | null
  /** In the report's order. A query that failed has neither columns nor rows. */
  readonly queries: readonly QueryTable[]
  /** The parts of the report that could not be read. The fields of these parts are empty and mean nothing. */
  readonly failed: readonly FailedSection[]
  readonly warnings: readonly ReportWarning[]
}

export interface FailedSection {
  readonly block: string
  /** Null if another part than one of the report's own SQL queries failed. */
  readonly query: string | null
  readonly message: string
}

export type ReportWarning = LateWarning | MissedWarning | UnusualWarning

/** The note that no report was made for these periods, which lie between the last report and this one. */
export interface MissedWarning {
  readonly kind: 'missed'
  readonly periods: readonly Period[]
}

/** The report was made later than due. The cause of the delay lasted from `from` to `to`. */
export interface LateWarning {
  readonly kind: 'late'
  readonly from: Instant
  readonly to: Instant
  readonly why: 'down' | 'blocked' | 'unwritable' | 'clock' | 'waited'
}

/**
 * The warning that more leads are missing than a service normally loses. `scope`: this report covers `is`
 * leads, and the last report that was sent covered `was`. `scan`: the last complete scan found `is` leads,
 * and the scan before it `was`. `deletion`: the last complete scan found only `is` of the `was` known leads,
 * so none of the missing leads is marked as deleted.
 */
export interface UnusualWarning {
  readonly kind: 'unusual'
  readonly what: 'scope' | 'scan' | 'deletion'
  readonly was: number
  readonly is: number
}

/** One of 96 local days, so that the last 90 have a mean over 7 days. Null where a day is not covered. */
export interface TrendDay {
  /** The date of the day in the report's time zone, such as `2026-11-20`. */
  readonly day: string
  readonly newLeads: number | null
}

export interface Funnel {
  /**
   * The origin of the funnel. `service`: the upstream's own statistics, over all time. `ours`: counted by
   * leadsheet, because the report filters by more than pipelines, or because the upstream's statistics are
   * missing or were read long after the period.
   */
  readonly source: 'service' | 'ours'
  /** The leads with a known history, which are all that our funnel counts. Null for the upstream's funnel. */
  readonly coverage: HistoryCoverage | null
  /** The number of leads for which it is known how long they were in each stage. `medianDays` uses only these. */
  readonly daysCoverage: HistoryCoverage
  readonly asOf: Instant | null
  readonly stages: readonly (FunnelStage & {
    /** The median over the stays that ended in the last 90 days; null if no such stay is known. */
    readonly medianDays: number | null
  })[]
}

/**
 * The types of the figures of a report, which are its numbers and lists. The code in `store/figures/` defines
 * and reads each figure. The code in `report/` puts the figures into words. Each issue stores its figures as
 * JSON.
 */

import type { PERIOD_KINDS } from './choices.ts'
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
  /** The ids of the pipelines whose leads are covered; null for all pipelines. */
  readonly pipelineIds: readonly string[] | null
  readonly conditions: readonly FilterCondition[]
}

/**
 * A condition on the present value of a column of the table `lead`: the value must be one of the texts `in`,
 * or a number from `min` to `max`, both included. A null bound does not restrict the value.
 */
export type FilterCondition =
  | { readonly field: string; readonly in: readonly string[] }
  | { readonly field: string; readonly min: number | null; readonly max: number | null }

export type PeriodKind = (typeof PERIOD_KINDS)[number]

export interface ReportFigures {
  readonly kind: PeriodKind
  readonly period: Period
  /** The earlier period with which `period` is compared. */
  readonly prior: Period
  readonly filter: LeadFilter
  readonly freshness: Freshness
  /** The names of the pipelines that the report covers, sorted by name. */
  readonly pipelines: readonly string[]
  /** The number of stored leads that the report covers, whatever their status. */
  readonly leads: number
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly lost: Compared<number>
  /**
   * The value of the won leads, one amount for each currency. The currency with the most leads comes first.
   */
  readonly wonValue: Compared<readonly Money[]>
  /** The share of won leads among won and lost leads, over the 30 days up to the end of each period. */
  readonly winRate: Compared<Ratio>
  /**
   * The value of the open leads at the end of each period, one amount for each currency. The currency with
   * the most leads comes first.
   */
  readonly openValue: Compared<readonly Money[]>
  /**
   * The number of leads whose status at the end of each period is known, and the number of open leads whose
   * value is known then.
   */
  readonly known: { readonly status: Compared<HistoryCoverage>; readonly value: Compared<HistoryCoverage> }
  readonly sparklines: Sparklines
  readonly trend: readonly TrendDay[]
  readonly funnel: Funnel
  readonly changes: Changes
  readonly topLeads: TopLeads
  readonly stalled: Stalled
  /** The figures of each pipeline, sorted by name. Pipelines with neither leads nor changes are left out. */
  readonly byPipeline: readonly PipelineLine[]
  /** The figures of each source of leads. The source with the most new leads comes first. */
  readonly bySource: readonly SourceLine[]
  readonly agents: Agents
  readonly serviceStats: readonly StatDifference[]
  readonly dataQuality: DataQuality
  /**
   * The judgement of the numbers, such as which are unusual. Null if nothing was judged, such as for a past
   * state of the data.
   */
  readonly insight: Insight | null
  /**
   * The results of the report's own SQL queries, in the report's order. A query that failed has neither
   * columns nor rows.
   */
  readonly queries: readonly QueryTable[]
  /** The parts of the report that could not be read. The fields of these parts are empty and mean nothing. */
  readonly failed: readonly FailedSection[]
  /** The warnings that stand above all numbers, whichever blocks the report has. */
  readonly warnings: readonly ReportWarning[]
}

export interface FailedSection {
  /**
   * The name of the block. If it is `kpis`, only the sparklines are missing, and the key numbers are there.
   */
  readonly block: string
  /** The name of the query, if one of the report's own SQL queries failed; null if another part failed. */
  readonly query: string | null
  readonly message: string
}

export type ReportWarning = LateWarning | MissedWarning | UnusualWarning

/** The note that no report was made for these periods, which lie between the last report and this one. */
export interface MissedWarning {
  readonly kind: 'missed'
  readonly periods: readonly Period[]
}

/**
 * The warning that the report was made and sent later than due. The cause of the delay lasted from `from` to
 * `to`.
 */
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

/**
 * The values of the last periods of the same kind, oldest first, this period included: 14 days, 12 weeks or
 * 12 months. A value is null if the stored data does not cover its whole period.
 */
export interface Sparklines {
  readonly newLeads: readonly (number | null)[]
  readonly won: readonly (number | null)[]
  readonly winRate: readonly (number | null)[]
  /**
   * The value of the open leads, in the currency that most open leads have at the end of the report's period.
   * A value is also null if more than 1 % of it comes from leads whose value at that time is unknown.
   */
  readonly openValue: readonly (number | null)[]
}

/**
 * One local day of the trend chart. The trend has 96 days, so that each of the last 90 days has a mean over 7
 * days. The numbers are null before the first lead, and for a day that the stored data does not cover to its
 * end.
 */
export interface TrendDay {
  /** The date of the day in the report's time zone, such as `2026-11-20`. */
  readonly day: string
  readonly newLeads: number | null
  readonly won: number | null
}

export interface Funnel {
  /**
   * The origin of the funnel. `service`: the upstream's own statistics, over all time. `ours`: counted by
   * leadsheet, because the report filters by more than pipelines, or because the upstream's statistics are
   * missing or were read long after the period.
   */
  readonly source: 'service' | 'ours'
  /**
   * The number of leads with a known history. The funnel that leadsheet counts contains only these leads.
   * Null for the upstream's funnel.
   */
  readonly coverage: HistoryCoverage | null
  /** The number of leads for which it is known how long they were in each stage. `medianDays` uses only these. */
  readonly daysCoverage: HistoryCoverage
  readonly asOf: Instant | null
  readonly stages: readonly (FunnelStage & {
    /**
     * The median number of days that leads stayed in this stage, over the stays that ended in the last 90
     * days; null if no such stay is known.
     */
    readonly medianDays: number | null
  })[]
}

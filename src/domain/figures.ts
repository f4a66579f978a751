/**
 * The types of the figures of a report. The code in `store/figures/` reads the figures and says how each
 * number is counted, and `explainReport` shows that. The code in `report/` puts the figures into words, and
 * each issue stores them as JSON.
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
 * A condition on the present value of a column of `lead`: it is one of these texts, or a number from `min` to
 * `max`, both included.
 */
export type FilterCondition =
  | { readonly field: string; readonly in: readonly string[] }
  | { readonly field: string; readonly min: number | null; readonly max: number | null }

export type PeriodKind = (typeof PERIOD_KINDS)[number]

export interface ReportFigures {
  readonly kind: PeriodKind
  readonly period: Period
  /** The period with which the period of the report is compared. */
  readonly prior: Period
  readonly filter: LeadFilter
  readonly freshness: Freshness
  /** The names of the pipelines that the report covers, sorted by name. */
  readonly pipelines: readonly string[]
  /** The number of leads in the store that the report covers, in all statuses. */
  readonly leads: number
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly lost: Compared<number>
  /**
   * The value of the won leads, one amount for each currency. The currency with the most leads comes first.
   */
  readonly wonValue: Compared<readonly Money[]>
  /** The rate of won leads among won and lost leads, over the last 30 days of each period. */
  readonly winRate: Compared<Ratio>
  /**
   * The value of the open leads at the end of each period, one amount for each currency. The currency with
   * the most leads comes first.
   */
  readonly openValue: Compared<readonly Money[]>
  /**
   * The coverage at the end of each period: how many leads have a known status, and how many open leads a
   * known value.
   */
  readonly known: { readonly status: Compared<HistoryCoverage>; readonly value: Compared<HistoryCoverage> }
  readonly sparklines: Sparklines
  readonly trend: readonly TrendDay[]
  readonly funnel: Funnel
  readonly changes: Changes
  readonly topLeads: TopLeads
  readonly stalled: Stalled
  /** The figures of each pipeline, sorted by name. Pipelines without leads and changes are left out. */
  readonly byPipeline: readonly PipelineLine[]
  /** The sources of leads. The source with the most new leads comes first. */
  readonly bySource: readonly SourceLine[]
  readonly agents: Agents
  readonly serviceStats: readonly StatDifference[]
  readonly dataQuality: DataQuality
  /** The judgement of what is unusual; null if there is none, for example for a past state of the data. */
  readonly insight: Insight | null
  /**
   * The results of the report's own SQL queries, in the report's order. A query that failed has neither
   * columns nor rows.
   */
  readonly queries: readonly QueryTable[]
  /** The results of the queries that belong to blocks, by block name; absent if no block has a query. */
  readonly blockRows?: Readonly<Record<string, readonly BlockRow[]>>
  /**
   * The parts of the report that could not be read. The values of these parts above are empty and mean
   * nothing.
   */
  readonly failed: readonly FailedSection[]
  /** The warnings that recipients must read before any number, whichever blocks the report has. */
  readonly warnings: readonly ReportWarning[]
}

/**
 * The query of a block's own figures. These figures are read together with the other figures and explained
 * with them.
 */
export interface BlockQuery {
  readonly title: string
  /** A sentence that tells people what the query counts. */
  readonly meaning: string
  /** The names of the relations in `store/figures/` that the SQL reads, such as `closed`. */
  readonly reads: readonly string[]
  /**
   * The SQL of the query. It may use `:from` and `:to`, the instants of the period, and the other values of
   * `valuesOf` in `store/figures/`.
   */
  readonly sql: string
}

export type BlockRow = Readonly<Record<string, string | number | null>>

/** A part of a report that could not be made. */
export interface FailedSection {
  /**
   * The name of the block. If `kpis` failed, only the lines below the numbers are missing, because without
   * the numbers there is no report.
   */
  readonly block: string
  /** The name of the query, if it is one of the report's own queries; null for other blocks. */
  readonly query: string | null
  readonly message: string
}

export type ReportWarning = LateWarning | UnusualWarning

/**
 * The warning that the report was made and sent later than due. The cause of the delay lasted from `from` to
 * `to`.
 */
export interface LateWarning {
  readonly kind: 'late'
  readonly from: Instant
  readonly to: Instant
  readonly why: 'down' | 'blocked' | 'clock' | 'waited'
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
 * 12 months. A value is null if it is not known up to the end of its period.
 */
export interface Sparklines {
  readonly newLeads: readonly (number | null)[]
  readonly won: readonly (number | null)[]
  readonly winRate: readonly (number | null)[]
  /**
   * The open value in the currency that most open leads have now. It is also null if the value at that time
   * is unknown for leads that make up more than a hundredth of it.
   */
  readonly openValue: readonly (number | null)[]
}

/**
 * One local day of the trend. The trend has 96 days up to the end of the period, so that 90 of them have a
 * mean of 7 days. The numbers are null before the first lead, and for a day that the data does not cover to
 * its end.
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
   * leadsheet over the same leads, because the filter is finer than the upstream's statistics, or because
   * these statistics are missing or of another time.
   */
  readonly source: 'service' | 'ours'
  /**
   * The coverage of the funnel that leadsheet counts, which contains only leads with a known history; null
   * for the upstream's funnel.
   */
  readonly coverage: HistoryCoverage | null
  /** The coverage of the median days in the stages. */
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

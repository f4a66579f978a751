/**
 * The figures of a report: types only. `store/figures/` reads them, `report/` puts them into words, and each
 * issue stores them as JSON. `store/figures/` says how each number is counted, and `explainReport` shows it.
 */

import type { PERIOD_KINDS } from './choices.ts'
import type { LISTED_FIELDS } from './lead-fields.ts'
import type { FunnelStage, Instant, Lead, Money, Period, Ratio } from './model.ts'
import type { Freshness } from './sync.ts'

/** A value of the period beside the same value of the period it is compared with. */
export interface Compared<T> {
  readonly current: T
  readonly prior: T
}

/** The number of leads for which a figure is known that depends on their history. */
export interface HistoryCoverage {
  readonly known: number
  /** The leads in question. */
  readonly of: number
}

/** The leads of a report: those that meet every condition. */
export interface LeadFilter {
  /** The ids of the pipelines; null for all. */
  readonly pipelineIds: readonly string[] | null
  readonly conditions: readonly FilterCondition[]
}

/**
 * A condition on a column of `lead` as it is now: one of these texts, or a number within these bounds, both
 * included.
 */
export type FilterCondition =
  | { readonly field: string; readonly in: readonly string[] }
  | { readonly field: string; readonly min: number | null; readonly max: number | null }

export type PeriodKind = (typeof PERIOD_KINDS)[number]

export interface ReportFigures {
  readonly kind: PeriodKind
  readonly period: Period
  /** The period of comparison. */
  readonly prior: Period
  readonly filter: LeadFilter
  readonly freshness: Freshness
  /** The names of the pipelines covered, in order of name. */
  readonly pipelines: readonly string[]
  /** The number of leads in the copy, in all statuses. */
  readonly leads: number
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly lost: Compared<number>
  /** The value won, one amount for each currency, the currency of most leads first. */
  readonly wonValue: Compared<readonly Money[]>
  /** The rate of won in won + lost, over the 30 days up to the end of each period. */
  readonly winRate: Compared<Ratio>
  /**
   * The value of the open leads at the end of each period, one amount for each currency, the currency of most
   * leads first.
   */
  readonly openValue: Compared<readonly Money[]>
  /**
   * The coverage at the end of each period: the leads whose status is known, and the open leads whose value
   * is known.
   */
  readonly known: { readonly status: Compared<HistoryCoverage>; readonly value: Compared<HistoryCoverage> }
  readonly sparklines: Sparklines
  readonly trend: readonly TrendDay[]
  readonly funnel: Funnel
  readonly changes: Changes
  readonly topLeads: TopLeads
  readonly stalled: Stalled
  /** The pipelines side by side, in order of name. Pipelines without leads and changes are left out. */
  readonly byPipeline: readonly PipelineLine[]
  /** The sources of leads, most new leads first. */
  readonly bySource: readonly SourceLine[]
  readonly agents: Agents
  readonly serviceStats: readonly StatDifference[]
  readonly dataQuality: DataQuality
  /** The results of the report's own SQL, in its order. A query that failed has neither columns nor rows. */
  readonly queries: readonly QueryTable[]
  /** The results of the queries of blocks, by block name; absent where no block has one. */
  readonly blockRows?: Readonly<Record<string, readonly BlockRow[]>>
  /** The parts that could not be read. Their values above are empty and mean nothing. */
  readonly failed: readonly FailedSection[]
  /** The warnings that recipients must read before any number, whatever blocks they have. */
  readonly warnings: readonly ReportWarning[]
}

/** The query of a block's own figures. They are read together with the others and explained with them. */
export interface BlockQuery {
  readonly title: string
  /** A sentence for people about what is counted. */
  readonly meaning: string
  /** The relations of `store/figures/` that the SQL reads, such as `closed`. */
  readonly reads: readonly string[]
  /**
   * The SQL. It may use `:from` and `:to`, the instants of the period, and the other values of `valuesOf` in
   * `store/figures/`.
   */
  readonly sql: string
}

export type BlockRow = Readonly<Record<string, string | number | null>>

/** A part of a report that could not be made. */
export interface FailedSection {
  /**
   * The block. A failed `kpis` lacks only the lines below the numbers, because without the numbers there is
   * no report.
   */
  readonly block: string
  /** The name of one of the report's own queries; null for other blocks. */
  readonly query: string | null
  readonly message: string
}

export type ReportWarning = LateWarning | UnusualWarning

/** The report was made and sent later than due. The cause lasted from `from` to `to`. */
export interface LateWarning {
  readonly kind: 'late'
  readonly from: Instant
  readonly to: Instant
  readonly why: 'down' | 'blocked' | 'clock' | 'waited'
}

/**
 * More leads are missing than a service normally loses. `scope`: this report covers `is` leads, the last one
 * sent covered `was`. `scan`: the last complete scan found `is` leads, the scan before it `was`. `removal`:
 * the last complete scan found only `is` of the `was` known leads, so none of the others is taken for
 * deleted.
 */
export interface UnusualWarning {
  readonly kind: 'unusual'
  readonly what: 'scope' | 'scan' | 'removal'
  readonly was: number
  readonly is: number
}

/**
 * The last periods of the same kind up to this one, oldest first: 14 days, 12 weeks or 12 months. Null where
 * a period is not known, or not known to its end.
 */
export interface Sparklines {
  readonly newLeads: readonly (number | null)[]
  readonly won: readonly (number | null)[]
  readonly winRate: readonly (number | null)[]
  /**
   * The open value in the currency of most open leads now. Also null where the value then is not known for
   * leads that make up more than a hundredth of it.
   */
  readonly openValue: readonly (number | null)[]
}

/**
 * A local day. There are 96 up to the end of the period, so that 90 have a mean of 7. Numbers are null before
 * the first lead, and where the data ends before the day does.
 */
export interface TrendDay {
  /** The date on the report's calendar, such as `2026-11-20`. */
  readonly day: string
  readonly newLeads: number | null
  readonly won: number | null
}

export interface Funnel {
  /**
   * The source of the funnel. `service`: the upstream's own statistics, all time. `ours`: counted by
   * leadsheet over the same leads, where the filter is finer than those statistics, or they are missing or of
   * another time.
   */
  readonly source: 'service' | 'ours'
  /** The coverage of our own funnel, which counts leads with a known history; null for the service's. */
  readonly coverage: HistoryCoverage | null
  /** The coverage of the median days. */
  readonly daysCoverage: HistoryCoverage
  readonly asOf: Instant | null
  readonly stages: readonly (FunnelStage & {
    /**
     * The median days that leads spent in the stage, over the stays that ended in the last 90 days; null
     * where none is known.
     */
    readonly medianDays: number | null
  })[]
}

export type ChangeKind = 'won' | 'forward' | 'back' | 'lost' | 'gone' | 'returned'

/** The changes of leads. Each lead counts once, by its last change. */
export interface Changes {
  /**
   * The start of the changes: the beginning of the period, or the end of the last issue sent where that is
   * earlier. Earlier changes that became known only after that issue are included.
   */
  readonly since: Instant
  /** The coverage of the kinds forward and back. */
  readonly coverage: HistoryCoverage
  /** The number of changes of each kind, in this order, with the first of them by currency and value. */
  readonly kinds: readonly {
    readonly kind: ChangeKind
    readonly total: number
    readonly value: readonly Money[]
    readonly rows: readonly ChangedLead[]
  }[]
}

export interface ChangedLead {
  readonly id: string
  readonly companyName: string
  readonly pipelineName: string
  /** The status in the last issue; null where none is known, and for leads that were deleted or came back. */
  readonly fromStatus: string | null
  readonly toStatus: string
  readonly at: Instant
  readonly value: Money | null
}

/** A lead in the lists of a report, with the fields of all lists and their attachments. */
export interface ListedLead extends Pick<Lead, (typeof LISTED_FIELDS)[number]> {
  readonly id: string
  readonly companyName: string
  readonly pipelineId: string
  readonly pipelineName: string
  readonly status: string
  readonly score: number | null
  readonly value: Money | null
  readonly createdAt: Instant
  readonly changedAt: Instant
}

/** New leads with `minScore` or more, the best first. `rows` are the first of `total`. */
export interface TopLeads {
  readonly minScore: number
  readonly total: number
  readonly rows: readonly ListedLead[]
}

/**
 * Open leads without any change for `days` days or more, the longest first. `rows` are the first of `total`.
 */
export interface Stalled {
  readonly days: number
  /** The coverage of the open leads. */
  readonly coverage: HistoryCoverage
  readonly total: number
  readonly rows: readonly (ListedLead & {
    /** Whole days without any change of the lead, up to the end of the period. */
    readonly idleDays: number
  })[]
}

export interface PipelineLine {
  readonly id: string
  readonly name: string
  readonly leads: number
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly winRate: Ratio
  readonly openValue: readonly Money[]
  readonly stalled: number
}

export interface SourceLine {
  /** The source; null for leads without one. */
  readonly source: string | null
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly winRate: Ratio
}

export interface Agents {
  readonly asOf: Instant | null
  /** The agents; empty where their samples were taken long after the period. */
  readonly rows: readonly AgentLine[]
  /** Spans of failing that touch the period, longest first. */
  readonly outages: readonly Outage[]
}

export interface AgentLine {
  readonly name: string
  readonly kind: string | null
  readonly status: string
  readonly statusChangedAt: Instant | null
  readonly taskType: string | null
  readonly taskPipelineName: string | null
  readonly lastSeenAt: Instant | null
  readonly errors24h: number | null
  readonly lastErrorMessage: string | null
}

export interface Outage {
  readonly agentName: string
  readonly beganAt: Instant
  /** The end; null while the outage lasts. */
  readonly endedAt: Instant | null
  readonly hours: number
}

/**
 * A number of the upstream's own statistics that differs from our count for the same moment: that of the last
 * sample that our copy covers.
 */
export interface StatDifference {
  readonly pipelineName: string
  readonly figure:
    | 'leads'
    | 'open'
    | 'won'
    | 'lost'
    | 'disqualified'
    | 'win_rate'
    | 'open_value'
    | 'won_value'
  /** The currency of a value (ISO 4217); null for other figures. */
  readonly currency: string | null
  readonly ours: number
  readonly upstream: number
  readonly asOf: Instant
}

export interface DataQuality {
  /** The quarantined records by their reason, most first. */
  readonly held: readonly { readonly resource: string; readonly reason: string; readonly records: number }[]
  /** Fields of the records that appeared, vanished or changed their type in the period. */
  readonly drift: readonly {
    readonly change: 'new' | 'vanished' | 'retyped'
    readonly path: string
    readonly at: Instant
  }[]
  /** The result of the last scan of the leads; null before the first. */
  readonly lastScan: {
    readonly scan_result: 'complete' | 'incomplete' | 'unproven'
    readonly at: Instant
  } | null
}

/** The result of a query of a report's own folder. */
export interface QueryTable {
  readonly name: string
  readonly title: string
  /** The note below the title; null for none. */
  readonly note: string | null
  readonly sql: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  /** Whether there were more rows than are kept. */
  readonly isCut: boolean
}

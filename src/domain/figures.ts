/**
 * The figures of a report, as data: types only. `store/figures/` reads them, `report/` makes words of them, and they are
 * kept as JSON with each issue. How each number is counted stands in `store/figures/`, and `explainReport` tells it.
 */

import type { Freshness, FunnelStage, Instant, Lead, Money, Period, Ratio } from '../model.ts'
import type { PERIOD_KINDS } from './choices.ts'
import type { LISTED_FIELDS } from './lead-fields.ts'

/** A value of the period beside the same value of the period it is compared with. */
export interface Compared<T> {
  readonly current: T
  readonly prior: T
}

/** For how many leads a figure is known that depends on their history. */
export interface HistoryCoverage {
  readonly known: number
  /** The leads in question. */
  readonly of: number
}

/** Which leads a report is about: those that meet every condition. */
export interface LeadFilter {
  /** Only these pipelines; null for all. */
  readonly pipelineIds: readonly string[] | null
  readonly conditions: readonly FilterCondition[]
}

/** On a column of `lead` as it is now: one of these texts, or a number within these bounds, both included. */
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
  /** Names of the pipelines covered, in order of name. */
  readonly pipelines: readonly string[]
  /** Leads in the copy, all statuses. */
  readonly leads: number
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly lost: Compared<number>
  /** Value won, a currency each, that of most leads first. */
  readonly wonValue: Compared<readonly Money[]>
  /** Won out of won + lost, over the 30 days up to the end of each period. */
  readonly winRate: Compared<Ratio>
  /** Value of the open leads at the end of each period, a currency each, that of most leads first. */
  readonly openValue: Compared<readonly Money[]>
  /** At the end of each period: of how many leads the status then is known, and of how many open ones the value. */
  readonly known: { readonly status: Compared<HistoryCoverage>; readonly value: Compared<HistoryCoverage> }
  readonly sparklines: Sparklines
  readonly trend: readonly TrendDay[]
  readonly funnel: Funnel
  readonly changes: Changes
  readonly topLeads: TopLeads
  readonly stalled: Stalled
  /** The pipelines side by side, in order of name; without those that have no leads and nothing to tell. */
  readonly byPipeline: readonly PipelineLine[]
  /** The sources of leads, most new leads first. */
  readonly bySource: readonly SourceLine[]
  readonly agents: Agents
  readonly serviceStats: readonly StatDifference[]
  readonly dataQuality: DataQuality
  /** The results of the report's own SQL, in its order; a query that failed has neither columns nor rows. */
  readonly queries: readonly QueryTable[]
  /** The results of the queries that blocks own, by the names of the blocks; absent where no block has one. */
  readonly blockRows?: Readonly<Record<string, readonly BlockRow[]>>
  /** The parts that could not be read; their values above are empty, and mean nothing. */
  readonly failed: readonly FailedSection[]
  /** The warnings that recipients must read before any number, whatever blocks they have. */
  readonly warnings: readonly ReportWarning[]
}

/** Figures that a block owns. They are read with the others, at one moment, and explained with them. */
export interface BlockQuery {
  readonly title: string
  /** A sentence for people about what is counted. */
  readonly meaning: string
  /** The relations of `store/figures/` that the SQL reads, such as `closed`. */
  readonly reads: readonly string[]
  /** It may name `:from` and `:to`, the instants of the period, and what else `valuesOf` in `store/figures/` gives. */
  readonly sql: string
}

export type BlockRow = Readonly<Record<string, string | number | null>>

/** A part of a report that could not be made. */
export interface FailedSection {
  /** The block; a failed `kpis` lacks only the lines below the numbers, because without the numbers there is no report. */
  readonly block: string
  /** The name of one of the report's own queries; null of other blocks. */
  readonly query: string | null
  readonly message: string
}

export type ReportWarning = LateWarning | UnusualWarning

/** Made and sent later than it was due, and why: between these instants. */
export interface LateWarning {
  readonly kind: 'late'
  readonly from: Instant
  readonly to: Instant
  readonly why: 'down' | 'blocked' | 'clock' | 'waited'
}

/**
 * Fewer leads than a service loses in good faith. `scope`: this report is about `is` leads, the last one that was sent
 * about `was`. `scan`: the last whole reading of the list met `is` leads, the one before it `was`. `removal`: the last
 * whole reading met only `is` of the `was` leads that there are, so none of the others is taken to be gone.
 */
export interface UnusualWarning {
  readonly kind: 'unusual'
  readonly what: 'scope' | 'scan' | 'removal'
  readonly was: number
  readonly is: number
}

/**
 * The last periods of the same kind up to this one, oldest first, as many points each: 14 days, 12 weeks or 12
 * months. Null where a period is not known, or not known to its end.
 */
export interface Sparklines {
  readonly newLeads: readonly (number | null)[]
  readonly won: readonly (number | null)[]
  readonly winRate: readonly (number | null)[]
  /** In the currency of most open leads now; null also where more than a hundredth of it is of leads whose value then is not known. */
  readonly openValue: readonly (number | null)[]
}

/** A local day; the last 96 up to the end of the period, so that 90 have a mean of 7. Null before the first lead, and where the data ends before the day does. */
export interface TrendDay {
  /** `2026-11-20`, on the report's calendar. */
  readonly day: string
  readonly newLeads: number | null
  readonly won: number | null
}

export interface Funnel {
  /**
   * `service`: the upstream's own statistics, all time. `ours`: counted by us over the same leads, where a filter
   * asks for what those statistics do not tell apart, or they are missing or of another time.
   */
  readonly source: 'service' | 'ours'
  /** Set for our own funnel, which counts leads with a known history; null for the service's. */
  readonly coverage: HistoryCoverage | null
  /** The coverage of the median days. */
  readonly daysCoverage: HistoryCoverage
  readonly asOf: Instant | null
  readonly stages: readonly (FunnelStage & {
    /** Median days that leads spent in it, of the stays that ended in the last 90 days; null where none is known. */
    readonly medianDays: number | null
  })[]
}

export type ChangeKind = 'won' | 'forward' | 'back' | 'lost' | 'gone' | 'returned'

/** The changes of leads; each lead counts once, by its last change. */
export interface Changes {
  /**
   * Since when: the beginning of the period, or the end of what the last issue sent covers where that is earlier.
   * Changes that are dated before it but became known only after that issue are included.
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

/** A lead as the lists of a report name it; a superset of what any of them shows, and of their attachments. */
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

/** New leads with `minScore` or more, the best first; `rows` are the first of `total`. */
export interface TopLeads {
  readonly minScore: number
  readonly total: number
  readonly rows: readonly ListedLead[]
}

/** Open leads without any change for `days` days or more, the longest first; `rows` are the first of `total`. */
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
  /** Null for leads of which none is told. */
  readonly source: string | null
  readonly newLeads: Compared<number>
  readonly won: Compared<number>
  readonly winRate: Ratio
}

export interface Agents {
  readonly asOf: Instant | null
  /** None where they were read long after the period. */
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
  /** Null while it lasts. */
  readonly endedAt: Instant | null
  readonly hours: number
}

/**
 * A number of the upstream's own statistics that is not the one that we count for the same moment: that of the last
 * reading that our copy covers.
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
  /** ISO 4217, of a value; null for other figures. */
  readonly currency: string | null
  readonly ours: number
  readonly upstream: number
  readonly asOf: Instant
}

export interface DataQuality {
  /** Records that could not be read and wait in `quarantined_record`, by their reason, most first. */
  readonly held: readonly { readonly resource: string; readonly reason: string; readonly records: number }[]
  /** Fields of the records that came, went or changed their type in the period. */
  readonly drift: readonly {
    readonly change: 'new' | 'vanished' | 'retyped'
    readonly path: string
    readonly at: Instant
  }[]
  /** Whether the last scan of the leads proved complete; null before the first. */
  readonly lastScan: {
    readonly scan_result: 'complete' | 'incomplete' | 'unproven'
    readonly at: Instant
  } | null
}

/** The answer to a query of a report's own folder. */
export interface QueryTable {
  readonly name: string
  readonly title: string
  /** The note below the title; null for none. */
  readonly note: string | null
  readonly sql: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  /** There were more rows than are kept. */
  readonly isCut: boolean
}

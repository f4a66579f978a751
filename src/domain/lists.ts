/** The lists of a report: changes, top and stalled leads, pipelines, sources, agents and faulty data. */
import type { LISTED_FIELDS } from './lead-fields.ts'
import type { Agent, HistoryCoverage, Instant, Lead, Money, Ratio } from './model.ts'
import type { FieldDrift, ScanResult } from './sync.ts'

export type ChangeKind = 'won' | 'forward' | 'back' | 'lost' | 'deleted' | 'returned'

/** The changes since the last issue. Each lead is counted once, by its status at the end of the period. */
export interface Changes {
  /** The start of the period, or the end of the last enqueued issue if that is earlier. */
  readonly since: Instant
  /** The number of leads whose history is known. Changes of other leads forward or back may be missing. */
  readonly coverage: HistoryCoverage
  /**
   * `total` is the number of changed leads, and `rows` holds the first of them, sorted by currency and value.
   */
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
  /** The status in the last issue, or the first since then. Null if unknown, deleted or restored. */
  readonly fromStatus: string | null
  readonly toStatus: string
  readonly at: Instant
  readonly value: Money | null
}

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

/** The new leads with a score of `minScore` or more, the best first. `rows` holds the first of `total`. */
export interface TopLeads {
  readonly minScore: number
  readonly total: number
  readonly rows: readonly ListedLead[]
}

/** The open leads unchanged for `days` days or more, the longest first. `rows` holds the first of `total`. */
export interface Stalled {
  readonly days: number
  /** The number of open leads for which it is known whether they are stalled. */
  readonly coverage: HistoryCoverage
  readonly total: number
  readonly rows: readonly (ListedLead & {
    /** The number of whole days without any change of the lead, up to the end of the period. */
    readonly idleDays: number
  })[]
}

export interface PipelineLine {
  readonly id: string
  readonly name: string
  readonly leads: number
  readonly newLeads: number
  readonly won: number
  readonly winRate: Ratio
  readonly openValue: readonly Money[]
  readonly stalled: number
}

export interface SourceLine {
  readonly source: string | null
  readonly newLeads: number
  readonly won: number
  readonly winRate: Ratio
}

export interface Agents {
  readonly asOf: Instant | null
  /** The agents as they were last read; empty if they were last read long after the period. */
  readonly rows: readonly AgentLine[]
  /** The outages of agents that overlap the period, longest first. */
  readonly outages: readonly Outage[]
}

type ShownOfAgent = 'name' | 'kind' | 'status' | 'statusChangedAt' | 'taskType' | 'lastSeenAt'

export interface AgentLine extends Pick<Agent, ShownOfAgent | 'errors24h' | 'lastErrorMessage'> {
  readonly taskPipelineName: string | null
}

export interface Outage {
  readonly agentName: string
  readonly beganAt: Instant
  readonly endedAt: Instant | null
  readonly hours: number
}

/**
 * Both numbers are for the instant `asOf`, of the latest statistics that are not newer than the stored leads.
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
  /** ISO 4217; null if the figure is no amount. */
  readonly currency: string | null
  readonly ours: number
  readonly upstream: number
  readonly asOf: Instant
}

export interface DataQuality {
  /** The number of quarantined (not mapped) records for each reason, the most frequent reason first. */
  readonly quarantined: readonly {
    readonly resource: string
    readonly reason: string
    readonly records: number
  }[]
  /** The fields of the records that appeared, disappeared or changed their type within the period. */
  readonly drift: readonly (Pick<FieldDrift, 'change' | 'path'> & { readonly at: Instant })[]
  /** The result of the last scan of the upstream's list of leads; null before the first scan. */
  readonly lastScan: (Pick<ScanResult, 'result'> & { readonly at: Instant }) | null
}

export interface QueryTable {
  readonly name: string
  readonly title: string
  readonly note: string | null
  readonly sql: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number | null)[])[]
  /** True if the query returned more rows than the issue stores, so that some are left out. */
  readonly isCut: boolean
}

/**
 * The model. Every instant is RFC 3339 in UTC with milliseconds, so that sorting the texts sorts the times.
 */
import type { FieldValues } from './declared-fields.ts'
import type { LeadValues } from './lead-fields.ts'

export type Instant = string

/** `from` is included and `to` is not. The calendar is that of the time zone. */
export interface Period {
  readonly from: Instant
  readonly to: Instant
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string
}

/** An amount in units of its currency, such as euros and not cents. `currency` is a code of ISO 4217. */
export interface Money {
  readonly amount: number
  readonly currency: string
}

/** The way in which leads at a stage are counted: as open, or as closed in one of three ways. */
export type StageOutcome = 'open' | 'won' | 'lost' | 'disqualified'

/** A status that a lead can have. `position` is the place of the status in the funnel, from 0. */
export interface Stage {
  readonly status: string
  readonly position: number
  readonly outcome: StageOutcome
  readonly inFunnel: boolean
  readonly isQualified: boolean
}

/**
 * Instants are null if the upstream does not send them. The store then uses the time of the first reading.
 */
export interface Lead extends LeadValues {
  /** The record as the upstream sent it, as JSON text; texts of more than 64 kB are cut. */
  readonly raw: string
  /** The names of the fields whose text was cleaned, or whose time was invalid. */
  readonly cleaned: readonly string[]
  /** The number of texts in the record that were cut. */
  readonly cut: number
  readonly unsure: readonly UnsureValue[]
  /** The values of the declared fields; null if the profile declares none. */
  readonly fields: FieldValues | null
}

/** A value of a record that is no value of its column (`none`), or whose point may part `thousands`. */
export interface UnsureValue {
  readonly column: string
  readonly why: 'none' | 'thousands'
  /** The beginning of the text; null for a bare NaN, Infinity or undefined in the JSON. */
  readonly text: string | null
  /** True if the text is a number with a decimal comma. */
  readonly hasComma: boolean
}

/** Enrichment and activity history, which the upstream sends only if a single lead is requested. */
export interface LeadDetail {
  readonly leadId: string
  readonly updatedAt: Instant | null
  /** The enrichment as JSON text; null if there is none. */
  readonly enrichment: string | null
  readonly activity: readonly Activity[]
  /** The entries of the activity history that could not be read. */
  readonly quarantined: readonly QuarantinedRecord[]
  readonly raw: string
}

/** The kind of thing that an event is about: one lead, the statistics of one pipeline, or all agents. */
export type EventResource = 'lead' | 'pipeline' | 'agents'

export interface UpstreamEvent {
  /** The same in each attempt to deliver the event; derived from the message if the upstream sends none. */
  readonly id: string
  /** In the upstream's words; null if absent. */
  readonly type: string | null
  /** The time of the event by the upstream's clock; null if absent. */
  readonly occurredAt: Instant | null
  /** The kind of thing that the event is about; null if the event concerns nothing that is stored. */
  readonly resource: EventResource | null
  /** The upstream's id of the lead or pipeline; empty if the event is about all agents. */
  readonly resourceId: string
  /** True if the event says that the lead was deleted. */
  readonly isDeletion: boolean
  readonly problem: string | null
}

export interface Activity {
  /** The upstream's id of the entry; derived from the entry if it has none. */
  readonly id: string
  readonly at: Instant
  readonly type: string | null
  readonly agentId: string | null
  readonly summary: string | null
  readonly fromStatus: string | null
  readonly toStatus: string | null
}

/** A record that could not be mapped. The record is kept with the reason and is never dropped. */
export interface QuarantinedRecord {
  readonly resource: 'lead' | 'agent' | 'pipeline_stat' | 'activity'
  /** The record's own id, or that of its pipeline (statistics) or lead (activities); null if unreadable. */
  readonly id: string | null
  readonly reason: string
  /** The record as it was sent, or its beginning if it is too large to keep. */
  readonly raw: string
  readonly isWhole: boolean
}

/** The statistics of a pipeline at one time, as the upstream computed them. */
export interface PipelineStat {
  readonly pipelineId: string
  readonly name: string | null
  readonly status: string | null
  readonly asOf: Instant
  readonly leads: number | null
  readonly open: number | null
  readonly won: number | null
  readonly lost: number | null
  readonly disqualified: number | null
  readonly winRate: number | null
  readonly openValue: Money | null
  readonly wonValue: Money | null
  readonly stages: readonly StageStat[]
  readonly raw: string
}

/** One stage of the funnel in a {@link PipelineStat}. Rates are from 0 to 1. */
export interface StageStat {
  readonly status: string
  readonly current: number
  readonly reached: number
  readonly conversion: number | null
  readonly medianHours: number | null
}

export interface Agent {
  readonly id: string
  readonly name: string
  readonly kind: string | null
  readonly status: string
  readonly statusChangedAt: Instant | null
  readonly taskType: string | null
  readonly taskPipelineId: string | null
  readonly taskLeadId: string | null
  readonly taskStartedAt: Instant | null
  /** The progress of the agent's task, from 0 to 1; null if unknown. */
  readonly taskProgress: number | null
  readonly lastSeenAt: Instant | null
  readonly tasks24h: number | null
  readonly errors24h: number | null
  readonly lastErrorAt: Instant | null
  readonly lastErrorMessage: string | null
  readonly raw: string
}

/** A share: the count `part` divided by the count `whole`. */
export interface Ratio {
  readonly part: number
  readonly whole: number
}

export interface FunnelStage {
  readonly status: string
  readonly reached: number
  /** The share of the previous stage's leads that came here, 0 to 1; null without such leads. */
  readonly conversion: number | null
}

/** A value for a report's period (`current`), and for the period with which it is compared (`prior`). */
export interface Compared<T> {
  readonly current: T
  readonly prior: T
}

/** A figure can need the history of leads, and `known` is the number of leads whose history is known. */
export interface HistoryCoverage {
  readonly known: number
  readonly of: number
}

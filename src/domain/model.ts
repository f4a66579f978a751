/**
 * The types of leads, events, statistics and agents. Every instant is a text in RFC 3339 format, in UTC with
 * milliseconds, so that sorting the texts sorts the times.
 */
import type { LeadValues } from './lead-fields.ts'

/** An instant, such as `2026-11-20T08:15:00.000Z`. */
export type Instant = string

/**
 * A half-open span of time (`from` included, `to` not), with the time zone whose calendar the span follows.
 */
export interface Period {
  readonly from: Instant
  readonly to: Instant
  /** The IANA name of the time zone, such as `Europe/Berlin`. */
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
  /** True if the stage is a step towards winning the lead. */
  readonly inFunnel: boolean
  /** True if a lead at this stage counts as qualified. */
  readonly isQualified: boolean
}

/**
 * A company that an agent discovered for a pipeline, with its state in that pipeline. An instant is null if
 * the upstream does not send it; the store then uses the time at which the lead or its change was first read.
 */
export interface Lead extends LeadValues {
  /** The record as the upstream sent it, as JSON text; texts of more than 64 kB are cut. */
  readonly raw: string
  /** The names of the fields whose text was cleaned, or whose time was invalid. */
  readonly cleaned: readonly string[]
  /** The number of texts in the record that were cut. */
  readonly cut: number
  /** The values that may have been read wrongly. */
  readonly unsure: readonly UnsureValue[]
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

/**
 * The details of a lead: its enrichment (facts that agents found about the company) and its activity history.
 * The upstream sends the details only if a single lead is requested, not in the list of leads.
 */
export interface LeadDetail {
  readonly leadId: string
  /** The time of the last change of the lead; null if the details contain no time. */
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

/** An event that the upstream has sent by webhook. */
export interface UpstreamEvent {
  /**
   * The upstream's id of the event, which is the same in each attempt to deliver the event. If the event has
   * no id, one is derived from the message.
   */
  readonly id: string
  /** The type of the event in the upstream's words; null if absent. */
  readonly type: string | null
  /** The time of the event by the upstream's clock; null if absent. */
  readonly occurredAt: Instant | null
  /** The kind of thing that the event is about; null if the event concerns nothing that is stored. */
  readonly resource: EventResource | null
  /** The upstream's id of the lead or pipeline; empty if the event is about all agents. */
  readonly resourceId: string
  /** True if the event says that the lead was deleted. */
  readonly isDeletion: boolean
  /**
   * The whole record of the lead as JSON text. Null if the event contains no record that may be stored, so
   * that the lead must be read from the upstream.
   */
  readonly record: string | null
  /** The reason why the event cannot be read; null if it was read without a problem. */
  readonly problem: string | null
}

/** An entry in the activity history of a lead. */
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
  /**
   * The upstream's id. For a lead or an agent it is the record's own id, for statistics the id of the
   * pipeline, for an activity the id of the lead. Null if the id could not be read.
   */
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

/** The state of an AI agent at one time. */
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
  /**
   * The share, from 0 to 1, of the leads at the previous stage that also reached this stage; null for the
   * first stage, and if no lead reached the previous stage.
   */
  readonly conversion: number | null
}

/** A value for a report's period (`current`), and for the period with which it is compared (`prior`). */
export interface Compared<T> {
  readonly current: T
  readonly prior: T
}

/**
 * The coverage of a figure. A figure can need the history of leads, and `known` is the number of leads whose
 * history is known.
 */
export interface HistoryCoverage {
  readonly known: number
  /** The number of leads that the figure is about. */
  readonly of: number
}

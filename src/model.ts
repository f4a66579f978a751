/**
 * The types of the model. Every instant is a string, RFC 3339 in UTC with milliseconds, so that text order
 * is time order.
 */
import type { LeadValues } from './domain/lead-fields.ts'

/** An instant, such as `2026-11-20T08:15:00.000Z`. */
export type Instant = string

/** A half-open span of time (`from` included, `to` not), with the time zone whose calendar it follows. */
export interface Period {
  readonly from: Instant
  readonly to: Instant
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string
}

/** An amount in whole units of its currency (ISO 4217). */
export interface Money {
  readonly amount: number
  readonly currency: string
}

/** Tells how a stage counts: as open, or as closed in one of three ways. */
export type StageOutcome = 'open' | 'won' | 'lost' | 'disqualified'

/** A status that a lead can have; `position` orders the funnel from 0. */
export interface Stage {
  readonly status: string
  readonly position: number
  readonly outcome: StageOutcome
  /** Is false for a status that is no step towards being won. */
  readonly inFunnel: boolean
  /** Tells whether a lead at this stage counts as qualified. */
  readonly isQualified: boolean
}

/**
 * A company that an agent discovered for a pipeline, with its state there. Instants are null if the
 * upstream does not send them; the store then uses the time at which the lead or its change was first read.
 */
export interface Lead extends LeadValues {
  /** The record as the upstream sent it, as JSON text; texts of more than 64 kB are cut. */
  readonly raw: string
  /** The fields of this model whose text was cleaned or whose time was invalid. */
  readonly mended: readonly string[]
  /** The number of texts that were cut. */
  readonly cut: number
}

/** The part of a lead that only the single lead contains, not the list: enrichment and activity history. */
export interface LeadDetail {
  readonly leadId: string
  /** Is null if the details contain no time. */
  readonly updatedAt: Instant | null
  /** JSON; null if there is none. */
  readonly enrichment: string | null
  readonly activity: readonly Activity[]
  /** The entries of the history that could not be read. */
  readonly held: readonly QuarantinedRecord[]
  readonly raw: string
}

/** The subject of an event: one lead, the statistics of one pipeline, or all agents. */
export type EventResource = 'lead' | 'pipeline' | 'agents'

/** An event that the upstream has sent by webhook. */
export interface UpstreamEvent {
  /**
   * The upstream's id, the same in each attempt to deliver the event; derived from the message if there is
   * none.
   */
  readonly id: string
  /** The type in the upstream's words; null if absent. */
  readonly type: string | null
  /** The time by the upstream's clock; null if absent. */
  readonly occurredAt: Instant | null
  /** Is null if the event concerns nothing that is stored. */
  readonly resource: EventResource | null
  /** The upstream's id; empty for all agents. */
  readonly resourceId: string
  /** Tells whether the event says that the lead was deleted. */
  readonly isRemoval: boolean
  /**
   * The whole record of the lead, as the JSON that was sent, if it is to be used; null if the lead must be
   * read.
   */
  readonly record: string | null
  /** Tells why the event cannot be read; null if it can. */
  readonly problem: string | null
}

/** An entry in the history of a lead. */
export interface Activity {
  /** The upstream's id; derived from the entry if there is none. */
  readonly id: string
  readonly at: Instant
  readonly type: string | null
  readonly agentId: string | null
  readonly summary: string | null
  readonly fromStatus: string | null
  readonly toStatus: string | null
}

/** A record that could not be mapped; kept whole with the reason, never dropped. */
export interface QuarantinedRecord {
  readonly resource: 'lead' | 'agent' | 'pipeline_stat' | 'activity'
  /**
   * The upstream's id of the record (for a sample: of its pipeline; for an activity: of its lead); null if
   * it cannot be read either.
   */
  readonly id: string | null
  readonly reason: string
  /** The record, or its beginning if it is too large to keep. */
  readonly raw: string
  readonly isWhole: boolean
}

/** One sample of a pipeline's statistics, as the upstream computes them. */
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

/** A sample of an AI agent. */
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
  /** A share from 0 to 1. */
  readonly taskProgress: number | null
  readonly lastSeenAt: Instant | null
  readonly tasks24h: number | null
  readonly errors24h: number | null
  readonly lastErrorAt: Instant | null
  readonly lastErrorMessage: string | null
  readonly raw: string
}

/** A share (`part` of `whole`) that keeps its counts. */
export interface Ratio {
  readonly part: number
  readonly whole: number
}

export interface SyncFailure {
  readonly at: Instant
  /** An error code; recipients see only this. */
  readonly code: string
  /** The text for operators; it contains addresses. */
  readonly message: string
}

/** Tells how old the data is and what it covers, so that nothing stale passes for fresh. */
export interface Freshness {
  /**
   * The stored leads contain everything that the upstream had at this instant; null before the first
   * complete sync.
   */
  readonly dataAsOf: Instant | null
  /** Tells whether `dataAsOf` is at or after the end of the period. */
  readonly coversPeriod: boolean
  /** Tells when statistics were last read; `agentsAsOf` is the same for agents. Null if never. */
  readonly statsAsOf: Instant | null
  readonly agentsAsOf: Instant | null
  /** The last sync that failed or stopped half-way; null if a complete one came after it. */
  readonly lastFailure: SyncFailure | null
  readonly runId: string | null
  /** The number of requests of that run. */
  readonly requests: number | null
  /** The number of quarantined records. */
  readonly quarantinedRecords: number
  /** Times of leads that cannot be right; absent in figures of older program versions. */
  readonly implausibleTimes?: readonly ('created_at' | 'updated_at' | 'status_changed_at')[]
}

export interface FunnelStage {
  readonly status: string
  readonly reached: number
  /**
   * The share of the stage before, from 0 to 1; null for the first stage, and if nothing reached the stage
   * before.
   */
  readonly conversion: number | null
}

/** A rendered report, ready for a message or the archive. */
export interface Rendered {
  readonly subject: string
  readonly html: string
  readonly text: string
}

/** A file of a message. */
export interface MessageFile {
  /** The file name, such as `daily-stalled-2026-11-20.xlsx`. */
  readonly name: string
  readonly contentType: string
  readonly content: Uint8Array
  /** The Content-ID of an image that the HTML shows as `cid:…`; null for an attachment. */
  readonly cid: string | null
}

/** The addresses by which a recipient can unsubscribe. */
export interface Unsubscribe {
  /** An address, or `Name <address>`. */
  readonly mailto: string
  /** A URL that unsubscribes by a single POST (RFC 8058); null if there is none. */
  readonly url: string | null
}

/** One message to one recipient. */
export interface Message extends Rendered {
  readonly from: string
  readonly to: string
  /** The name of the recipient; null if unknown. */
  readonly toName: string | null
  readonly replyTo: string | null
  readonly unsubscribe: Unsubscribe
  /** The language of the message (BCP 47), such as `en` or `de`. */
  readonly lang: string
  /** The Message-ID, `<…@…>`, the same for every attempt to send this message. */
  readonly messageId: string
  /** The Message-ID of the message that this one replaces; absent for a first message. */
  readonly inReplyTo?: string
  /**
   * Tells when the issue was rendered or the message was requested again; the Date header of every attempt.
   */
  readonly date: Instant
  /** The name of the report, for the List-Id and X-Leadsheet-Report headers. */
  readonly report: string
  readonly files: readonly MessageFile[]
}

export type SyncPart = 'leads' | 'stats' | 'agents' | 'details'

/** Tells how a sync ended; `ok_no_change` means that it was complete and brought nothing new. */
export type SyncOutcome = 'ok' | 'ok_no_change' | 'partial' | 'deferred' | 'failed'

/** Counts of the leads part of a sync; `seen` counts distinct leads. */
export interface LeadCounts {
  readonly seen: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly removed: number
  readonly held: number
}

/**
 * Counts of the details part of a sync, in leads: read, no longer known upstream, deferred after a failure.
 */
export interface DetailCounts {
  readonly read: number
  readonly gone: number
  readonly failed: number
}

/** A problem that kept a part of a sync from being complete; `code` is an error code. */
export interface SyncProblem {
  readonly part: SyncPart
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

/**
 * Tells why a pass over the list ended. Well: `end` (no next page), `empty_page`, `past_end` (the answer
 * that a list gives past its last page). Badly: `loop`, `page_cap`, `no_cursor` (a full first page names no
 * next page although the total is larger), `failed`, `interrupted`.
 */
export type ScanStop =
  | 'end'
  | 'empty_page'
  | 'past_end'
  | 'loop'
  | 'page_cap'
  | 'no_cursor'
  | 'failed'
  | 'interrupted'

export type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'array'

/** A field of the records that has changed; `retyped` lists the new types. */
export interface FieldDrift {
  readonly change: 'new' | 'vanished' | 'retyped'
  /** The path, such as `company.name`; `[]` stands for the elements of an array. */
  readonly path: string
  readonly types: readonly FieldType[]
}

/**
 * Tells how far a scan got and whether it can be trusted. `complete`: read to the end, and nothing that
 * moved meanwhile was missed; only such a scan marks leads as deleted. `unproven`: read to the end, but
 * rows kept moving. `incomplete`: not read to the end.
 */
export interface ScanReport {
  readonly mode: 'incremental' | 'full'
  readonly startedAt: Instant
  readonly scan_result: 'complete' | 'incomplete' | 'unproven'
  readonly stop: ScanStop
  /** The last total that the upstream reported; null if none. Never trusted. */
  readonly reportedTotal: number | null
  /** The number of distinct leads met. */
  readonly distinct: number
  readonly pages: number
  /** The number of passes over the list; those after the first verify it. */
  readonly passes: number
  /** The number of times that rows were seen to move from page to page. */
  readonly moved: number
  /** The number of leads with cleaned text or invalid times. */
  readonly mended: number
  /** The number of texts of more than 64 kB, which were cut. */
  readonly cut: number
  /** The number of missing leads that were not marked as deleted, because too many were missing. */
  readonly heldBack: number
  /** Oddities that do not fail the run. */
  readonly warnings: readonly string[]
  readonly drift: readonly FieldDrift[]
}

/** The result of a sync; `sync --json` prints it in snake_case. */
export interface SyncResult {
  readonly runId: string
  readonly outcome: SyncOutcome
  /** Tells whether every requested part was read to its end. */
  readonly complete: boolean
  readonly leads: LeadCounts
  /** Is null if leads were not requested or could not be read. */
  readonly scan: ScanReport | null
  /** The number of pipelines whose statistics were read. */
  readonly stats: number
  /** The number of agents read. */
  readonly agents: number
  readonly details: DetailCounts
  readonly pages: number
  readonly requests: number
  readonly retries: number
  readonly durationMs: number
  /** The problems in their order; empty if there were none. */
  readonly problems: readonly SyncProblem[]
  /** The instant before which the upstream wants no request; only with `deferred`. */
  readonly notBefore: Instant | null
}

/** The progress of a running sync; `total` is what the upstream reports, null if it reports none. */
export interface SyncProgress {
  readonly part: SyncPart
  readonly pages: number
  readonly done: number
  readonly total: number | null
}

/**
 * The glossary: what the words of the product mean, as types only.
 * Every instant is a string, RFC 3339 in UTC with milliseconds, so that text order is time order.
 */
import type { LeadValues } from './domain/lead-fields.ts'

/** An instant: `2026-11-20T08:15:00.000Z`. */
export type Instant = string

/** A half-open span of time, `from` included and `to` not, with the zone whose calendar it follows. */
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

/** How a stage counts: still open, or closed in one of three ways. */
export type StageOutcome = 'open' | 'won' | 'lost' | 'disqualified'

/** A status that a lead can have; `position` orders the funnel from 0. */
export interface Stage {
  readonly status: string
  readonly position: number
  readonly outcome: StageOutcome
  /** False for statuses that are no step towards being won. */
  readonly inFunnel: boolean
  /** A lead that has come this far counts as qualified. */
  readonly isQualified: boolean
}

/**
 * A company that an agent discovered for a pipeline, with its state there. Instants are null where the upstream does not
 * tell; the store then has the time at which the lead, or the change, was first read.
 */
export interface Lead extends LeadValues {
  /** The record as the upstream sent it, JSON text; texts of more than 64 kB are cut. */
  readonly raw: string
  /** Fields of this model whose text had to be cleaned, or whose time stood for none. */
  readonly mended: readonly string[]
  /** How many texts were cut. */
  readonly cut: number
}

/** What only the single lead tells, not the list: enrichment and activity history. */
export interface LeadDetail {
  readonly leadId: string
  /** Null where the details do not tell. */
  readonly updatedAt: Instant | null
  /** JSON; null where there is none. */
  readonly enrichment: string | null
  readonly activity: readonly Activity[]
  /** Entries of the history that could not be read. */
  readonly held: readonly QuarantinedRecord[]
  readonly raw: string
}

/** What of the copy an event of the upstream is about: one lead, the statistics of one pipeline, or all agents. */
export type EventResource = 'lead' | 'pipeline' | 'agents'

/** What the upstream has told of by a webhook. */
export interface UpstreamEvent {
  /** The upstream's, which comes again with each attempt; made of the message where it has none. */
  readonly id: string
  /** In the upstream's words; null where it does not tell. */
  readonly type: string | null
  /** By the upstream's clock; null where it does not tell. */
  readonly occurredAt: Instant | null
  /** Null where it is about nothing that is kept. */
  readonly resource: EventResource | null
  /** The upstream's identifier; empty for all agents. */
  readonly resourceId: string
  /** It says that the lead is gone. */
  readonly isRemoval: boolean
  /** The whole record of the lead, JSON as sent, where that is to be taken from the event; null where it is asked for. */
  readonly record: string | null
  /** Why it cannot be read; null where it can. */
  readonly problem: string | null
}

/** An entry in the history of a lead. */
export interface Activity {
  /** The upstream's; made of the entry where it has none. */
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
  /** The upstream's identifier of it (of a reading: of its pipeline; of an activity: of its lead); null where that cannot be read either. */
  readonly id: string | null
  readonly reason: string
  /** The record, or how it begins where it is too large to keep. */
  readonly raw: string
  readonly isWhole: boolean
}

/** One reading of a pipeline's statistics, as the upstream computes them. */
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

/** One stage of the funnel in a {@link PipelineStat}. Rates are 0 to 1. */
export interface StageStat {
  readonly status: string
  readonly current: number
  readonly reached: number
  readonly conversion: number | null
  readonly medianHours: number | null
}

/** An AI agent as read at one moment. */
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
  /** 0 to 1. */
  readonly taskProgress: number | null
  readonly lastSeenAt: Instant | null
  readonly tasks24h: number | null
  readonly errors24h: number | null
  readonly lastErrorAt: Instant | null
  readonly lastErrorMessage: string | null
  readonly raw: string
}

// --- Figures ---------------------------------------------------------------------------------------------

/** `part` of `whole`; a rate that still knows its counts. */
export interface Ratio {
  readonly part: number
  readonly whole: number
}

export interface SyncFailure {
  readonly at: Instant
  /** An error code: what readers are told of it. */
  readonly code: string
  /** For operators: it names addresses. */
  readonly message: string
}

/** What the data covers, so that nothing stale is passed off as fresh. */
export interface Freshness {
  /** The copy holds everything that the upstream had at this instant; null before the first whole sync. */
  readonly dataAsOf: Instant | null
  /** Whether `dataAsOf` is at or after the end of the period. */
  readonly coversPeriod: boolean
  /** When the service's own statistics were last read, and below it the state of the agents; null where never. */
  readonly statsAsOf: Instant | null
  readonly agentsAsOf: Instant | null
  /** The last sync that failed or stopped half-way, if nothing whole came after it. */
  readonly lastFailure: SyncFailure | null
  readonly runId: string | null
  /** Requests made by that run. */
  readonly requests: number | null
  /** Rows that could not be mapped and wait in `quarantined_record`. */
  readonly quarantinedRecords: number
  /** Times of leads that cannot be right; older programs did not ask. */
  readonly implausibleTimes?: readonly ('created_at' | 'updated_at' | 'status_changed_at')[]
}

export interface FunnelStage {
  readonly status: string
  readonly reached: number
  /** Share of the stage before, 0 to 1; null for the first stage and where nothing reached the one before. */
  readonly conversion: number | null
}

// --- Issues and mail -----------------------------------------------------------------------------------

/** A report turned into words, ready to be put into a message or the archive. */
export interface Rendered {
  readonly subject: string
  readonly html: string
  readonly text: string
}

/** A file that goes with a message. */
export interface MessageFile {
  /** Such as `daily-stalled-2026-11-20.xlsx`. */
  readonly name: string
  readonly contentType: string
  readonly content: Uint8Array
  /** Shown in the mail where its HTML says `cid:…`; null for an attachment. */
  readonly cid: string | null
}

/** Where somebody says that they want no more of these messages. */
export interface Unsubscribe {
  /** An address, or `Name <address>`. */
  readonly mailto: string
  /** An address that takes the choice by one POST without any question (RFC 8058); null where there is none. */
  readonly url: string | null
}

/** One message to one recipient. */
export interface Message extends Rendered {
  readonly from: string
  readonly to: string
  /** Who that is; null where it is not known. */
  readonly toName: string | null
  readonly replyTo: string | null
  readonly unsubscribe: Unsubscribe
  /** Of its words (BCP 47), such as `en` or `de`. */
  readonly lang: string
  /** `<…@…>`, the same for every attempt to send this message. */
  readonly messageId: string
  /** Of the message in whose place it is sent; absent of a first one. */
  readonly inReplyTo?: string
  /** When the issue was rendered, or the message was asked for again; the Date header of every attempt. */
  readonly date: Instant
  /** Slug of the report, for the List-Id and X-Leadsheet-Report headers. */
  readonly report: string
  readonly files: readonly MessageFile[]
}

// --- Sync ------------------------------------------------------------------------------------------------

export type SyncPart = 'leads' | 'stats' | 'agents' | 'details'

/** How a sync ended; `ok_no_change` says that it was whole and brought nothing new. */
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

/** Counts of the details part of a sync, leads each: read, no longer known upstream, put off after a failure. */
export interface DetailCounts {
  readonly read: number
  readonly gone: number
  readonly failed: number
}

/** Something that kept a part of a sync from being whole; `code` is one of the error codes. */
export interface SyncProblem {
  readonly part: SyncPart
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

/**
 * Why the reading of the list ended. In good order: `end` (no next page), `empty_page`, `past_end` (an answer
 * that a list gives behind its last page). Otherwise: `loop`, `page_cap`, `no_cursor` (a full first page that
 * names no next, though the total says more), `failed`, `interrupted`.
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

/** A field of the records that is not as it was; `retyped` names the types that are new. */
export interface FieldDrift {
  readonly change: 'new' | 'vanished' | 'retyped'
  /** Such as `company.name`; `[]` stands for the elements of a list. */
  readonly path: string
  readonly types: readonly FieldType[]
}

/**
 * How far a scan of the leads got and can be trusted. `complete`: read to the end, and nothing that moved in the
 * meantime was lost; only such a scan marks leads removed. `unproven`: read to the end, but the list did not
 * hold still. `incomplete`: not read to the end.
 */
export interface ScanReport {
  readonly mode: 'incremental' | 'full'
  readonly startedAt: Instant
  readonly scan_result: 'complete' | 'incomplete' | 'unproven'
  readonly stop: ScanStop
  /** What the upstream last called its total; null where it does not say. Never trusted. */
  readonly reportedTotal: number | null
  /** Distinct leads met. */
  readonly distinct: number
  readonly pages: number
  /** Readings of the list; those after the first verify it. */
  readonly passes: number
  /** How often rows were seen to move from page to page. */
  readonly moved: number
  /** Leads with text that had to be cleaned, or times that stood for none. */
  readonly mended: number
  /** Texts of more than 64 kB, which were cut. */
  readonly cut: number
  /** Leads that are there and were not met, too many to be believed gone: none is marked removed. */
  readonly heldBack: number
  /** What is odd and does not fail the run. */
  readonly warnings: readonly string[]
  readonly drift: readonly FieldDrift[]
}

/** The answer of a sync; `sync --json` prints it in snake_case. */
export interface SyncResult {
  readonly runId: string
  readonly outcome: SyncOutcome
  /** Whether every part that was asked for was read to its end. */
  readonly complete: boolean
  readonly leads: LeadCounts
  /** Null where no leads were asked for, or none could be. */
  readonly scan: ScanReport | null
  /** Pipelines whose statistics were read. */
  readonly stats: number
  /** Agents read. */
  readonly agents: number
  readonly details: DetailCounts
  readonly pages: number
  readonly requests: number
  readonly retries: number
  readonly durationMs: number
  /** What went wrong, in the order in which it did; empty when all was well. */
  readonly problems: readonly SyncProblem[]
  /** With `deferred`: no request before this instant. */
  readonly notBefore: Instant | null
}

/** Where a running sync is; `total` is what the upstream says, null where it does not. */
export interface SyncProgress {
  readonly part: SyncPart
  readonly pages: number
  readonly done: number
  readonly total: number | null
}

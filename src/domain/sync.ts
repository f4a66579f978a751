/** The types of the result of a sync and of its scan of the upstream's list of leads. */
import type { Instant } from './model.ts'

export interface SyncFailure {
  readonly at: Instant
  /** The error code of the failure. Recipients see the code, but not the message. */
  readonly code: string
  /** The message, which only operators see because it contains addresses of servers. */
  readonly message: string
}

/** Reports show the age and extent of the data, so that nobody takes old data for fresh data. */
export interface Freshness {
  /** Everything up to this time is in the stored leads; null before the first complete sync. */
  readonly dataAsOf: Instant | null
  /** True if `dataAsOf` is at or after the end of the report's period. */
  readonly coversPeriod: boolean
  readonly statsAsOf: Instant | null
  readonly agentsAsOf: Instant | null
  /** The last sync that failed or stopped half-way; null if a complete sync came after it. */
  readonly lastFailure: SyncFailure | null
  readonly runId: string | null
  readonly requests: number | null
  readonly quarantinedRecords: number
  /** The fields of leads that contain implausible times. */
  readonly implausibleTimes?: readonly ('created_at' | 'updated_at' | 'status_changed_at')[]
}

export type SyncPart = 'leads' | 'stats' | 'agents' | 'details'
export type ReportedPart = Exclude<SyncPart, 'details'>

/** The outcome of a sync. `ok_no_change` means that the sync was complete and found nothing new. */
export type SyncOutcome = 'ok' | 'ok_no_change' | 'partial' | 'deferred' | 'failed'

/**
 * The numbers of leads by what a sync did with them. `seen` is the number of different leads that it read.
 */
export interface LeadCounts {
  readonly seen: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  readonly quarantined: number
}

/** `notFound` counts leads that the upstream no longer knows; a later sync reads those that `failed`. */
export interface DetailCounts {
  readonly read: number
  readonly notFound: number
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
 * The reason why a pass over the list of leads ended. Good ends: `end` (the page names no next page),
 * `empty_page`, `past_end` (the answer that a list gives past its last page). Bad ends: `loop` (the pages
 * repeat), `page_cap` (the list has too many pages), `no_cursor` (a full first page names no next page
 * although the total is larger), `failed`, `interrupted`.
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

/** A change in the fields of the records; if the change is `retyped`, `types` lists the new types. */
export interface FieldDrift {
  readonly change: 'new' | 'vanished' | 'retyped'
  /** The path of the field, such as `company.name`; `[]` stands for the elements of an array. */
  readonly path: string
  readonly types: readonly FieldType[]
}

/**
 * A scan with its counts. Its `result` is `complete` if the scan read the list to its end and nothing speaks
 * against it, `unproven` if the list seemed to end but a lead may be missing, and `incomplete` if the scan did not
 * reach the end, or got only a part. Only a complete full scan shows which leads are missing.
 */
export interface ScanResult {
  readonly mode: 'incremental' | 'full'
  readonly startedAt: Instant
  readonly result: 'complete' | 'incomplete' | 'unproven'
  readonly stop: ScanStop
  /** The last total that the upstream reported for the whole list; null if none. */
  readonly reportedTotal: number | null
  readonly distinct: number
  readonly pages: number
  /** The number of passes over the list; the passes after the first verify its result. */
  readonly passes: number
  /** The number of pages that showed that leads had moved from one page to another. */
  readonly moved: number
  /** The number of leads with cleaned text or invalid times. */
  readonly cleaned: number
  /** The number of texts that were cut because they had more than 64 kB. */
  readonly cut: number
  /** The number of missing leads that were not marked as deleted, because too many were missing. */
  readonly heldBack: number
  readonly warnings: readonly string[]
  readonly drift: readonly FieldDrift[]
}

/** The result of a sync; `sync --json` prints it in snake_case. */
export interface SyncResult {
  readonly runId: string
  readonly outcome: SyncOutcome
  readonly complete: boolean
  readonly leads: LeadCounts
  /** The result of the scan of the leads; null if leads were not requested or could not be read. */
  readonly scan: ScanResult | null
  readonly stats: number
  readonly agents: number
  readonly details: DetailCounts
  readonly pages: number
  readonly requests: number
  readonly retries: number
  readonly durationMs: number
  /** The problems in the order in which they occurred; empty if there were none. */
  readonly problems: readonly SyncProblem[]
  /** The instant before which the upstream wants no request; null if the outcome is not `deferred`. */
  readonly notBefore: Instant | null
}

/** `total` is the number that the upstream reports; null if it reports none. */
export interface SyncProgress {
  readonly part: SyncPart
  readonly pages: number
  readonly done: number
  readonly total: number | null
}

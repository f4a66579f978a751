/** A sync as it is told: its parts, counts, problems and outcome, and what a scan of the whole list found. */
import type { Instant } from './model.ts'

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
  readonly cleaned: number
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

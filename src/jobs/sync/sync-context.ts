/** The context that a sync passes to its parts. */

import type { SyncPart, SyncProblem, SyncProgress } from '../../domain/sync.ts'
import type { Observation } from '../../store/db/store.ts'
import type { Scan } from '../../store/sync/scan.ts'
import type { RunWriter } from '../../store/sync/sync-run.ts'
import type { Source } from '../../upstream/source.ts'
import type { JobDeps } from '../job-deps.ts'

export interface SyncOptions {
  readonly full: boolean
  /** An operator has confirmed deletions; otherwise many missing leads count as a fault of the upstream. */
  readonly acceptsDeletions?: boolean
  readonly acceptsAddress?: boolean
  readonly parts: readonly SyncPart[]
  readonly pageSize: number
  /** The time before the watermark at which an incremental scan begins, to find changes that were stored late. */
  readonly overlapMs: number
  /** Their statistics are read even if no lead belongs to them. */
  readonly pipelineIds: readonly string[]
  readonly details?: DetailOptions
  /** Returns whether another scheduled run is due. If so, the remaining details are left to the next sync. */
  readonly isOtherDue?: () => Promise<boolean>
  /** The place where each setting was given, for hints. */
  readonly sources?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly onProgress?: (progress: SyncProgress) => void
}

export interface DetailOptions {
  readonly perRun: number
  readonly concurrency: number
}

export interface SyncDeps extends JobDeps {
  readonly source: Source
}

export interface SyncRun extends SyncDeps, RunWriter {
  readonly runId: string
  readonly mode: Scan['mode']
  readonly options: SyncOptions
}

export function pageSizeOf({ source, options }: Pick<SyncRun, 'source' | 'options'>): number {
  return Math.min(options.pageSize, source.profile.paging.size_max)
}

export function observedBy({ runId, now }: SyncRun): Observation {
  return { runId, at: now().toISOString() }
}

export function unreadable(reason: string): Omit<SyncProblem, 'part'> {
  return {
    code: 'api_unexpected',
    message: `could not be read: ${reason}`,
    hint: 'The record is kept in the table quarantined_record.',
  }
}

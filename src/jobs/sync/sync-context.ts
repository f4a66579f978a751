/** The context that a sync passes to its parts, and the functions by which they write to the store. */

import type { SyncPart, SyncProblem, SyncProgress } from '../../domain/sync.ts'
import type { Log } from '../../log.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import type { Lease } from '../../store/schedule/lease.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { type RunUsage, saveUsage } from '../../store/sync/sync-run.ts'
import type { Source } from '../../upstream/source.ts'

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
  readonly signal: AbortSignal
  readonly onProgress?: (progress: SyncProgress) => void
}

export interface DetailOptions {
  readonly perRun: number
  readonly concurrency: number
}

export interface SyncRun {
  readonly source: Source
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  readonly lease: Lease
  readonly runId: string
  readonly mode: Scan['mode']
  readonly options: SyncOptions
  readonly spent: () => RunUsage
}

export function pageSizeOf({ source, options }: Pick<SyncRun, 'source' | 'options'>): number {
  return Math.min(options.pageSize, source.profile.paging.size_max)
}

/**
 * Writes data of the run in one transaction, unless another process has taken over the lease. Waits until the
 * data is on the disk.
 * @throws LeadsheetError job_busy if the lease was lost
 */
export function writeUnderLease<T>(run: SyncRun, work: (trx: Trx) => Promise<T>): Promise<T> {
  return run.store.write(underLease(run, work))
}

/** Does not wait for the disk: if a power cut loses the write, the next run reads the same data again. */
export function writePageUnderLease<T>(run: SyncRun, work: (trx: Trx) => Promise<T>): Promise<T> {
  return run.store.writeSoon(underLease(run, work))
}

function underLease<T>(run: SyncRun, work: (trx: Trx) => Promise<T>): (trx: Trx) => Promise<T> {
  return async (trx) => {
    await run.lease.renew(trx, run.now())
    // Saves the number of requests in each transaction, so that operators see it during a run and it survives
    // a kill.
    await saveUsage(trx, run.runId, run.spent())
    return work(trx)
  }
}

export function unreadable(reason: string): Omit<SyncProblem, 'part'> {
  return {
    code: 'api_unexpected',
    message: `could not be read: ${reason}`,
    hint: 'The record is kept in the table quarantined_record.',
  }
}

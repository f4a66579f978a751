/** The context that a sync gives to each of its parts, and the writes of a run. */
import type { Log } from '../../log.ts'
import type { SyncPart, SyncProblem, SyncProgress } from '../../model.ts'
import type { Store, Trx } from '../../store/db/store.ts'
import type { WaitingLead } from '../../store/leads/detail.ts'
import type { Lease } from '../../store/schedule/lease.ts'
import type { Scan } from '../../store/sync/scan.ts'
import { type RunUsage, saveUsage } from '../../store/sync/sync-run.ts'
import type { Source } from '../../upstream/source.ts'

export interface SyncOptions {
  /** Read all leads, not only those changed since the last sync. */
  readonly full: boolean
  /** An operator has confirmed that more leads are gone than is believed without. */
  readonly acceptsRemovals?: boolean
  readonly parts: readonly SyncPart[]
  readonly pageSize: number
  /** How far before the watermark an incremental scan begins, so that nothing written late is missed. */
  readonly overlapMs: number
  /** Pipelines whose statistics are wanted though no lead names them. */
  readonly pipelineIds: readonly string[]
  /** None are read without. */
  readonly details?: DetailOptions
  /** Whether something else waits for this sync to end: the details then wait for the next one. */
  readonly isOtherDue?: () => Promise<boolean>
  readonly signal: AbortSignal
  readonly onProgress?: (progress: SyncProgress) => void
}

export interface DetailOptions {
  /** Only of so many leads with the best scores; null for all. */
  readonly top: number | null
  /** The most leads that one run asks for. */
  readonly perRun: number
  /** How many are asked for at once. */
  readonly concurrency: number
}

/** The context of one run. */
export interface SyncRun {
  readonly source: Source
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  readonly lease: Lease
  readonly runId: string
  readonly mode: Scan['mode']
  readonly options: SyncOptions
  /** Counts the requests of the run so far. */
  readonly spent: () => RunUsage
  /** And what others have asked for it. */
  readonly helped: { requests: number; retries: number }
  readonly detailWorkers?: DetailWorkers
}

/** Workers that read the details of leads for a run, this one among them. */
export interface DetailWorkers {
  /** No fewer are worth it. */
  readonly batchLeads: number
  read(run: SyncRun, leads: readonly WaitingLead[], options: DetailOptions): Promise<DetailsDone>
}

export interface DetailsDone {
  /** Entries of activity that could not be read. */
  readonly held: number
  /** The failure that ended it before its time; null where there was none. */
  readonly end: unknown
}

/**
 * A write of the run: all or nothing, and nothing when another process has taken the lease over meanwhile. It does
 * not wait for the disk; the end of the run does.
 * @throws LeadsheetError job_busy
 */
export function writeHolding<T>(run: SyncRun, work: (trx: Trx) => Promise<T>): Promise<T> {
  return run.store.write(holding(run, work))
}

/** Writes a page of a list, or details, without waiting for the disk: the next run reads again what a power cut undoes. */
export function writePageHolding<T>(run: SyncRun, work: (trx: Trx) => Promise<T>): Promise<T> {
  return run.store.writeSoon(holding(run, work))
}

function holding<T>(run: SyncRun, work: (trx: Trx) => Promise<T>): (trx: Trx) => Promise<T> {
  return async (trx) => {
    await run.lease.renew(trx, run.now())
    // With each page, so that who looks at a run sees them, and one that is killed has not asked for nothing.
    await saveUsage(trx, run.runId, run.spent())
    return work(trx)
  }
}

/** Describes a record that was quarantined: the run is not whole, and the record can be looked at. */
export function unreadable(reason: string): Omit<SyncProblem, 'part'> {
  return {
    code: 'api_unexpected',
    message: `could not be read: ${reason}`,
    hint: 'The record is kept in the table quarantined_record.',
  }
}

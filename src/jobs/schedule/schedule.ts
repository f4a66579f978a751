/** Defines a schedule as the daemon runs it, with the input and the outcome of its runs. */
import type { Instant } from '../../domain/model.ts'
import type { CatchUp, Timing } from '../../schedule/timing.ts'
import type { Lease } from '../../store/schedule/lease.ts'

/** The lease of the one process that may sync. */
export const SYNC_LEASE = 'sync'

/** A run that begins later than this after its time counts as late. */
export const LATE_MS = 5 * 60_000

export interface Schedule {
  /** The name in the store: `sync`, `sync-full`, `report:daily`. */
  readonly name: string
  /** The lease held during a run; schedules with the same lease never run at the same time. */
  readonly leaseName: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  /** Each run begins up to this many seconds after its time. */
  readonly jitterSeconds: number
  /** Tells whether the schedule runs at once when it is first seen. */
  readonly runsAtFirstSight: boolean
  /**
   * Does the work of a scheduled run.
   * @param lease to be renewed in each transaction of the work
   * @param signal also aborted when the lease is lost
   * @throws LeadsheetError if the work failed
   */
  readonly run: (due: DueRun, lease: Lease, signal: AbortSignal) => Promise<RunEnd>
}

/** The part of a schedule that comes from the settings. */
export type ScheduleSettings = Pick<Schedule, 'name' | 'timing' | 'catchUp' | 'jitterSeconds'>

export interface DueRun {
  readonly due_at: Date
  /** Tells when the run was first seen to be due. */
  readonly notedAt: Date
  /** The number of the attempt, 1 for the first; asking again while the run is held does not count. */
  readonly attempt: number
  /** Tells why the run is late; null if it begins at most 5 minutes after its time. */
  readonly late: Late | null
  /** Tells whether an operator has approved the run; it must then not be held again. */
  readonly isReleased: boolean
}

/** The time span for which the run had to wait, and the reason. */
export interface Late {
  readonly from: Instant
  readonly to: Instant
  /**
   * `down`: nothing ran; `blocked`: the process was kept from its work; `clock`: the clock was set or the
   * machine slept; `waited`: other work came first.
   */
  readonly why: 'down' | 'blocked' | 'clock' | 'waited'
}

export type RunEnd =
  | { readonly state: 'done' | 'failed' | 'skipped'; readonly message: string | null }
  /** The run is tried again, not before `notBefore`, or at the next tick if it is null. */
  | {
      readonly state: 'again'
      readonly message: string
      readonly notBefore: Instant | null
      /** Tells whether nothing was tried yet; the attempt then does not count. */
      readonly isWait?: boolean
    }
  /** The run is asked again at each tick until its outcome changes or the schedule's next run comes. */
  | { readonly state: 'held'; readonly message: string }

export function formatHours(hours: number): string {
  return hours === 1 ? '1 hour' : `${hours} hours`
}

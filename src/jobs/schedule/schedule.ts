/** Defines a schedule as the daemon uses it, with the input and the outcome of its runs. */
import type { Instant } from '../../domain/model.ts'
import type { CatchUp, Timing } from '../../schedule/timing.ts'
import type { Lease } from '../../store/schedule/lease.ts'

export const SYNC_LEASE = 'sync'

export interface Schedule {
  readonly name: string
  /** Schedules with the same lease never run at the same time. */
  readonly leaseName: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  readonly runsAtFirstSight: boolean
  /**
   * Does the work of a scheduled run.
   * @param lease the lease to renew in each transaction of the work
   * @param signal aborted when the daemon stops, and when the lease is lost
   * @throws LeadsheetError if the work failed
   */
  readonly run: (due: DueRun, lease: Lease, signal: AbortSignal) => Promise<RunEnd>
}

export type ScheduleSettings = Pick<Schedule, 'name' | 'timing' | 'catchUp'>

export interface DueRun {
  readonly dueAt: Date
  readonly notedAt: Date
  /** The number of the attempt, 1 for the first. Another check of a held run does not count as an attempt. */
  readonly attempt: number
  /** The delay of the run and its cause; null if the run begins at most 5 minutes after its due time. */
  readonly late: Late | null
  /** True if an operator has approved the run. An approved run must not be held again. */
  readonly isApproved: boolean
}

export interface Late {
  readonly from: Instant
  readonly to: Instant
  /**
   * `down`: no daemon was running. `clock`: the clock was set or the machine slept. `waited`: other work came
   * first.
   */
  readonly why: 'down' | 'blocked' | 'unwritable' | 'clock' | 'waited'
}

export type RunEnd =
  | { readonly state: 'done' | 'failed' | 'skipped'; readonly message: string | null }
  /** A null `notBefore` means the next tick. */
  | {
      readonly state: 'again'
      readonly message: string
      readonly notBefore: Instant | null
      /** True if nothing was tried yet. The attempt then does not count. */
      readonly isWait?: boolean
    }
  /** The run is tried again at each tick, until its outcome changes or the schedule's next run is due. */
  | { readonly state: 'held'; readonly message: string }

export function formatHours(hours: number): string {
  return hours === 1 ? '1 hour' : `${hours} hours`
}

/** The schedule as the daemon knows it, and what goes in and out when it is due. */
import type { Instant } from '../../model.ts'
import type { CatchUp, Timing } from '../../schedule/timing.ts'
import type { Lease } from '../../store/schedule/lease.ts'

/** The lease of the one process that may sync. */
export const SYNC_LEASE = 'sync'

/** From then on a scheduled run counts as late. */
export const LATE_MS = 5 * 60_000

export interface Schedule {
  /** The name in the ledger: `sync`, `sync-full`, `report:daily`. */
  readonly name: string
  /** Held while a scheduled run of it runs; those of one name never run beside each other. */
  readonly leaseName: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  /** Each scheduled run begins up to so much after its time. */
  readonly jitterSeconds: number
  /** Whether the moment at which the schedule is first seen counts as due. */
  readonly runsAtFirstSight: boolean
  /**
   * Does the work of a scheduled run.
   * @param lease to be renewed in each transaction of the work
   * @param signal aborted too when the lease is lost
   * @throws LeadsheetError for what failed
   */
  readonly run: (due: DueRun, lease: Lease, signal: AbortSignal) => Promise<RunEnd>
}

/** The part of a schedule that the settings say. */
export type ScheduleSettings = Pick<Schedule, 'name' | 'timing' | 'catchUp' | 'jitterSeconds'>

export interface DueRun {
  readonly due_at: Date
  /** When it was seen to be due. */
  readonly notedAt: Date
  /** 1 for the first time; being asked again while held does not count. */
  readonly attempt: number
  /** Null where it is not late, which is more than 5 minutes after its time. */
  readonly late: Late | null
  /** A person has let it go: it is not to be held any longer. */
  readonly isReleased: boolean
}

/** From when to when the scheduled run was kept waiting, and by what. */
export interface Late {
  readonly from: Instant
  readonly to: Instant
  /** Nothing ran, the process was kept from its work, the clock was set or the machine slept, or other work came first. */
  readonly why: 'down' | 'blocked' | 'clock' | 'waited'
}

export type RunEnd =
  | { readonly state: 'done' | 'failed' | 'skipped'; readonly message: string | null }
  /** Tried again, not before that instant; at the next tick if null. */
  | {
      readonly state: 'again'
      readonly message: string
      readonly notBefore: Instant | null
      /** Nothing was tried yet: the next time counts as this one. */
      readonly isWait?: boolean
    }
  /** Asked again at each tick, until it ends otherwise or the next scheduled run of the schedule comes. */
  | { readonly state: 'held'; readonly message: string }

export function tellHours(hours: number): string {
  return hours === 1 ? '1 hour' : `${hours} hours`
}

/** Reads the state of schedules: the outcome of the last run and the time of the next. */
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import type { Db } from '../../store/db/store.ts'
import { findLastScheduledRun, type ScheduledRun } from '../../store/schedule/scheduled-run.ts'
import { SET_UP } from './enqueue-due-runs.ts'
import type { ScheduleSettings } from './schedule.ts'

export type ScheduleState<S extends ScheduleSettings = ScheduleSettings> = S & {
  /** Is null if the schedule never had a run. */
  readonly last: ScheduledRun | null
  /** Is null if the schedule has no further run. */
  readonly next: Date | null
}

export async function readScheduleStates<S extends ScheduleSettings>(
  db: Db,
  schedules: readonly S[],
  now: Date,
): Promise<ScheduleState<S>[]> {
  return Promise.all(
    schedules.map(async (schedule) => {
      const last = await findLastScheduledRun(db, schedule.name, now.toISOString())
      const wasDue = last !== undefined && last.message !== SET_UP
      return { ...schedule, last: wasDue ? last : null, next: nextScheduledRun(schedule.timing, now) }
    }),
  )
}

/** Returns the state to show; a deferred run shows as `waits`. */
export function outcomeText({ state, message }: Pick<ScheduledRun, 'state' | 'message'>): string {
  return state === 'due' && message !== null ? 'waits' : state
}

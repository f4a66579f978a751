/** Where schedules stand: what became of the last due time of each, and when the next is. */
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import type { Db } from '../../store/db/store.ts'
import { findLastScheduledRun, type ScheduledRun } from '../../store/schedule/scheduled-run.ts'
import { SET_UP } from './enqueue-due-runs.ts'
import type { ScheduleSettings } from './schedule.ts'

export type ScheduleState<S extends ScheduleSettings = ScheduleSettings> = S & {
  /** Null where it was never due. */
  readonly last: ScheduledRun | null
  /** Null where it is never due again. */
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

/** One that was put off, and tells why, is still to come. */
export function outcomeText({ state, message }: Pick<ScheduledRun, 'state' | 'message'>): string {
  return state === 'due' && message !== null ? 'waits' : state
}

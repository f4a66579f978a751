/**
 * Lists recent scheduled runs that were late, skipped or failed. Consecutive runs with the same outcome are
 * merged into one entry.
 */

import { LATE_MS } from '../../schedule/timing.ts'
import type { Db } from '../../store/db/store.ts'
import { listTroubledScheduledRuns, type ScheduledRun } from '../../store/schedule/scheduled-run.ts'
import { SET_UP } from './enqueue-due-runs.ts'

export interface MissedScheduledRuns {
  readonly first: ScheduledRun
  readonly last: ScheduledRun
  readonly count: number
}

const DAY_MS = 86_400_000
const SCHEDULED_RUNS_BACK = 400
/** The daemon ticks each minute and may miss one tick; a longer silence means that it did not run. */
export const GAP_MS = 150_000

/** Reads the missed runs of a schedule, the newest first. */
export async function readMissedScheduledRuns(
  db: Db,
  schedule: string,
  { daysBack, now }: { readonly daysBack: number; readonly now: Date },
): Promise<MissedScheduledRuns[]> {
  const since = new Date(now.getTime() - daysBack * DAY_MS).toISOString()
  const scheduledRuns = await listTroubledScheduledRuns(db, schedule, {
    since,
    lateMs: LATE_MS,
    limit: SCHEDULED_RUNS_BACK,
  })
  const missed: MissedScheduledRuns[] = []
  for (const scheduledRun of scheduledRuns.filter(({ message }) => message !== SET_UP)) {
    const after = missed.at(-1)
    const isSame =
      after &&
      scheduledRun.state !== 'done' &&
      after.first.state === scheduledRun.state &&
      after.first.message === scheduledRun.message
    if (isSame) missed.splice(-1, 1, { ...after, first: scheduledRun, count: after.count + 1 })
    else missed.push({ first: scheduledRun, last: scheduledRun, count: 1 })
  }
  return missed
}

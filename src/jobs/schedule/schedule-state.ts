/** Reads the state of schedules: the outcome of the last run and the time of the next run. */

import { HEARTBEAT_MAX_MS } from '../../checks/check.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { nextScheduledRun } from '../../schedule/scheduled-runs.ts'
import { LATE_MS } from '../../schedule/timing.ts'
import type { Db, Store } from '../../store/db/store.ts'
import { isOfDaemon, listHeldLeases } from '../../store/schedule/lease.ts'
import type { ScheduledRun } from '../../store/schedule/scheduled-run.ts'
import {
  approveScheduledRun,
  findLastScheduledRun,
  listProblemRuns,
} from '../../store/schedule/scheduled-run.ts'
import { listRunningWorkers } from '../../store/schedule/uptime.ts'
import { DAY_MS } from '../../time.ts'
import { SET_UP } from './note-due-runs.ts'
import type { ScheduleSettings } from './schedule.ts'

export type ScheduleState<S extends ScheduleSettings = ScheduleSettings> = S & {
  readonly last: ScheduledRun | null
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

/** Returns the state of a run to show. A deferred run is shown as `waits`. */
export function outcomeText({ state, message }: Pick<ScheduledRun, 'state' | 'message'>): string {
  return state === 'pending' && message !== null ? 'waits' : state
}

/** A run that waits because it has failed needs its cause fixed, not an approval. */
export function mayBeApproved(run: Pick<ScheduledRun, 'state' | 'message' | 'attempts'>): boolean {
  return run.state === 'held' || (outcomeText(run) === 'waits' && run.attempts === 0)
}

/**
 * Approves the report's scheduled run that is held or waits for data, so that it goes ahead.
 * @param schedule the name in the store, such as `report:daily`
 * @returns the scheduled run as it was before
 * @throws LeadsheetError usage_invalid if no run of the schedule is held or waiting
 */
export async function approveRun(store: Store, schedule: string, now: Date): Promise<ScheduledRun> {
  const approved = await store.write((trx) => approveScheduledRun(trx, schedule, now.toISOString()))
  if (approved !== undefined) return approved
  throw new LeadsheetError('usage_invalid', `Nothing of ${schedule} is held or waits`, {
    hint: `${shellCommand('schedule')} shows what became of each; ${shellCommand('report send NAME')} sends one by hand.`,
  })
}

/** Consecutive scheduled runs of one schedule that were late, skipped or failed in the same way. */
export interface MissedScheduledRuns {
  readonly first: ScheduledRun
  readonly last: ScheduledRun
  readonly count: number
}

const SCHEDULED_RUNS_BACK = 400
/** A tick that takes longer to come leaves a gap in the record of uptime. The daemon may miss one tick. */
export const GAP_MS = 150_000

export async function readMissedScheduledRuns(
  db: Db,
  schedule: string,
  { daysBack, now }: { readonly daysBack: number; readonly now: Date },
): Promise<MissedScheduledRuns[]> {
  const since = new Date(now.getTime() - daysBack * DAY_MS).toISOString()
  const scheduledRuns = await listProblemRuns(db, schedule, {
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

export async function listWorkers(db: Db, now: Date) {
  const workers = await listRunningWorkers(db, new Date(now.getTime() - HEARTBEAT_MAX_MS).toISOString())
  const leases = await listHeldLeases(db, now)
  return workers.map(({ host, pid, began_at: since, last_heartbeat_at: lastHeartbeat }) => {
    const own = leases.filter((lease) => lease.host === host && lease.pid === pid)
    const inFlight = own.filter((lease) => !isOfDaemon(lease))
    return { host, pid, since, lastHeartbeat, inFlight: inFlight.map(formatWork) }
  })
}

/** A snapshot's lease also names its machine, which is left out here. */
function formatWork({ name }: { readonly name: string }): string {
  return name.startsWith('snapshot:') ? 'snapshot' : name
}

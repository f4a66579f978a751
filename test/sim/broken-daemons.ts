/**
 * Daemons written in the obvious but wrong ways. The checks that the real daemon passes must fail with these.
 */
import type { Schedule } from '../../src/jobs/schedule/schedule.ts'
import { nextScheduledRun } from '../../src/schedule/scheduled-runs.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import {
  addScheduledRun,
  beginScheduledRun,
  finishScheduledRun,
} from '../../src/store/schedule/scheduled-run.ts'
import type { StartDaemon } from './world.ts'

const MINUTE_MS = 60_000
/** A limit, because a clock that was wrong by years would cause endless runs. */
const SCHEDULED_RUNS_MAX = 400

type Deps = Parameters<StartDaemon>[0]

/** A daemon that runs, at each tick, the scheduled runs that a function finds. */
function daemonThat(findScheduledRuns: (deps: Deps) => (schedule: Schedule) => readonly Date[]): StartDaemon {
  return async (deps) => {
    const scheduledRunsOf = findScheduledRuns(deps)
    let inFlight: Promise<void> | null = null
    const runAll = async (): Promise<void> => {
      for (const schedule of deps.schedules) {
        for (const dueAt of scheduledRunsOf(schedule)) await runScheduledRun(deps, schedule, dueAt)
      }
    }
    return {
      // The work may move the clock, which must not start it a second time.
      tick: async () => {
        inFlight ??= runAll()
          .catch(() => {})
          .finally(() => {
            inFlight = null
          })
      },
      idle: async () => void (await inFlight),
      stop: async () => void (await inFlight),
    }
  }
}

async function runScheduledRun({ store, now }: Deps, schedule: Schedule, dueAt: Date): Promise<void> {
  const lease = await claimLease(store, schedule.leaseName, now)
  const at = now().toISOString()
  const noted = { schedule: schedule.name, due_at: dueAt.toISOString(), noted_at: at, not_before: null }
  await store.write((trx) => addScheduledRun(trx, { ...noted, state: 'pending', message: null }))
  const [row] = await store.db
    .selectFrom('scheduled_run')
    .where('due_at', '=', noted.due_at)
    .selectAll()
    .execute()
  if (row !== undefined) await store.write((trx) => beginScheduledRun(trx, row, at))
  const due = { dueAt, notedAt: now(), attempt: 1, late: null, isApproved: false }
  await schedule.run(due, lease, new AbortController().signal)
  await store.write((trx) =>
    finishScheduledRun(trx, noted, { state: 'done', not_before: null, finished_at: at, message: null }),
  )
  await lease.release()
}

/** Runs a schedule only if it is due in the minute of the tick. Whatever came between is lost. */
export const tickIsJob: StartDaemon = daemonThat(({ now }) => ({ timing }) => {
  const minute = Math.floor(now().getTime() / MINUTE_MS) * MINUTE_MS
  const dueAt = nextScheduledRun(timing, new Date(minute - 1))
  return dueAt?.getTime() === minute ? [dueAt] : []
})

/** Runs what has come due since its last tick, which it forgets when it ends. */
export const sinceLastTick: StartDaemon = daemonThat(({ now }) => {
  const begun = now()
  const last = new Map<string, Date>()
  return ({ name, timing }) => {
    const scheduledRuns: Date[] = []
    const from = last.get(name) ?? begun
    let dueAt = nextScheduledRun(timing, from)
    for (
      ;
      dueAt !== null && dueAt <= now() && scheduledRuns.length < SCHEDULED_RUNS_MAX;
      dueAt = nextScheduledRun(timing, dueAt)
    )
      scheduledRuns.push(dueAt)
    last.set(name, now())
    return scheduledRuns
  }
})

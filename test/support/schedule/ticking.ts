/** A schedule with a store, a clock and the heartbeat of a daemon. A test ticks it by hand. */
import { noteScheduledRuns } from '../../../src/jobs/schedule/note-due-runs.ts'
import { runDue } from '../../../src/jobs/schedule/run-scheduled.ts'
import type { DueRun, RunEnd, Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { openUptime } from '../../../src/jobs/schedule/uptime.ts'
import { folderWith } from '../folder.ts'
import { openNewStore } from '../store.ts'
import { SILENT } from '../syncing.ts'
import { scheduleOf } from './schedule.ts'

const START = '2026-11-20T06:30:00Z'
const MINUTE_MS = 60_000

export type Ticking = Awaited<ReturnType<typeof openTicking>>

/** Opens a schedule. Its first tick is on 20 November 2026 at 06:30 UTC. */
export async function openTicking(settings: Partial<Schedule> = {}) {
  const clock = { now: new Date(START) }
  const now = (): Date => clock.now
  const store = await openNewStore(`${folderWith()}/leadsheet.db`, clock.now)
  const { signal } = new AbortController()
  const deps = { store, log: SILENT, now }
  const uptime = await openUptime({ ...deps, monotonicMs: () => clock.now.getTime() })
  const scheduledRuns = () => store.db.selectFrom('scheduled_run').selectAll().orderBy('due_at').execute()
  const run = (due: DueRun): Promise<RunEnd> => {
    ticking.ran.push(due)
    return ticking.ends(due)
  }
  const schedule = scheduleOf({ run, ...settings })
  const ticking = {
    store,
    /** The clock. A test moves it, and the runs of the schedule may do so too. */
    clock,
    /** The runs that the schedule has started. */
    ran: [] as DueRun[],
    /** The instants of the runs that were noted as missed, as they were told. */
    missed: [] as string[],
    /** Returns how a run ends; `done` unless a test replaces it. */
    ends: async (_due: DueRun): Promise<RunEnd> => ({ state: 'done', message: null }),
    /** Notes and runs what is due. The daemon counts as down since the last call. */
    async tick(at: string): Promise<void> {
      clock.now = new Date(at)
      await uptime.recordHeartbeat()
      const missed = await noteScheduledRuns(store, schedule, clock.now)
      ticking.missed.push(...missed.map(({ due_at }) => due_at))
      while ((await runDue(deps, schedule, signal)) === 'over');
    },
    /** Ticks every minute up to and including an instant, like a running daemon. */
    async live(until: string): Promise<void> {
      while (clock.now < new Date(until))
        await ticking.tick(new Date(clock.now.getTime() + MINUTE_MS).toISOString())
    },
    /** Returns the states, such as `07:00 done`. */
    states: async () =>
      (await scheduledRuns()).map(({ due_at, state }) => `${due_at.slice(11, 16)} ${state}`),
    /** Tells in lines what was run, in order, what was missed, and then what was noted of each scheduled run. */
    told: async (): Promise<string[]> => {
      const time = (at: string | Date): string => new Date(at).toISOString().slice(8, 19)
      const ran = ticking.ran.map(({ dueAt, attempt, late, isApproved }) => {
        const since = late === null ? '' : `, late from ${time(late.from)} to ${time(late.to)}: ${late.why}`
        return `ran ${time(dueAt)}, attempt ${attempt}${isApproved ? ', approved' : ''}${since}`
      })
      const runs = (await scheduledRuns()).map(({ due_at, state, attempts, finished_at, message }) =>
        [time(due_at), state, attempts, finished_at && `at ${time(finished_at)}`, message].join(' ').trim(),
      )
      return [...ran, ...ticking.missed.map((at) => `missed ${time(at)}`), ...runs]
    },
    [Symbol.asyncDispose]: store.close,
  }
  await ticking.tick(START)
  return ticking
}

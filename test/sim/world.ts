/**
 * A machine with a daemon in simulated time. Its clock may be wrong and it may be off. The daemon may be held
 * up, stopped or killed. Events are recorded by the true time, which the daemon does not know.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { sql } from 'kysely'
import { type StartedDaemon, startDaemon } from '../../src/jobs/schedule/daemon.ts'
import type { DueRun, Schedule } from '../../src/jobs/schedule/schedule.ts'
import { openStore } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { scheduleOf } from '../support/schedule/schedule.ts'
import { openTasks } from '../support/schedule/tasks.ts'
import { SILENT } from '../support/syncing.ts'
import type { Rule } from './due-times.ts'
import { type MortalStore, mortal } from './mortal-store.ts'

const MINUTE_MS = 60_000
/** The id of a process that has ended. A restarted daemon has another id. */
const DEAD_PID = spawnSync('true').pid

/** A schedule with an independent rule for its due times. */
export interface Planned {
  readonly schedule: Pick<Schedule, 'name' | 'timing' | 'catchUp'> & Partial<Schedule>
  readonly rule: Rule
}

/** A piece of work. All its times are true times. */
export interface Run {
  readonly schedule: string
  readonly due: DueRun
  readonly begunAt: number
  /** The time on the machine's clock. */
  readonly begunByClock: number
  /** Null if the daemon was killed during the work. */
  endedAt: number | null
}

export type World = Awaited<ReturnType<typeof openWorld>>

interface RunningDaemon {
  readonly store: MortalStore
  readonly daemon: StartedDaemon
  readonly controller: AbortController
}

interface WorldOptions {
  readonly from: Date
  readonly planned: readonly Planned[]
  /** Returns the duration of the work for a schedule. */
  readonly durationMs?: (schedule: string) => number
}

/** Opens a machine. It is off until it is started. */
export async function openWorld({ from, planned, durationMs = () => 2_000 }: WorldOptions) {
  /** The true time in ms, the difference of the machine's clock to it, and the time that the machine has slept. */
  const clock = { at: from.getTime(), skewMs: 0, asleepMs: 0 }
  const now = (): Date => new Date(clock.at + clock.skewMs)
  const monotonicMs = (): number => clock.at - clock.asleepMs
  const store = await openStore(join(folderWith(), 'leadsheet.db'), now())
  // No power cut is simulated, and a year has many commits.
  await sql`PRAGMA synchronous = OFF`.execute(store.db)
  const runs: Run[] = []
  /** The ticks of daemons that did not die in them. */
  const ticks: { readonly at: number; readonly isClockRight: boolean }[] = []
  /** The times at which the daemon was killed. */
  const kills: number[] = []
  let running: RunningDaemon | null = null

  const pass = async (ms: number, daemon: RunningDaemon['daemon']): Promise<void> => {
    const end = clock.at + ms
    while (end - clock.at > MINUTE_MS) {
      clock.at += MINUTE_MS
      await daemon.tick()
    }
    clock.at = end
  }
  const work = async (schedule: string, due: DueRun): Promise<void> => {
    const mine = running
    const times = { begunAt: clock.at, begunByClock: now().getTime() }
    const run: Run = { schedule, due, ...times, endedAt: null }
    runs.push(run)
    if (mine === null) throw new Error('work of a daemon that is not up')
    await pass(durationMs(schedule), mine.daemon)
    if (!mine.store.isDead()) run.endedAt = clock.at
  }
  const schedules = planned.map(({ schedule }) =>
    scheduleOf({
      ...schedule,
      run: async (due) => {
        await work(schedule.name, due)
        return { state: 'done', message: null }
      },
    }),
  )
  const bury = (): void => {
    if (!running?.store.isDead()) return
    kills.push(clock.at)
    running = null
  }
  /** Runs a tick and the work that follows from it, if the daemon is up. */
  const tick = async (): Promise<void> => {
    if (running === null) return
    const lived = { at: clock.at, isClockRight: clock.skewMs === 0 }
    await running.daemon.tick()
    await running.daemon.idle()
    bury()
    if (running !== null) ticks.push(lived)
  }
  return {
    store,
    planned,
    from,
    clock,
    runs,
    ticks,
    kills,
    isUp: () => running !== null,
    /** Starts the daemon, with its first tick. */
    async start() {
      await store.write((trx) => trx.updateTable('lease').set({ pid: DEAD_PID }).execute())
      const own = mortal(store)
      const controller = new AbortController()
      const deps = { store: own, log: SILENT, now, monotonicMs, schedules, ...openTasks() }
      running = { store: own, controller, daemon: await startDaemon(deps, controller.signal) }
      await tick()
    },
    tick,
    /** Stops the daemon like SIGTERM. */
    async stop() {
      if (running === null) return
      running.controller.abort()
      await running.daemon.stop()
      running = null
    },
    /** Kills the daemon at one of its next writes; see {@link MortalStore.dieAt}. */
    killAt: (...at: Parameters<MortalStore['dieAt']>) => running?.store.dieAt(...at),
    [Symbol.asyncDispose]: () => store.close(),
  }
}

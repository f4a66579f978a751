/**
 * Workers of several machines that share one PostgreSQL database. They run in one process, with a clock that
 * a test moves.
 */
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { startDaemon } from '../../../src/jobs/schedule/daemon.ts'
import type { Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { createSerialTask } from '../../../src/jobs/schedule/serial-task.ts'
import { openPgBossQueue } from '../../../src/queue/pg-boss.ts'
import type { Queue } from '../../../src/queue/queue.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { timing } from './schedule.ts'

export const MINUTELY = { timing: timing('* * * * *') }

export interface Machine {
  readonly store: Store
  readonly queue: Queue
  readonly lines: string[]
  /** Notes the runs that are due at this minute. */
  readonly tick: (at: string) => Promise<void>
  readonly stop: () => Promise<void>
}

/** The clock of all machines. */
export interface Company {
  now: Date
}

export async function startMachine(
  url: string,
  company: Company,
  schedules: readonly Schedule[],
  onAlerts: () => void = () => undefined,
): Promise<Machine> {
  const now = () => company.now
  const store = await openStore(url, now())
  if (store.place.kind !== 'postgres') throw new Error(`${url} is no PostgreSQL`)
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(line) })
  const queue = await openPgBossQueue(store.place, log)
  const worker = await startDaemon(
    {
      store,
      log,
      now,
      schedules,
      queue,
      monotonicMs: () => now().getTime(),
      post: createSerialTask(queue, 'alerts', async () => onAlerts()),
      events: createSerialTask(queue, 'events', async () => undefined),
    },
    new AbortController().signal,
  )
  await worker.tick()
  let hasStopped = false
  const stop = async (): Promise<void> => {
    if (hasStopped) return
    hasStopped = true
    await worker.stop()
    await queue[Symbol.asyncDispose]()
    await store.close()
  }
  onTestFinished(stop)
  return {
    store,
    queue,
    lines,
    stop,
    async tick(at) {
      company.now = new Date(at)
      await worker.tick()
    },
  }
}

/**
 * Returns the scheduled runs, such as `sync 07:01 done`, without the runs from the start of the schedules.
 */
export async function scheduledRunsOf({ db }: Store): Promise<string[]> {
  const scheduledRuns = await db
    .selectFrom('scheduled_run')
    .where('due_at', '>', '2026-11-20T07:00:30Z')
    .selectAll()
    .orderBy('due_at')
    .orderBy('schedule')
    .execute()
  return scheduledRuns.map(({ schedule, due_at, state }) => `${schedule} ${due_at.slice(11, 16)} ${state}`)
}

export async function scheduledRunCount({ db }: Store): Promise<number> {
  return (await db.selectFrom('scheduled_run').selectAll().execute()).length
}

/** The daemon's schedule with the real node-cron, in a process that is held up and through clock changes. */
import { join } from 'node:path'
import cron from 'node-cron'
import { afterEach, expect, it, vi } from 'vitest'
import { keepTicking, startDaemon } from '../../src/jobs/schedule/daemon.ts'
import type { Schedule } from '../../src/jobs/schedule/schedule.ts'
import { openStore } from '../../src/store/open.ts'
import { findClockSet } from '../../src/store/schedule/uptime.ts'
import { folderWith } from '../support/folder.ts'
import { random } from '../support/random.ts'
import { scheduleOf, timing } from '../support/schedule/schedule.ts'
import { openTasks } from '../support/schedule/tasks.ts'
import { SILENT } from '../support/syncing.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './plan.ts'
import { SEED } from './scale.ts'

const BLOCKED_MS = 5 * SECOND_MS
/** The number of times that the process is held up over a scheduled run. */
const BLOCKS = 20

afterEach(() => {
  vi.useRealTimers()
})

interface Ran {
  readonly name: string
  readonly due_at: string
  readonly at: number
}

/** Opens a daemon that follows the clock of the process. */
async function openDaemon(settings: readonly Partial<Schedule>[]) {
  const store = await openStore(join(folderWith(), 'leadsheet.db'), new Date())
  const ran: Ran[] = []
  const controller = new AbortController()
  const schedules = settings.map((each) =>
    scheduleOf({
      ...each,
      run: async ({ dueAt }) => {
        ran.push({ name: each.name ?? '', due_at: dueAt.toISOString(), at: Date.now() })
        return { state: 'done', message: null }
      },
    }),
  )
  const clocks = { now: () => new Date(), monotonicMs: () => performance.now() }
  const deps = { store, log: SILENT, ...clocks, ...openTasks(), schedules }
  const daemon = await startDaemon(deps, controller.signal)
  const ended = keepTicking(daemon).finally(daemon.stop)
  return {
    ran,
    store,
    async [Symbol.asyncDispose]() {
      controller.abort()
      await ended
      await store.close()
    },
  }
}

function fakeTime(at: string): void {
  vi.useFakeTimers({
    // Setting a clock does not change `performance`, so it is not faked.
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    now: new Date(at),
  })
}

/** Lets fake time pass, and then real turns of the event loop, because statements need them. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

it(`the daemon by its own clockwork runs each of ${BLOCKS} scheduled runs within a minute though the process was held up for 5 s over it; SEED=${SEED}`, async () => {
  const next = random(SEED)
  fakeTime('2026-01-12T04:00:30Z')
  let byNodeCron = 0
  const control = cron.schedule('*/10 * * * *', () => void byNodeCron++, {
    timezone: 'UTC',
    suppressMissedWarning: true,
  })
  await using daemon = await openDaemon([{ timing: timing('*/10 * * * *') }])
  for (let block = 1; block <= BLOCKS; block++) {
    const dueAt = Date.parse('2026-01-12T04:00:00Z') + block * 10 * MINUTE_MS
    const from = dueAt - (0.5 + next() * 3) * SECOND_MS
    await pass(from - Date.now())
    // Time goes on without any timer running.
    vi.setSystemTime(from + BLOCKED_MS)
    while (Date.now() < dueAt + 2 * MINUTE_MS) await pass(SECOND_MS)
  }
  await control.destroy()
  expect(daemon.ran).toHaveLength(BLOCKS)
  const lateMs = daemon.ran.map(({ due_at, at }) => at - Date.parse(due_at))
  expect(Math.max(...lateMs)).toBeLessThanOrEqual(MINUTE_MS + BLOCKED_MS)
  // This proves that the process was held up: the runs of node-cron itself are lost.
  expect(byNodeCron).toBe(0)
})

it.each([-2 * HOUR_MS, 2 * HOUR_MS])(
  'the minutes go on within two minutes after the clock was set by %d ms, and its setting is noted',
  async (stepMs) => {
    fakeTime('2026-01-12T08:00:30Z')
    await using daemon = await openDaemon([{ timing: timing('* * * * *') }])
    await pass(2 * MINUTE_MS)
    vi.setSystemTime(Date.now() + stepMs)
    const setAt = Date.now()
    for (let second = 0; second < 5 * 60; second++) await pass(SECOND_MS)
    const after = daemon.ran.filter(({ at }) => at >= setAt && at <= setAt + 5 * MINUTE_MS)
    expect(after.map(({ due_at }) => due_at.slice(11, 16)).slice(-2)).toEqual(
      stepMs < 0 ? ['06:06', '06:07'] : ['10:06', '10:07'],
    )
    expect(after[0]?.at).toBeLessThan(setAt + 2 * MINUTE_MS)
    expect(await findClockSet(daemon.store.db, '2026-01-12', '2026-01-13')).not.toBeNull()
  },
)

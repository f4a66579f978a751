/** A sync that a person asks for runs at once and once, also if the daemon ends before it has begun. */
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../../../src/jobs/schedule/daemon.ts'
import { askSync } from '../../../src/jobs/sync/scheduled-sync.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'
import { scheduleOf, timing } from '../../support/schedule/schedule.ts'
import { openTasks } from '../../support/schedule/tasks.ts'

const log = pino({ level: 'silent' })

/** Opens a daemon whose sync is due every quarter of an hour. */
async function openDaemon(file: string, at: string) {
  const clock = { now: new Date(at) }
  const store = await openStore(file, clock.now)
  const ran: string[] = []
  const schedule = scheduleOf({
    name: 'sync',
    leaseName: 'sync',
    timing: timing('*/15 * * * *'),
    runsAtFirstSight: true,
    run: async ({ dueAt }) => {
      ran.push(dueAt.toISOString().slice(11, 16))
      return { state: 'done', message: null }
    },
  })
  const end = new AbortController()
  const now = () => clock.now
  const monotonicMs = () => clock.now.getTime()
  const daemon = await startDaemon(
    { store, log, now, monotonicMs, schedules: [schedule], ...openTasks() },
    end.signal,
  )
  const stop = async () => {
    end.abort()
    await daemon.stop()
  }
  onTestFinished(async () => {
    await stop().catch(() => undefined)
    await store.close()
  })
  return {
    clock,
    daemon,
    ran,
    stop,
    ask: () => askSync(store, schedule, now),
    async tick() {
      await daemon.tick()
      await daemon.idle()
    },
    scheduledRuns: async () =>
      (await store.db.selectFrom('scheduled_run').selectAll().orderBy('due_at').execute()).map(
        ({ due_at, state }) => `${due_at.slice(11, 16)} ${state}`,
      ),
  }
}

it('runs without waiting for the next tick, and those that are due later come as ever', async () => {
  const { clock, daemon, ran, ask, tick, scheduledRuns } = await openDaemon(
    `${folderWith()}/leadsheet.db`,
    '2026-11-20T07:00:00Z',
  )
  await tick()
  clock.now = new Date('2026-11-20T07:04:30Z')
  await ask()
  daemon.wake()
  await daemon.idle()
  expect(ran).toEqual(['07:00', '07:04'])
  clock.now = new Date('2026-11-20T07:15:00Z')
  await tick()
  expect(await scheduledRuns()).toEqual(['07:00 done', '07:04 done', '07:15 done'])
})

it('runs when there is a daemon again, where the one that was asked ends first', async () => {
  const file = `${folderWith()}/leadsheet.db`
  const first = await openDaemon(file, '2026-11-20T07:00:00Z')
  await first.tick()
  first.clock.now = new Date('2026-11-20T07:04:30Z')
  await first.ask()
  await first.stop()
  const second = await openDaemon(file, '2026-11-20T07:06:00Z')
  await second.tick()
  expect([first.ran, second.ran]).toEqual([['07:00'], ['07:04']])
})

it('is one, however often it is asked for before it begins', async () => {
  const { clock, daemon, ran, ask, tick } = await openDaemon(
    `${folderWith()}/leadsheet.db`,
    '2026-11-20T07:00:00Z',
  )
  await tick()
  for (const second of [1, 2, 3]) {
    clock.now = new Date(`2026-11-20T07:04:0${second}Z`)
    await ask()
  }
  daemon.wake()
  await daemon.idle()
  expect(ran).toEqual(['07:00', '07:04'])
})

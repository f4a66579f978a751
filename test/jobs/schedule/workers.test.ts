// @long
/** Several workers with one PostgreSQL: what is held is asked for once, and what one puts down goes on. */
import { hostname } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../../../src/jobs/schedule/daemon.ts'
import type { Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { listWorkers } from '../../../src/jobs/schedule/schedule-state.ts'
import { createSerialTask } from '../../../src/jobs/schedule/serial-task.ts'
import { openPgBossQueue } from '../../../src/queue/pg-boss.ts'
import { openStore } from '../../../src/store/open.ts'
import { findLastUptime } from '../../../src/store/schedule/uptime.ts'
import { readWorkers } from '../../../src/web/dashboard/status/daemon.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { scheduleOf, timing } from '../../support/schedule/schedule.ts'
import { newStoreUrl } from '../../support/store.ts'
import { SILENT } from '../../support/syncing.ts'

const minutely = (name: string, run: Schedule['run']) =>
  scheduleOf({ name, timing: timing('* * * * *'), run })

/** Opens a database for workers of several machines, which run in this process with one clock that a test moves. */
async function openCompany(schedules: readonly Schedule[], onAlerts: () => void = () => undefined) {
  const url = await newStoreUrl()
  const clock = { now: new Date('2026-11-20T07:00:00Z') }
  const now = () => clock.now
  async function startMachine() {
    const store = await openStore(url, now())
    if (store.place.kind !== 'postgres') throw new Error(`${url} is no PostgreSQL`)
    const queue = await openPgBossQueue(store.place, SILENT)
    const tasks = {
      post: createSerialTask(queue, 'alerts', async () => onAlerts()),
      events: createSerialTask(queue, 'events', async () => undefined),
    }
    const deps = { store, log: SILENT, now, schedules, queue, monotonicMs: () => now().getTime(), ...tasks }
    const worker = await startDaemon(deps, new AbortController().signal)
    let stopped: Promise<void> | undefined
    const stop = () => {
      stopped ??= worker
        .stop()
        .then(() => queue[Symbol.asyncDispose]())
        .then(store.close)
      return stopped
    }
    onTestFinished(stop)
    const runs = async () =>
      (await store.db.selectFrom('scheduled_run').orderBy('due_at').selectAll().execute()).map(
        ({ due_at, state }) => `${due_at.slice(11, 16)} ${state}`,
      )
    await worker.tick()
    await expect.poll(async () => (await runs()).length).toBeGreaterThanOrEqual(schedules.length)
    return {
      store,
      stop,
      runs,
      async tick(at: string) {
        clock.now = new Date(`2026-11-20T${at}Z`)
        await worker.tick()
      },
    }
  }
  return { clock, startMachine }
}

describe.skipIf(!hasPostgres)('several workers', () => {
  it('ask for what is held once a minute, and not one report for the other', async () => {
    let [asked, told] = [0, 0]
    const hold: Schedule['run'] = async () => {
      asked++
      return { state: 'held', message: 'the data are old' }
    }
    const reports = ['report:daily', 'report:weekly'].map((name) => minutely(name, hold))
    const { startMachine } = await openCompany(reports, () => told++)
    const { tick } = await startMachine()
    await tick('07:01:00')
    await expect.poll(() => asked).toBe(2)
    const before = told
    await tick('07:01:30')
    await expect.poll(() => asked).toBe(4)
    await expect.poll(() => told).toBeGreaterThan(before)
    expect(asked).toBe(4)
  })

  it('hand on what one of them has to put down, and are seen as long as they run', async () => {
    const begun = Promise.withResolvers<void>()
    let runs = 0
    const sync = minutely('sync', async (_due, _lease, signal) => {
      if (++runs > 1) return { state: 'done', message: null }
      begun.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      throw signal.reason
    })
    const { clock, startMachine } = await openCompany([sync])
    const first = await startMachine()
    await first.tick('07:01:00')
    await begun.promise
    const { store, ...second } = await startMachine()
    const both = await listWorkers(store.db, clock.now)
    expect(both.map(({ pid }) => pid)).toEqual([process.pid, process.pid])
    const card = await readWorkers(store, clock.now)
    const seen = card?.workers.map(({ host, inFlight }) => `${host} ${inFlight}`)
    expect(seen).toEqual(Array(2).fill(`${hostname()} sync`))
    await first.stop()
    await expect.poll(second.runs).toEqual(['07:00 skipped', '07:01 done'])
    expect(await listWorkers(store.db, clock.now)).toHaveLength(1)
    expect(await findLastUptime(store.db)).toMatchObject({ ended_at: null })
    await second.stop()
  })
})

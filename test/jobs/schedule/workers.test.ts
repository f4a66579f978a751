// @long
/** Several workers with one PostgreSQL: what is held is asked for once, and what one puts down goes on. */
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { listWorkers } from '../../../src/jobs/schedule/schedule-state.ts'
import { findLastUptime } from '../../../src/store/schedule/uptime.ts'
import { readWorkers } from '../../../src/web/dashboard/status/daemon.ts'
import { hasPostgres } from '../../support/postgres.ts'
import {
  MINUTELY,
  newStoreUrl,
  scheduledRunCount,
  scheduledRunsOf,
  startMachine,
} from '../../support/schedule/machines.ts'
import { scheduleOf } from '../../support/schedule/schedule.ts'

const at = (minute: string): string => `2026-11-20T07:${minute}:00Z`

describe.skipIf(!hasPostgres)('several workers', () => {
  it('ask for what is held once a minute, and not one report for the other', async () => {
    let asked = 0
    const schedules = ['report:daily', 'report:weekly'].map((name) =>
      scheduleOf({
        ...MINUTELY,
        name,
        leaseName: name,
        run: async () => {
          asked++
          return { state: 'held', message: 'the data are old' }
        },
      }),
    )
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    let told = 0
    const machine = await startMachine(url, company, schedules, () => told++)
    await expect.poll(() => scheduledRunCount(machine.store)).toBe(2)
    await machine.tick(at('01'))
    await expect.poll(() => asked).toBe(2)
    const before = told
    await machine.tick('2026-11-20T07:01:30Z')
    await expect.poll(() => asked).toBe(4)
    await expect.poll(() => told).toBeGreaterThan(before)
    expect(asked).toBe(4)
  })

  it('hand on what one of them has to put down, and are seen as long as they run', async () => {
    const begun = Promise.withResolvers<void>()
    let runs = 0
    const sync = scheduleOf({
      ...MINUTELY,
      name: 'sync',
      leaseName: 'sync',
      run: async (_due, _lease, signal) => {
        if (++runs > 1) return { state: 'done', message: null }
        begun.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        throw signal.reason
      },
    })
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    const first = await startMachine(url, company, [sync])
    await expect.poll(() => scheduledRunCount(first.store)).toBe(1)
    await first.tick(at('01'))
    await begun.promise
    const second = await startMachine(url, company, [sync])
    const both = await listWorkers(second.store.db, company.now)
    expect(both.map(({ pid }) => pid)).toEqual([process.pid, process.pid])
    const card = await readWorkers(second.store, company.now)
    expect(card?.workers.map(({ host, inFlight }) => `${host} ${inFlight}`)).toEqual(
      Array(2).fill(`${hostname()} sync`),
    )
    await first.stop()
    await expect.poll(() => scheduledRunsOf(second.store)).toEqual(['sync 07:01 done'])
    expect(await listWorkers(second.store.db, company.now)).toHaveLength(1)
    expect(await findLastUptime(second.store.db)).toMatchObject({ ended_at: null })
    await second.stop()
  })
})

// @long
/**
 * Several workers with one PostgreSQL: they note due runs, share them, and wait for each other where needed.
 */
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import type { Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { listWorkers } from '../../../src/jobs/schedule/schedule-state.ts'
import { findLastUptime } from '../../../src/store/schedule/uptime.ts'
import { readWorkers } from '../../../src/web/dashboard/status/daemon.ts'
import { hasPostgres } from '../../support/postgres.ts'
import {
  type Machine,
  MINUTELY,
  scheduledRunCount,
  scheduledRunsOf,
  startMachine,
} from '../../support/schedule/machines.ts'
import { scheduleOf } from '../../support/schedule/schedule.ts'
import { newStoreUrl } from '../../support/store.ts'

const at = (minute: string): string => `2026-11-20T07:${minute}:00Z`

describe.skipIf(!hasPostgres)('several workers', () => {
  it('note each scheduled run once and run it once, and do beside each other what does not depend on each other', async () => {
    const ran: string[] = []
    const schedules = ['report:daily', 'report:weekly'].map((name) =>
      scheduleOf({ ...MINUTELY, name, leaseName: name, run: both(name) }),
    )
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    const first = await startMachine(url, company, schedules)
    const second = await startMachine(url, company, schedules)
    await expect.poll(() => scheduledRunCount(first.store)).toBe(2)
    await Promise.all([first.tick(at('01')), second.tick(at('01'))])
    await expect
      .poll(() => scheduledRunsOf(first.store))
      .toEqual(['report:daily 07:01 done', 'report:weekly 07:01 done'])
    expect(ran.toSorted()).toEqual(['report:daily', 'report:weekly'])

    /** Ends only after the other run has begun. */
    function both(name: string): Schedule['run'] {
      return async () => {
        ran.push(name)
        await expect.poll(() => ran).toHaveLength(2)
        return { state: 'done', message: null }
      }
    }
  })

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

  it('of two installations that share a database do only what is their own', async () => {
    const url = await newStoreUrl()
    const ran: string[] = []
    const start = async (name: string): Promise<Machine> => {
      const run: Schedule['run'] = async () => {
        ran.push(name)
        return { state: 'done', message: null }
      }
      const sync = scheduleOf({ ...MINUTELY, name: 'sync', leaseName: 'sync', run })
      const machine = await startMachine(`${url}?schema=${name}`, { now: new Date(at('00')) }, [sync])
      await expect.poll(() => scheduledRunCount(machine.store)).toBe(1)
      return machine
    }
    const north = await start('north')
    const south = await start('south')
    await north.tick(at('01'))
    await expect.poll(() => scheduledRunsOf(north.store)).toEqual(['sync 07:01 done'])
    expect(await scheduledRunsOf(south.store)).toEqual([])
    await south.tick(at('02'))
    await expect.poll(() => scheduledRunsOf(south.store)).toEqual(['sync 07:01 skipped', 'sync 07:02 done'])
    expect(ran).toEqual(['north', 'south'])
    expect(await listWorkers(north.store.db, new Date(at('01')))).toHaveLength(1)
  })
})

/** Several workers on one PostgreSQL: who notes what is due, who runs it, and what waits for what. */
import { sql } from 'kysely'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLane } from '../../src/jobs/lane.ts'
import type { Schedule } from '../../src/jobs/schedule.ts'
import { createSharedLane } from '../../src/jobs/shared-lane.ts'
import { startWorker } from '../../src/jobs/worker.ts'
import { listWorkers } from '../../src/jobs/worker-list.ts'
import { openQueue, type Queue } from '../../src/queue/queue.ts'
import { findLastSpan } from '../../src/store/daemon-span.ts'
import { claimLease } from '../../src/store/lease.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { scheduleOf, timing } from '../support/schedule.ts'
import { migratedDatabase } from '../support/store.ts'

const MINUTELY = { timing: timing('* * * * *') }

interface Machine {
  readonly store: Store
  readonly queue: Queue
  readonly lines: string[]
  /** Has the minute noted, by whichever takes it. */
  readonly tick: (at: string) => Promise<void>
  readonly stop: () => Promise<void>
}

interface Company {
  now: Date
}

async function startMachine(
  url: string,
  company: Company,
  schedules: readonly Schedule[],
  onNotices: () => void = () => undefined,
): Promise<Machine> {
  const now = () => company.now
  const store = await openStore(url, now())
  if (store.place.kind !== 'postgres') throw new Error(`${url} is no PostgreSQL`)
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(line) })
  const queue = await openQueue(store.place, log)
  const end = new AbortController()
  const worker = await startWorker(
    {
      ...{ store, log, now, schedules, queue, monotonicMs: () => now().getTime() },
      post: createSharedLane(queue, 'notices', log, async () => onNotices()),
      events: createSharedLane(queue, 'events', log, async () => undefined),
      own: createLane(log, async () => undefined),
    },
    end.signal,
  )
  let hasStopped = false
  const stop = async (): Promise<void> => {
    if (hasStopped) return
    hasStopped = true
    end.abort(new Error('stopped'))
    await worker.stop()
    await queue[Symbol.asyncDispose]()
    await store.close()
  }
  onTestFinished(stop)
  return {
    ...{ store, queue, lines, stop },
    async tick(at) {
      company.now = new Date(at)
      await worker.tick()
      await queue.send('clock', {}, { key: 'clock' })
    },
  }
}

/** As `sync 07:01 done`, but for those with which the schedules were set up. */
async function slotsOf({ db }: Store): Promise<string[]> {
  const slots = await db
    .selectFrom('schedule_slot')
    .where('slot', '>', '2026-11-20T07:00:30Z')
    .selectAll()
    .orderBy('slot')
    .orderBy('schedule')
    .execute()
  return slots.map(({ schedule, slot, state }) => `${schedule} ${slot.slice(11, 16)} ${state}`)
}

/** Of the slots under a lease: those that wait, or are in hand. */
async function openJobs({ db }: Store, lease: string): Promise<number> {
  const { rows } = await sql<{ jobs: number }>`SELECT count(*) AS jobs FROM leadsheet_jobs.job
    WHERE name = 'slot' AND singleton_key = ${lease} AND state < 'completed'`.execute(db)
  return rows[0]?.jobs ?? 0
}

async function newStoreUrl(): Promise<string> {
  return newDatabase({ template: await migratedDatabase() })
}

const at = (minute: string): string => `2026-11-20T07:${minute}:00Z`

describe.skipIf(!hasPostgres)('several workers', () => {
  it('note each due time once and run it once, and do beside each other what does not depend on each other', async () => {
    const ran: string[] = []
    const schedules = ['report:daily', 'report:weekly'].map((name) =>
      scheduleOf({ ...MINUTELY, name, leaseName: name, run: both(name) }),
    )
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    const first = await startMachine(url, company, schedules)
    const second = await startMachine(url, company, schedules)
    await expect.poll(() => first.store.db.selectFrom('schedule_slot').selectAll().execute()).toHaveLength(2)
    await Promise.all([first.tick(at('01')), second.tick(at('01'))])
    await expect
      .poll(() => slotsOf(first.store))
      .toEqual(['report:daily 07:01 done', 'report:weekly 07:01 done'])
    expect(ran.toSorted()).toEqual(['report:daily', 'report:weekly'])

    /** Ends only when the other one has begun. */
    function both(name: string): Schedule['run'] {
      return async () => {
        ran.push(name)
        await expect.poll(() => ran).toHaveLength(2)
        return { state: 'done', message: null }
      }
    }
  })

  it('keep reports waiting while a sync is due or runs, and let them go as soon as it is over', async () => {
    const steps: string[] = []
    const syncing = Promise.withResolvers<void>()
    const sync = scheduleOf({
      ...{ ...MINUTELY, name: 'sync', leaseName: 'sync' },
      run: async () => {
        steps.push('sync begins')
        await syncing.promise
        steps.push('sync ends')
        return { state: 'done', message: null }
      },
    })
    const report = scheduleOf({
      ...{ ...MINUTELY, name: 'report:daily', leaseName: 'report:daily' },
      run: async () => {
        steps.push('report')
        return { state: 'done', message: null }
      },
    })
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    const first = await startMachine(url, company, [report, sync])
    const second = await startMachine(url, company, [report, sync])
    await expect.poll(() => first.store.db.selectFrom('schedule_slot').selectAll().execute()).toHaveLength(2)
    await first.tick(at('01'))
    await expect.poll(() => steps).toEqual(['sync begins'])
    await second.queue.send('slot', { lease: 'report:daily' }, { key: 'report:daily' })
    await expect.poll(() => openJobs(second.store, 'report:daily')).toBe(0)
    expect(await slotsOf(first.store)).toEqual(['report:daily 07:01 due', 'sync 07:01 running'])
    syncing.resolve()
    await expect.poll(() => steps).toEqual(['sync begins', 'sync ends', 'report'])
  })

  it('ask for what is held once a minute, and not one report for the other', async () => {
    let asked = 0
    const schedules = ['report:daily', 'report:weekly'].map((name) =>
      scheduleOf({
        ...{ ...MINUTELY, name, leaseName: name },
        run: async () => {
          asked++
          return { state: 'held', message: 'the data are old' }
        },
      }),
    )
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    let told = 0
    const machine = await startMachine(url, company, schedules, () => told++)
    await expect
      .poll(() => machine.store.db.selectFrom('schedule_slot').selectAll().execute())
      .toHaveLength(2)
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
      ...{ ...MINUTELY, name: 'sync', leaseName: 'sync' },
      run: async (_due, _lease, signal) => {
        if (++runs > 1) return { state: 'done', message: null }
        begun.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        throw signal.reason
      },
    })
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    const first = await startMachine(url, company, [sync])
    await expect.poll(() => first.store.db.selectFrom('schedule_slot').selectAll().execute()).toHaveLength(1)
    await first.tick(at('01'))
    await begun.promise
    const second = await startMachine(url, company, [sync])
    const both = await listWorkers(second.store.db, company.now)
    expect(both.map(({ pid }) => pid)).toEqual([process.pid, process.pid])
    await first.stop()
    await expect.poll(() => slotsOf(second.store)).toEqual(['sync 07:01 done'])
    expect(await listWorkers(second.store.db, company.now)).toHaveLength(1)
    expect(await findLastSpan(second.store.db)).toMatchObject({ ended_at: null })
    await second.stop()
  })

  it('try again after a few seconds what a command by hand has in hand', async () => {
    const sync = scheduleOf({ ...MINUTELY, name: 'sync', leaseName: 'sync' })
    const [company, url] = [{ now: new Date(at('00')) }, await newStoreUrl()]
    const machine = await startMachine(url, company, [sync])
    await expect
      .poll(() => machine.store.db.selectFrom('schedule_slot').selectAll().execute())
      .toHaveLength(1)
    const byHand = await claimLease(machine.store, 'sync', () => company.now)
    await machine.tick(at('01'))
    await expect.poll(() => openJobs(machine.store, 'sync')).toBe(1)
    await byHand.release()
    await expect.poll(() => slotsOf(machine.store)).toEqual(['sync 07:01 done'])
  })
})

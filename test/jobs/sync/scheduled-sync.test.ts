// @both-stores
import { expect, it } from 'vitest'
import { noteScheduledRuns } from '../../../src/jobs/schedule/note-due-runs.ts'
import { runDue } from '../../../src/jobs/schedule/run-scheduled.ts'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import { type ScheduledSyncDeps, syncSchedule } from '../../../src/jobs/sync/scheduled-sync.ts'
import type { SyncOptions } from '../../../src/jobs/sync/sync-context.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { addScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { reportDeps } from '../../support/mail/reports.ts'
import { LATEST, scheduleOf, timing } from '../../support/schedule/schedule.ts'
import { openWorld, SILENT, SYNC_OPTIONS } from '../../support/syncing.ts'
import { type Fault, status } from '../../support/upstream.ts'

const NEVER = new AbortController().signal

/** Opens a sync that is due at 03:30, and returns its record after it has run. */
async function openNightly(faults: readonly Fault[], full: boolean, change: Partial<SyncOptions> = {}) {
  const { upstream, syncing } = await openWorld(20, { backoff: { attempts: 1, baseMs: 0, maxMs: 0 } })
  upstream.faults.push(...faults)
  const { store, source, clock } = syncing
  const now = (): Date => clock.now
  clock.now = new Date('2026-11-21T03:00:00Z')
  const options = { ...SYNC_OPTIONS, ...change }
  const work: ScheduledSyncDeps = {
    ...reportDeps(store, now),
    source,
    log: SILENT,
    publish: async () => {},
    timeZones: [],
    retention: { dailyAfterDays: 365 },
    syncOptions: () => options,
  }
  const settings = { name: full ? 'sync-full' : 'sync', timing: timing('30 3 * * *'), catchUp: LATEST }
  const schedule = { ...syncSchedule(work, { ...scheduleOf(settings), full }), runsAtFirstSight: false }
  const tick = async (time: string): Promise<void> => {
    clock.now = new Date(`2026-11-21T${time}:00Z`)
    await noteScheduledRuns(store, schedule, clock.now)
    await runDue({ store, log: SILENT, now }, schedule, NEVER)
  }
  await tick('03:00')
  return {
    store,
    upstream,
    tick,
    due_at: async () =>
      (await store.db.selectFrom('scheduled_run').selectAll().orderBy('due_at', 'desc').execute())[0],
    byHand: () => sync({ source, store, log: SILENT, now }, options),
  }
}

const STORIES: Readonly<Record<string, readonly [isFull: boolean, fault: Fault]>> = {
  'a full sync that met an upstream which was away': [true, status(503)],
  'a sync of changes that did': [false, status(503)],
  'a full sync whose key is refused': [true, status(401)],
  'a sync of changes that the upstream puts off': [false, status(429, { 'retry-after': '3600' })],
}

it('what becomes of a sync of 03:30 that does not come to its end at once', async () => {
  const lines: string[] = []
  for (const [name, [isFull, fault]] of Object.entries(STORIES)) {
    lines.push(name)
    const { upstream, tick, due_at } = await openNightly(Array(3).fill(fault), isFull)
    for (const time of ['03:30', '03:34', '03:35', '04:29', '04:30']) {
      upstream.requests.length = 0
      await tick(time)
      upstream.faults.length = 0
      const { state, attempts, not_before } = (await due_at()) ?? {}
      const after = upstream.requests.length > 0 ? 'after requests' : 'without a request'
      lines.push(`  ${time} ${after}: ${state}, attempts ${attempts}, not before ${not_before}`)
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/scheduled-sync.txt')
})

it('a sync by hand and one of the daemon never run beside each other', async () => {
  const nightly = await openNightly([], false)
  const lease = await claimLease(nightly.store, 'sync', () => new Date('2026-11-21T03:29:30Z'))
  await expect(nightly.tick('03:30')).rejects.toMatchObject({ code: 'job_busy' })
  await expect(nightly.byHand()).rejects.toMatchObject({
    message: expect.stringContaining(`A sync is already running: process ${process.pid}`),
  })
  await lease.release()
  await nightly.tick('03:31')
  expect(await nightly.due_at()).toMatchObject({ state: 'done' })
})

it('a sync reads details, and ends among them when a report comes due', async () => {
  const at = '2026-11-21T03:30:00.000Z'
  const report = { schedule: 'report:daily', due_at: at, noted_at: at, state: 'pending' } as const
  let noted: Promise<unknown> | undefined
  const onProgress: SyncOptions['onProgress'] = ({ part, done }) => {
    if (part !== 'details' || done !== 2) return
    noted = nightly.store.write((trx) => addScheduledRun(trx, { ...report, not_before: null, message: null }))
  }
  const nightly = await openNightly([], false, { details: { perRun: 20, concurrency: 1 }, onProgress })
  await nightly.tick('03:30')
  await noted
  const read = await nightly.store.db.selectFrom('lead_detail').select('lead_id').execute()
  expect(read.length).toBeGreaterThanOrEqual(2)
  expect(read.length).toBeLessThan(20)
})

// @both-stores
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import { enqueueReportNow } from '../../../src/jobs/reports/enqueue-report.ts'
import { retryLater } from '../../../src/jobs/schedule/job-failure.ts'
import type { Schedule } from '../../../src/jobs/schedule/schedule.ts'
import { approveScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { DAILY, recipient, reportDeps } from '../../support/mail/reports.ts'
import { timing } from '../../support/schedule/schedule.ts'
import { openTicking, type Ticking } from '../../support/schedule/ticking.ts'

const AN_HOUR = { timing: timing('0 * * * *') }
const DONE = { state: 'done', message: null } as const
const fail = (error: Error) => () => Promise.reject(error)
const FULL = fail(new LeadsheetError('data_unwritable', 'the disk is full'))
const HELD: Ticking['ends'] = async ({ isApproved }) =>
  isApproved ? DONE : { state: 'held', message: 'the data are old' }
const at = (time: string) => `2026-11-20T${time}Z`

/** The fate of a schedule that is due at 07:00, or each hour: its settings, how runs end, and what happens. */
const STORIES: Readonly<
  Record<string, readonly [Partial<Schedule>, Ticking['ends'], (ticking: Ticking) => Promise<unknown>]>
> = {
  'runs a scheduled run once, however often the clock ticks': [
    {},
    async () => DONE,
    async ({ tick }) => {
      for (const time of ['06:59:59', '07:00:00', '07:00:40', '07:01:00']) await tick(at(time))
    },
  ],
  'does not run again when the clock goes back, and loses nothing when it goes forth': [
    AN_HOUR,
    async () => DONE,
    async ({ tick }) => {
      const times = '07:00 06:30 06:59 07:00 07:30 10:30 07:31 08:00 10:00 11:00'
      for (const time of times.split(' ')) await tick(at(`${time}:00`))
    },
  ],
  'runs at once when it is first seen, if that is asked for': [
    { runsAtFirstSight: true },
    async () => DONE,
    async () => undefined,
  ],
  'fails, and is tried again after 5, 15 and 60 minutes where that may pass': [
    {},
    FULL,
    ({ live }) => live(at('09:00:00')),
  ],
  'fails, and is done when that passes': [
    {},
    (due) => (due.attempt < 3 ? FULL() : Promise.resolve(DONE)),
    ({ live }) => live(at('08:00:00')),
  ],
  'fails at once where it would only fail again: a template': [
    {},
    fail(new LeadsheetError('report_template', 'a template has a mistake')),
    ({ live }) => live(at('07:10:00')),
  ],
  'fails at once where it would only fail again: a bug': [
    {},
    fail(new TypeError('a bug')),
    ({ live }) => live(at('07:10:00')),
  ],
  'fails, and makes way for the next one': [
    AN_HOUR,
    ({ dueAt }) => (dueAt.getUTCHours() === 7 ? FULL() : Promise.resolve(DONE)),
    ({ live }) => live(at('08:01:00')),
  ],
  'keeps to what the upstream asks for, and to its window': [
    { catchUp: { policy: 'latest', windowHours: 2 } },
    async ({ attempt }) => {
      const [now, until] = attempt === 1 ? ['07:00', '08:30:00.000'] : ['08:30', '09:00:00.001']
      return retryLater('deferred', attempt, new Date(at(`${now}:00`)), at(until))
    },
    ({ live }) => live(at('09:02:00')),
  ],
  'is held, asked again each minute, and runs once it was let go': [
    {},
    HELD,
    async ({ live, store }) => {
      await live(at('07:02:00'))
      const held = store.db.updateTable('scheduled_run').where('state', '=', 'held')
      await held.set({ approved_at: 'now' }).execute()
      await live(at('07:03:00'))
    },
  ],
  'is held, and runs once it was let go, also if the next one has come meanwhile': [
    AN_HOUR,
    HELD,
    async ({ tick, store }) => {
      for (const time of ['07:00:00', '07:01:00', '07:59:00']) await tick(at(time))
      await store.write((trx) => approveScheduledRun(trx, 'report:daily', at('07:59:30.000')))
      await tick(at('08:00:00'))
    },
  ],
  'is held, and ends when the next one comes': [
    { ...AN_HOUR, catchUp: { policy: 'all', windowHours: 24 } },
    HELD,
    async ({ tick }) => {
      for (const time of ['07:00:00', '07:01:00', '08:00:00']) await tick(at(time))
    },
  ],
}

it('a schedule: what is run, and what is noted of it', async () => {
  const lines: string[] = []
  for (const [name, [settings, ends, happen]] of Object.entries(STORIES)) {
    await using ticking = await openTicking(settings)
    ticking.ends = ends
    await happen(ticking)
    lines.push(name, ...(await ticking.told()).map((line) => `  ${line}`))
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/schedule.txt')
})

describe('the lease of a schedule', () => {
  it('keeps a report from being sent by hand while the daemon makes it, and says who does', async () => {
    await using daily = await openTicking()
    const deps = reportDeps(daily.store, () => daily.clock.now)
    daily.ends = async ({ dueAt }) => {
      await expect(
        enqueueReportNow(deps, DAILY, [recipient('ana@example.com')], dueAt, new AbortController().signal),
      ).rejects.toMatchObject({
        message: expect.stringContaining(`A report daily is already running: process ${process.pid}`),
      })
      return { state: 'done', message: null }
    }
    await daily.tick('2026-11-20T07:00:00Z')
    expect(await daily.states()).toEqual(['06:30 skipped', '07:00 done'])
  })

  it('that was lost lets nothing more be noted of the scheduled run', async () => {
    await using daily = await openTicking()
    daily.ends = async () => {
      await daily.store.db
        .updateTable('lease')
        .where('name', '=', 'report:daily')
        .set({ holder: 'another' })
        .execute()
      return { state: 'done', message: null }
    }
    await expect(daily.tick('2026-11-20T07:00:00Z')).rejects.toMatchObject({ code: 'job_busy' })
    expect(await daily.states()).toEqual(['06:30 skipped', '07:00 running'])
  })
})

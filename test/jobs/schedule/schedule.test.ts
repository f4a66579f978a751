// @both-stores
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import { enqueueReportNow } from '../../../src/jobs/reports/enqueue-report.ts'
import { retryLater } from '../../../src/jobs/schedule/job-failure.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { approveScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { DAILY, recipient, reportDeps } from '../../support/mail/reports.ts'
import { timing } from '../../support/schedule/schedule.ts'
import { openTicking } from '../../support/schedule/ticking.ts'

const AN_HOUR = { timing: timing('0 * * * *') }

describe('a schedule', () => {
  it('runs a scheduled run once, however often the clock ticks', async () => {
    await using daily = await openTicking()
    for (const at of ['06:59:59Z', '07:00:00Z', '07:00:40Z', '07:01:00Z'])
      await daily.tick(`2026-11-20T${at}`)
    expect(daily.ran).toEqual([
      {
        dueAt: new Date('2026-11-20T07:00:00Z'),
        notedAt: new Date('2026-11-20T07:00:00Z'),
        attempt: 1,
        late: null,
        isApproved: false,
      },
    ])
  })

  it('does not run again when the clock goes back, and loses nothing when it goes forth', async () => {
    await using hourly = await openTicking(AN_HOUR)
    for (const at of [
      '07:00',
      '06:30',
      '06:59',
      '07:00',
      '07:30',
      '10:30',
      '07:31',
      '08:00',
      '10:00',
      '11:00',
    ])
      await hourly.tick(`2026-11-20T${at}:00Z`)
    expect(hourly.ran.map(({ dueAt }) => dueAt.getUTCHours())).toEqual([7, 10, 8, 11])
    expect(await hourly.states()).toEqual([
      '06:30 skipped',
      '07:00 done',
      '08:00 done',
      '09:00 skipped',
      '10:00 done',
      '11:00 done',
    ])
  })

  it('runs at once when it is first seen, if that is asked for', async () => {
    await using first = await openTicking({ runsAtFirstSight: true })
    expect(first.ran.map(({ dueAt }) => dueAt.toISOString())).toEqual(['2026-11-20T06:30:00.000Z'])
  })
})

describe('a scheduled run that fails', () => {
  const fail = async (): Promise<never> => {
    throw new LeadsheetError('data_unwritable', 'the disk is full')
  }

  it('is tried again after 5, 15 and 60 minutes where that may pass', async () => {
    await using daily = await openTicking()
    daily.ends = fail
    await daily.live('2026-11-20T09:00:00Z')
    expect(daily.ran.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4])
    expect((await daily.scheduledRuns()).at(-1)).toMatchObject({
      state: 'failed',
      attempts: 4,
      finished_at: '2026-11-20T08:20:00.000Z',
      message: 'the disk is full; tried 4 times',
    })
  })

  it('is done when it passes', async () => {
    await using daily = await openTicking()
    daily.ends = async (due) => (due.attempt < 3 ? fail() : { state: 'done', message: null })
    await daily.live('2026-11-20T09:00:00Z')
    expect(daily.ran.at(-1)).toMatchObject({
      attempt: 3,
      late: { from: '2026-11-20T07:00:00.000Z', why: 'waited' },
    })
    expect(await daily.states()).toEqual(['06:30 skipped', '07:00 done'])
  })

  it.each([new LeadsheetError('report_template', 'a template has a mistake'), new TypeError('a bug')])(
    'has failed at once where it would only fail again: %s',
    async (thrown) => {
      await using daily = await openTicking()
      daily.ends = () => Promise.reject(thrown)
      await daily.live('2026-11-20T08:30:00Z')
      expect(daily.ran).toHaveLength(1)
      expect((await daily.scheduledRuns()).at(-1)).toMatchObject({ state: 'failed', message: thrown.message })
    },
  )

  it('keeps to what the upstream asks for, and to its window', async () => {
    await using daily = await openTicking({ catchUp: { policy: 'latest', windowHours: 2 } })
    daily.ends = ({ attempt }) =>
      Promise.resolve(
        retryLater(
          'deferred',
          attempt,
          daily.clock.now,
          attempt === 1 ? '2026-11-20T08:30:00.000Z' : '2026-11-20T09:00:00.001Z',
        ),
      )
    await daily.live('2026-11-20T08:29:00Z')
    expect(daily.ran).toHaveLength(1)
    await daily.live('2026-11-20T09:02:00Z')
    expect(daily.ran).toHaveLength(2)
    expect((await daily.scheduledRuns()).at(-1)).toMatchObject({
      state: 'failed',
      message: 'deferred; more than 2 hours ago',
    })
  })

  it('makes way for the next one', async () => {
    await using hourly = await openTicking(AN_HOUR)
    hourly.ends = async ({ dueAt }) => (dueAt.getUTCHours() === 7 ? fail() : { state: 'done', message: null })
    await hourly.live('2026-11-20T08:01:00Z')
    expect(await hourly.states()).toEqual(['06:30 skipped', '07:00 skipped', '08:00 done'])
    expect((await hourly.scheduledRuns())[1]?.message).toBe(
      'given up when that of 2026-11-20 08:00 UTC came: the disk is full',
    )
  })
})

describe('a scheduled run that is held', () => {
  const held = async () => ({ state: 'held' as const, message: 'the data are old' })

  it('is asked again each minute, until it is skipped', async () => {
    await using daily = await openTicking()
    daily.ends = async ({ isApproved }) => (isApproved ? { state: 'done', message: null } : held())
    await daily.live('2026-11-20T07:02:00Z')
    expect(await daily.states()).toEqual(['06:30 skipped', '07:00 held'])
    await daily.store.db
      .updateTable('scheduled_run')
      .where('state', '=', 'held')
      .set({ approved_at: 'now' })
      .execute()
    await daily.live('2026-11-20T07:03:00Z')
    expect(daily.ran.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
    expect(await daily.states()).toEqual(['06:30 skipped', '07:00 done'])
  })

  it('runs once it was let go, also if the next one has come meanwhile', async () => {
    await using hourly = await openTicking(AN_HOUR)
    hourly.ends = async ({ isApproved }) => (isApproved ? { state: 'done', message: null } : held())
    await hourly.live('2026-11-20T07:59:00Z')
    const letGo = await hourly.store.write((trx) =>
      approveScheduledRun(trx, 'report:daily', '2026-11-20T07:59:30.000Z'),
    )
    expect(letGo).toMatchObject({ due_at: '2026-11-20T07:00:00.000Z' })
    await hourly.live('2026-11-20T08:00:00Z')
    expect(await hourly.states()).toEqual(['06:30 skipped', '07:00 done', '08:00 held'])
  })

  it('ends when the next one comes', async () => {
    await using hourly = await openTicking({ ...AN_HOUR, catchUp: { policy: 'all', windowHours: 24 } })
    hourly.ends = held
    await hourly.live('2026-11-20T08:00:00Z')
    expect(await hourly.states()).toEqual(['06:30 skipped', '07:00 skipped', '08:00 held'])
    expect((await hourly.scheduledRuns())[1]?.message).toBe(
      'held until that of 2026-11-20 08:00 UTC came: the data are old',
    )
  })
})

describe('the lease of a schedule', () => {
  it('keeps a second process from running the same, which is tried at the next tick', async () => {
    await using daily = await openTicking()
    daily.clock.now = new Date('2026-11-20T06:59:30Z')
    const lease = await claimLease(daily.store, 'report:daily', () => daily.clock.now)
    await expect(daily.tick('2026-11-20T07:00:00Z')).rejects.toMatchObject({
      code: 'job_busy',
      message: expect.stringContaining(`A report daily is already running: process ${process.pid}`),
    })
    expect(await daily.states()).toEqual(['06:30 skipped', '07:00 pending'])
    await lease.release()
    await daily.tick('2026-11-20T07:01:00Z')
    expect(await daily.states()).toEqual(['06:30 skipped', '07:00 done'])
  })

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

  it('is taken over from a process that was killed, and its scheduled run begun again', async () => {
    await using daily = await openTicking()
    daily.ends = async () => ({ state: 'again', message: 'stopped', notBefore: null })
    await daily.tick('2026-11-20T07:00:00Z')
    const dead = { name: 'report:daily', holder: 'h', host: 'elsewhere', pid: 1 }
    const times = { acquired_at: '2026-11-20T07:00:00.000Z', expires_at: '2999' }
    await daily.store.db
      .updateTable('scheduled_run')
      .where('state', '=', 'pending')
      .set({ state: 'running' })
      .execute()
    await daily.store.db
      .insertInto('lease')
      .values({ ...dead, ...times })
      .execute()
    daily.ends = async () => ({ state: 'done', message: null })
    await expect(daily.tick('2026-11-20T07:01:00Z')).rejects.toMatchObject({ code: 'job_busy' })
    await daily.store.db.updateTable('lease').set({ expires_at: '2000' }).execute()
    await daily.tick('2026-11-20T07:02:00Z')
    expect(daily.ran.map(({ attempt }) => attempt)).toEqual([1, 2])
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

// @both-stores
import { describe, expect, it } from 'vitest'
import { enqueueReportNow } from '../../../src/jobs/reports/enqueue-report.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { DAILY, recipient, reportDeps } from '../../support/mail/reports.ts'
import { openTicking } from '../../support/schedule/ticking.ts'

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

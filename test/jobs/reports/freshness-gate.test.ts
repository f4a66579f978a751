// @both-stores
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import {
  enqueueReportNow,
  reportSchedule,
  type ScheduledReportDeps,
} from '../../../src/jobs/reports/enqueue-report.ts'
import { checkFreshness, requireGoodData } from '../../../src/jobs/reports/freshness-gate.ts'
import type { GateSettings, Report } from '../../../src/jobs/reports/report-definition.ts'
import { judgeCounts } from '../../../src/jobs/reports/volume-anomaly.ts'
import { endAfterFailure } from '../../../src/jobs/schedule/job-failure.ts'
import { runDue } from '../../../src/jobs/schedule/run-scheduled.ts'
import type { DueRun, RunEnd } from '../../../src/jobs/schedule/schedule.ts'
import { SYNC_PARTS, sync } from '../../../src/jobs/sync/run-sync.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { addScheduledRun, listScheduledRuns } from '../../../src/store/schedule/scheduled-run.ts'
import { DAILY, recipient, reportDeps } from '../../support/mail/reports.ts'
import { dueAt, scheduleOf } from '../../support/schedule/schedule.ts'
import { IN_POSTGRES } from '../../support/store.ts'
import { openSyncing, SILENT } from '../../support/syncing.ts'
import { startUpstream, status } from '../../support/upstream.ts'

/** A run whose period is the day before, which ends at midnight. */
const SCHEDULED_RUN = new Date('2026-11-21T07:00:00Z')
const AFTERNOON = '2026-11-20T14:10:00Z'
const RECIPIENTS = [recipient('ana@example.com')]
const { signal } = new AbortController()
const at = (time: string) => new Date(`2026-11-21T${time}:00Z`)

/** Opens an upstream of 40 leads, all of which were read on the afternoon before. */
async function openWorld(gate: Partial<GateSettings> = {}) {
  // There are too few leads for claims about their times, which are all equal.
  const upstream = await startUpstream(40)
  const backoff = { attempts: 2, baseMs: 0, maxMs: 0 }
  const syncing = await openSyncing(upstream.url, 'test-key', { source: { maxWaitMs: 0, backoff } })
  onTestFinished(async () => {
    await syncing[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })
  const { store, source, clock } = syncing
  clock.now = new Date(AFTERNOON)
  const work: ScheduledReportDeps = {
    ...reportDeps(store, () => clock.now),
    source,
    log: SILENT,
    publish: async () => {},
    wake: () => {},
    syncOptions: (stop) => ({
      full: false,
      parts: SYNC_PARTS,
      pageSize: 100,
      overlapMs: 0,
      pipelineIds: [],
      signal: stop,
    }),
  }
  await sync(work, work.syncOptions(signal))
  const report: Report = { ...DAILY, gate: { ...DAILY.gate, ...gate } }
  const schedule = reportSchedule(work, report, { ...scheduleOf(), recipients: RECIPIENTS })
  return {
    upstream,
    store,
    work,
    report,
    clock,
    /** Runs the scheduled report at a time. */
    async run(now: Date, due: Partial<DueRun> = {}): Promise<RunEnd> {
      clock.now = now
      const lease = await claimLease(store, 'report:daily', () => now)
      try {
        return await schedule.run({ ...dueAt(SCHEDULED_RUN), ...due }, lease, signal)
      } finally {
        await lease.release()
      }
    },
    /** Returns the message of the sent issue. */
    async message() {
      const sent = await store.db.selectFrom('report_issue').select('id').executeTakeFirstOrThrow()
      const [delivery] = await listDeliveries(store.db, sent.id)
      return readMessage(store.db, delivery?.messageId ?? '')
    },
    /** Notes that the report is due at the time of its run. */
    async note(): Promise<void> {
      const at = SCHEDULED_RUN.toISOString()
      const due = { schedule: 'report:daily', due_at: at, noted_at: at, state: 'pending' } as const
      await store.write((trx) => addScheduledRun(trx, { ...due, not_before: null, message: null }))
    },
    /** Runs what is due at a time, and returns what was noted of it. */
    async runDueAt(now: Date) {
      clock.now = now
      await runDue({ store, log: SILENT, now: () => now }, schedule, signal)
      return (await listScheduledRuns(store.db, 1))[0]
    },
    countIssues: async () => (await store.db.selectFrom('report_issue').select('id').execute()).length,
    fail: (code: number, headers: Record<string, string> = {}) =>
      void upstream.faults.splice(0, upstream.faults.length, ...Array(100).fill(status(code, headers))),
    fix: () => void upstream.faults.splice(0),
  }
}

describe('a report whose data do not cover its period', () => {
  it('waits, asks the upstream no oftener than each five minutes, and is made of what that brings', async () => {
    const world = await openWorld()
    world.fail(503)
    const asked = world.upstream.requests.length
    expect(await world.run(at('07:00'))).toMatchObject({
      state: 'again',
      isWait: true,
      notBefore: '2026-11-21T07:05:00.000Z',
      message: expect.stringMatching(
        /^waits until 2026-11-21 07:30 UTC for data: the leads are of 2026-11-20 14:10 UTC, the report ends 2026-11-21 00:00 UTC; the last sync: .*503/,
      ),
    })
    const tried = world.upstream.requests.length
    expect(tried).toBeGreaterThan(asked)
    expect(await world.run(at('07:03'))).toMatchObject({ state: 'again' })
    expect(world.upstream.requests).toHaveLength(tried)
    expect(await world.countIssues()).toBe(0)
    world.fix()
    expect(await world.run(at('07:05'))).toMatchObject({ state: 'done' })
    const { subject, text } = await world.message()
    expect(subject).not.toContain('data ends')
    // The scan that began at 07:00 went on.
    expect(text).toContain('Data of 07:00.')
    expect(text).not.toContain('The data ends')
  })

  it('waits from when it was seen to be due, and no longer than the settings say', async () => {
    const world = await openWorld({ waitMinutes: 10 })
    world.fail(503)
    const due = { notedAt: at('09:10') }
    expect(await world.run(at('09:16'), due)).toMatchObject({ notBefore: '2026-11-21T09:20:00.000Z' })
    expect(await world.run(at('09:20'), due)).toMatchObject({ state: 'done' })
  })

  it('waits no longer than up to its next scheduled run, which would end it', async () => {
    const world = await openWorld()
    world.fail(503)
    const pass = (minutes: number) => {
      world.clock.now = at('07:00')
      const next = new Date(SCHEDULED_RUN.getTime() + minutes * 60_000)
      return checkFreshness(world.work, world.report, RECIPIENTS, dueAt(SCHEDULED_RUN), next, signal)
    }
    expect(await pass(4)).toMatchObject({ notBefore: '2026-11-21T07:03:00.000Z' })
    expect(await pass(1)).toBeNull()
  })

  it('goes out after that, and says first that its data are old, and then why (row 6)', async () => {
    const world = await openWorld()
    world.fail(503)
    await world.run(at('07:00'))
    const late = { from: '2026-11-21T07:00:00.000Z', to: '2026-11-21T07:30:00.000Z', why: 'waited' } as const
    expect(await world.run(at('07:30'), { late })).toMatchObject({
      state: 'done',
      message: expect.stringContaining('Daily leads, Fri 20 Nov: data ends 14:10'),
    })
    const { subject, text } = await world.message()
    expect(subject).toMatch(/^Daily leads, Fri 20 Nov: data ends 14:10, \d+ new so far$/)
    const said = text.replace(/\s+/g, ' ')
    expect(said).toMatch(
      /^Daily leads · Friday, 20 November 2026 The data ends Fri 20 Nov, 14:10: .* up to then\./,
    )
    expect(said).toMatch(
      /The sync at .* did not finish: the service could not be reached, or kept failing\. Sent late: it had to wait from 07:00 to 07:30\./,
    )
  })

  it('says for which days before it no report was made', async () => {
    const world = await openWorld()
    const states = ['skipped', 'done', 'skipped', 'failed', 'skipped'] as const
    const rows = states.map((state, index) => ({
      schedule: 'report:daily',
      due_at: `2026-11-${16 + index}T07:00:00.000Z`,
      state,
      noted_at: '2026-11-21T06:00:00.000Z',
      attempts: 0,
    }))
    await world.store.write((trx) => trx.insertInto('scheduled_run').values(rows).execute())
    expect(await world.run(at('07:00'))).toMatchObject({ state: 'done' })
    expect((await world.message()).text.replace(/\s+/g, ' ')).toContain(
      'No report was made for Tue 17 Nov, Wed 18 Nov and Thu 19 Nov.',
    )
  })

  it('is held until they do, or skipped, where the settings say so', async () => {
    const world = await openWorld({ onStaleData: 'hold' })
    world.fail(503)
    await world.run(at('07:00'))
    const held = await world.run(at('07:31'))
    const message = expect.stringContaining('leads are of 2026-11-20 14:10 UTC, the report ends 2026-11-21')
    expect(held).toMatchObject({ state: 'held', message })
    const skipping = { ...world.report, gate: { ...world.report.gate, onStaleData: 'skip' as const } }
    expect(
      await checkFreshness(world.work, skipping, RECIPIENTS, dueAt(SCHEDULED_RUN), null, signal),
    ).toMatchObject({ state: 'skipped', message })
    expect(await world.countIssues()).toBe(0)
    world.fix()
    expect(await world.run(at('07:46'))).toMatchObject({ state: 'done' })
    expect((await world.message()).subject).toMatch(/^Daily leads/)
  })

  it('goes on as soon as a sync of another process has brought them, or that was killed', async () => {
    const world = await openWorld()
    await sql`INSERT INTO sync_run (id, started_at, mode, parts, outcome)
      VALUES ('other', '2026-11-21T06:59:30.000Z', 'incremental', '["leads"]', NULL)`.execute(world.store.db)
    world.clock.now = at('07:00')
    const other = await claimLease(world.store, 'sync', () => world.clock.now)
    expect(await world.run(at('07:00'))).toMatchObject({ state: 'again', isWait: true, notBefore: null })
    await other.release()
    expect(await world.run(at('07:01'))).toMatchObject({ state: 'done' })
  })

  it('asks nothing before the time that the upstream has named', async () => {
    const world = await openWorld({ waitMinutes: 60 })
    world.fail(429, { 'retry-after': '2400' })
    expect(await world.run(at('07:00'))).toMatchObject({ notBefore: '2026-11-21T07:40:00.000Z' })
    const tried = world.upstream.requests.length
    await world.run(at('07:39'))
    expect(world.upstream.requests).toHaveLength(tried)
  })

  it('waits for the agents and the statistics too, if it shows them', async () => {
    const world = await openWorld({ onStaleData: 'hold' })
    const { db } = world.store
    await sql`INSERT INTO agent (id, name, status, observed_at, raw) VALUES ('a1', 'Scout', 'idle', ${AFTERNOON}, '{}')`.execute(
      db,
    )
    await sql`UPDATE sync_run SET agents = 1`.execute(db)
    await sql`INSERT INTO sync_run (id, started_at, mode, parts, outcome, leads_as_of, finished_at)
      VALUES ('later', '2026-11-21T06:45:00.000Z', 'incremental', '["leads","stats","agents"]', 'partial',
        '2026-11-21T06:45:00.000Z', '2026-11-21T06:46:00.000Z')`.execute(db)
    world.fail(503)
    const blocks = ['headline', 'kpis'] as const
    const due = { ...dueAt(SCHEDULED_RUN), notedAt: at('06:00') }
    world.clock.now = at('07:00')
    const without = { ...world.report, blocks }
    const readers = [recipient('ana@example.com', { blocks })]
    expect(await checkFreshness(world.work, without, readers, due, null, signal)).toBeNull()
    const held = await checkFreshness(world.work, without, RECIPIENTS, due, null, signal)
    expect(held).toEqual({
      state: 'held',
      message: expect.stringMatching(/^the agents are of 2026-11-20 14:10 UTC, the report ends/),
    })
  })

  it('that is sent by hand waits for nothing, and is refused where the settings hold it', async () => {
    const world = await openWorld()
    await expect(
      requireGoodData(world.work, world.report, RECIPIENTS, SCHEDULED_RUN),
    ).resolves.toBeUndefined()
    for (const [onStaleData, state] of [
      ['hold', 'held'],
      ['skip', 'skipped'],
    ] as const) {
      const report = { ...world.report, gate: { ...world.report.gate, onStaleData } }
      await expect(requireGoodData(world.work, report, RECIPIENTS, SCHEDULED_RUN)).rejects.toMatchObject({
        code: 'report_held',
        message: expect.stringContaining(
          `The report daily is ${state} as its settings say: the leads are of`,
        ),
        hint: expect.stringContaining('Run `npx leadsheet sync` first'),
      })
    }
  })
})

describe('a report about far fewer leads than before', () => {
  const counts = (now: number, last: number | null, ...scans: [leads: number, heldBack?: number][]) =>
    judgeCounts({
      now: { leads: now, filter: EVERY_LEAD },
      last: last === null ? null : { leads: last, filter: EVERY_LEAD },
      scans: scans.map(([leads, heldBack = 0]) => ({ leads, heldBack, pages: 1 })),
    })

  it.each([
    ['as many', counts(3000, 3000, [3000], [3000]), []],
    ['the first one', counts(0, null), []],
    ['none after few', counts(0, 49, [0], [49]), []],
    ['none after many', counts(0, 3000), [{ what: 'scope', was: 3000, is: 0 }]],
    ['half', counts(25, 50), [{ what: 'scope', was: 50, is: 25 }]],
    ['a few more than half', counts(26, 50), []],
    ['a list of none after thousands', counts(3000, 3000, [0], [3000]), [{ what: 'scan', was: 3000, is: 0 }]],
    ['a list that is whole again', counts(3000, 3000, [3000], [0]), []],
    [
      'absences that were not believed',
      counts(3000, 3000, [2000, 1000], [3000]),
      [{ what: 'deletion', was: 3000, is: 2000 }],
    ],
  ])('%s', (_, found, expected) => {
    expect(found).toMatchObject(expected)
    expect(found).toHaveLength(expected.length)
  })

  it('is not compared with one of other leads', () => {
    const filter = { pipelineIds: ['eu'], conditions: [] }
    const last = { leads: 3000, filter: EVERY_LEAD }
    expect(judgeCounts({ now: { leads: 3, filter }, last, scans: [] })).toEqual([])
  })

  it('says so in the subject and the headline', async () => {
    const world = await openWorld()
    expect(await world.run(SCHEDULED_RUN)).toMatchObject({ state: 'done' })
    for (const id of [...world.upstream.leads.keys()].slice(20)) world.upstream.leads.delete(id)
    const next = new Date('2026-11-22T07:00:00Z')
    world.clock.now = next
    await sync(world.work, { ...world.work.syncOptions(signal), full: true })
    expect(await world.run(next, { ...dueAt(next), isApproved: true })).toMatchObject({ state: 'done' })
    const issues = world.store.db.selectFrom('report_issue').orderBy('period_to', 'desc')
    const [issue] = await issues.select(['subject', 'text']).execute()
    expect(issue?.subject).toBe('Daily leads, Sat 21 Nov: check the data, 20 leads of 40')
    expect(issue?.text.replace(/\s+/g, ' ')).toMatch(
      /^Daily leads · Saturday, 21 November 2026 The last whole reading of the service listed only 20 of 40 leads\./,
    )
  })
})

describe('a report of which something cannot be read', () => {
  it('goes out with that said in its place', async () => {
    const world = await openWorld()
    world.clock.now = SCHEDULED_RUN
    await sync(world.work, world.work.syncOptions(signal))
    await sql`UPDATE sync_scan_result SET drift = '{'`.execute(world.store.db)
    expect(await world.run(SCHEDULED_RUN)).toMatchObject({ state: 'done' })
    const { text } = await world.message()
    expect(text.replace(/\s+/g, ' ')).toContain('A part of this report could not be made: Data quality.')
    expect(text).toContain('DATA QUALITY\nThis part could not be made;')
    expect(text).toContain(IN_POSTGRES ? 'invalid input syntax for type json' : 'malformed JSON')
  })

  it('goes out without the file that it would have filled, and says so', async () => {
    const world = await openWorld()
    world.clock.now = SCHEDULED_RUN
    await sync(world.work, world.work.syncOptions(signal))
    const query = { name: 'mine', title: 'Mine', note: null, place: 'mine/report.yaml:3:10' }
    const sql = 'SELECT abs(min(-9223372036854775807 - 1)) AS much FROM lead'
    const report = { ...world.report, queries: [{ ...query, sql }] }
    const ana = recipient('ana@example.com', { attachments: ['mine.csv', 'stalled.csv'] })
    await enqueueReportNow(world.work, report, [ana], SCHEDULED_RUN, signal)
    const { text, files } = await world.message()
    expect(files.filter(({ cid }) => cid === null).map(({ name }) => name)).toEqual([
      'daily-stalled-2026-11-20.csv',
    ])
    const said = text.replace(/\s+/g, ' ')
    expect(said).toContain('A part of this report could not be made: Mine.')
    expect(said).toContain('Not attached, because it could not be made: mine.csv.')
    expect(said).toContain(`Reason: mine/report.yaml:3:10 query mine: integer overflow`)
  })

  it('is not sent without its core numbers, tried again, and sent when they can be read', async () => {
    const world = await openWorld()
    const { store, work, clock } = world
    clock.now = SCHEDULED_RUN
    await sync(work, work.syncOptions(signal))
    await world.note()
    await sql`ALTER TABLE lead_day RENAME TO lead_day_away`.execute(store.db)
    expect(await world.runDueAt(SCHEDULED_RUN)).toMatchObject({
      state: 'pending',
      not_before: '2026-11-21T07:05:00.000Z',
      message: expect.stringMatching(/^The numbers of the report cannot be read: .*lead_day/),
    })
    expect(await world.countIssues()).toBe(0)
    await sql`ALTER TABLE lead_day_away RENAME TO lead_day`.execute(store.db)
    expect(await world.runDueAt(at('07:05'))).toMatchObject({ state: 'done', attempts: 2 })
  })

  it('does not wait at the cost of its tries, neither for data nor for another process', async () => {
    expect(endAfterFailure(new LeadsheetError('job_busy', 'taken'), 1, SCHEDULED_RUN)).toMatchObject({
      isWait: true,
    })
    const world = await openWorld()
    await world.note()
    world.fail(503)
    for (const time of ['07:00', '07:05', '07:10'])
      expect(await world.runDueAt(at(time))).toMatchObject({ state: 'pending', attempts: 0 })
  })
})

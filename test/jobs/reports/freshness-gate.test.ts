// @both-stores
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
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
import type { DueRun } from '../../../src/jobs/schedule/schedule.ts'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { listDeliveries } from '../../../src/store/outbox/delivery.ts'
import { readMessage } from '../../../src/store/outbox/stored-message.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { listScheduledRuns } from '../../../src/store/schedule/scheduled-run.ts'
import { noteRun } from '../../support/data/operation.ts'
import { DAILY, recipient, reportDeps } from '../../support/mail/reports.ts'
import { dueAt, scheduleOf } from '../../support/schedule/schedule.ts'
import { openWorld as openCopy, SILENT, SYNC_OPTIONS } from '../../support/syncing.ts'
import { status } from '../../support/upstream.ts'

/** A run whose period is the day before, which ends at midnight. */
const SCHEDULED_RUN = new Date('2026-11-21T07:00:00Z')
const AFTERNOON = '2026-11-20T14:10:00Z'
const RECIPIENTS = [recipient('ana@example.com')]
const { signal } = new AbortController()
const at = (time: string) => new Date(`2026-11-21T${time}:00Z`)

/** The words that were told in the state of a golden file, line by line. */
let told: string[] = []

/** Opens an upstream of 40 leads, all of which were read on the afternoon before. */
async function openWorld(gate: Partial<GateSettings> = {}) {
  // There are too few leads for claims about their times, which are all equal.
  const backoff = { attempts: 2, baseMs: 0, maxMs: 0 }
  const { upstream, syncing } = await openCopy(40, { maxWaitMs: 0, backoff })
  const { store, source, clock } = syncing
  clock.now = new Date(AFTERNOON)
  const work: ScheduledReportDeps = {
    ...reportDeps(store, () => clock.now),
    source,
    log: SILENT,
    publish: async () => {},
    wake: () => {},
    syncOptions: (stop) => ({ ...SYNC_OPTIONS, signal: stop }),
  }
  await sync(work, work.syncOptions(signal))
  const report: Report = { ...DAILY, gate: { ...DAILY.gate, ...gate } }
  const schedule = reportSchedule(work, report, { ...scheduleOf(), recipients: RECIPIENTS })
  /** Tells what became of a report, and whether the upstream was asked. */
  async function tell(when: string, work: () => Promise<object | null>): Promise<void> {
    const asked = upstream.requests.length
    const end = Object.entries((await work()) ?? { state: 'not held up' })
    const text = end.map(([name, value]) => `${name} ${value}`).join(', ')
    const isAsked = upstream.requests.length > asked
    told.push(`  ${when}${isAsked ? ', after a request' : ''}: ${text.replaceAll(upstream.url, 'UPSTREAM')}`)
  }
  return {
    upstream,
    store,
    work,
    report,
    clock,
    tell,
    /** Runs the scheduled report at a time. */
    run: (now: Date, due: Partial<DueRun> = {}) =>
      tell(now.toISOString().slice(11, 16), async () => {
        clock.now = now
        const lease = await claimLease(store, 'report:daily', () => now)
        try {
          return await schedule.run({ ...dueAt(SCHEDULED_RUN), ...due }, lease, signal)
        } finally {
          await lease.release()
        }
      }),
    /** Judges the data of a report with changed settings at 07:00. */
    judge: (when: string, change: Partial<Report>, next: Date | null = null, readers = RECIPIENTS) =>
      tell(when, () => {
        clock.now = SCHEDULED_RUN
        return checkFreshness(work, { ...report, ...change }, readers, dueAt(SCHEDULED_RUN), next, signal)
      }),
    /** Returns the message of the sent issue. */
    async message() {
      const sent = await store.db.selectFrom('report_issue').select('id').executeTakeFirstOrThrow()
      const [delivery] = await listDeliveries(store.db, sent.id)
      return readMessage(store.db, delivery?.messageId ?? '')
    },
    /** Tells the issues in the archive, up to the first title of a block. */
    async tellIssues(): Promise<void> {
      const issues = await store.db.selectFrom('report_issue').orderBy('period_to').selectAll().execute()
      told.push(`  issues: ${issues.length}`)
      for (const { subject, text } of issues) {
        const [head = ''] = `Subject: ${subject}\n${text}`.split(/\n\n[A-Z0-9 ]{5,}\n/)
        told.push(head.replaceAll(/^(?=.)/gm, '    '))
      }
    },
    /** Notes that the report is due at the time of its run. */
    note: () =>
      noteRun(store, { schedule: 'report:daily', due_at: SCHEDULED_RUN.toISOString(), state: 'pending' }),
    /** Runs what is due at a time, and returns what was noted of it. */
    async runDueAt(now: Date) {
      clock.now = now
      await runDue({ store, log: SILENT, now: () => now }, schedule, signal)
      return (await listScheduledRuns(store.db, 1))[0]
    },
    fail: (code: number, headers: Record<string, string> = {}) =>
      void upstream.faults.splice(0, upstream.faults.length, ...Array(100).fill(status(code, headers))),
    fix: () => void upstream.faults.splice(0),
  }
}

/** The fate of a report, which by default waits for half an hour and goes out then. */
const STORIES: Readonly<Record<string, () => Promise<void>>> = {
  'waits, asks the upstream no oftener than each five minutes, and is made of what that brings': async () => {
    const { fail, run, fix, tellIssues } = await openWorld()
    fail(503)
    await run(at('07:00'))
    await run(at('07:03'))
    await tellIssues()
    fix()
    await run(at('07:05'))
    // The scan that began at 07:00 went on.
    await tellIssues()
  },
  'waits from when it was seen to be due, and no longer than the settings say': async () => {
    const { fail, run } = await openWorld({ waitMinutes: 10 })
    fail(503)
    await run(at('09:16'), { notedAt: at('09:10') })
    await run(at('09:20'), { notedAt: at('09:10') })
  },
  'waits no longer than up to its next scheduled run, which would end it': async () => {
    const { fail, judge } = await openWorld()
    fail(503)
    for (const minute of ['07:04', '07:01']) await judge(`the next is due at ${minute}`, {}, at(minute))
  },
  'goes out after that, and says first that its data are old, and then why': async () => {
    const { fail, run, tellIssues } = await openWorld()
    fail(503)
    await run(at('07:00'))
    const late = {
      from: '2026-11-21T07:00:00.000Z',
      to: '2026-11-21T07:30:00.000Z',
      why: 'waited',
    } as const
    await run(at('07:30'), { late })
    await tellIssues()
  },
  'says for which days before it no report was made': async () => {
    const { store, run, tellIssues } = await openWorld()
    const states = ['skipped', 'done', 'skipped', 'failed', 'skipped'] as const
    for (const [index, state] of states.entries())
      await noteRun(store, {
        schedule: 'report:daily',
        due_at: `2026-11-${16 + index}T07:00:00.000Z`,
        state,
        noted_at: '2026-11-21T06:00:00.000Z',
      })
    await run(at('07:00'))
    await tellIssues()
  },
  'is held until they do, or skipped, where the settings say so': async () => {
    const { fail, run, judge, fix, tellIssues, report } = await openWorld({ onStaleData: 'hold' })
    fail(503)
    await run(at('07:00'))
    await run(at('07:31'))
    const gate = { ...report.gate, waitMinutes: 0, onStaleData: 'skip' } as const
    await judge('where it is skipped', { gate })
    await tellIssues()
    fix()
    await run(at('07:46'))
    await tellIssues()
  },
  'goes on as soon as a sync of another process has brought them, or that was killed': async () => {
    const { store, clock, run } = await openWorld()
    await sql`INSERT INTO sync_run (id, started_at, mode, parts, outcome)
      VALUES ('other', '2026-11-21T06:59:30.000Z', 'incremental', '["leads"]', NULL)`.execute(store.db)
    clock.now = at('07:00')
    const other = await claimLease(store, 'sync', () => clock.now)
    await run(at('07:00'))
    await other.release()
    await run(at('07:01'))
  },
  'asks nothing before the time that the upstream has named': async () => {
    const { fail, run } = await openWorld({ waitMinutes: 60 })
    fail(429, { 'retry-after': '2400' })
    await run(at('07:00'))
    await run(at('07:39'))
  },
  'waits for the agents and the statistics too, if it shows them': async () => {
    const {
      store: { db },
      fail,
      judge,
    } = await openWorld({ onStaleData: 'hold', waitMinutes: 0 })
    await sql`INSERT INTO agent (id, name, status, observed_at, raw) VALUES ('a1', 'Scout', 'idle', ${AFTERNOON}, '{}')`.execute(
      db,
    )
    await sql`UPDATE sync_run SET agents = 1`.execute(db)
    await sql`INSERT INTO sync_run (id, started_at, mode, parts, outcome, leads_as_of, finished_at)
      VALUES ('later', '2026-11-21T06:45:00.000Z', 'incremental', '["leads","stats","agents"]', 'partial',
        '2026-11-21T06:45:00.000Z', '2026-11-21T06:46:00.000Z')`.execute(db)
    fail(503)
    const blocks = ['headline', 'kpis'] as const
    await judge('without them', { blocks }, null, [recipient('ana@example.com', { blocks })])
    await judge('with them for a recipient', { blocks })
  },
  'waits for nothing where it is sent by hand, and is refused where the settings hold it': async () => {
    const { work, report, tell } = await openWorld()
    for (const onStaleData of ['send', 'hold', 'skip'] as const)
      await tell(onStaleData, () => {
        const gate = { ...report.gate, onStaleData }
        return requireGoodData(work, { ...report, gate }, RECIPIENTS, SCHEDULED_RUN).then(
          () => null,
          ({ code, message, hint }: LeadsheetError) => ({ code, message, hint }),
        )
      })
  },
  'says in its subject and headline that there are far fewer leads than before': async () => {
    const { upstream, clock, work, run, tellIssues } = await openWorld()
    await run(SCHEDULED_RUN)
    for (const id of [...upstream.leads.keys()].slice(20)) upstream.leads.delete(id)
    const next = new Date('2026-11-22T07:00:00Z')
    clock.now = next
    await sync(work, { ...work.syncOptions(signal), full: true })
    await run(next, { ...dueAt(next), isApproved: true })
    await tellIssues()
  },
}

it('a report whose data do not cover its period, or are doubtful', async () => {
  told = []
  for (const [title, tell] of Object.entries(STORIES)) {
    told.push(`It ${title}`)
    await tell()
    told.push('')
  }
  await expect(told.join('\n')).toMatchFileSnapshot('golden/freshness-gate.txt')
})

describe('a report about far fewer leads than before', () => {
  const every = (leads: number) => ({ leads, filter: EVERY_LEAD })
  const counts = (now: number, last: number | null, ...scans: [leads: number, heldBack?: number][]) =>
    judgeCounts({
      now: every(now),
      last: last === null ? null : every(last),
      scans: scans.map(([leads, heldBack = 0]) => ({ leads, heldBack, pages: 1 })),
    })
  const others = { leads: 3, filter: { pipelineIds: ['eu'], conditions: [] } }

  it.each([
    ['as many', counts(3000, 3000, [3000], [3000]), []],
    ['the first one', counts(0, null), []],
    ['none after few', counts(0, 49, [0], [49]), []],
    ['none after many', counts(0, 3000), [{ what: 'scope', was: 3000, is: 0 }]],
    ['one of other leads', judgeCounts({ now: others, last: every(3000), scans: [] }), []],
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
})

describe('a report of which something cannot be read', () => {
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
    expect(await world.store.db.selectFrom('report_issue').select('id').execute()).toEqual([])
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

// @both-stores
/** Every check for operators: it reports its problem, and nothing where there is no problem. */

import { statfsSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createViolationWatch, type Installation, type Knowledge, readFacts } from '../../src/checks/check.ts'
import { ALERTING_IDS, CHECKS, type CheckId, type Found, findForAlerts } from '../../src/checks/run-checks.ts'
import type { FailedSection } from '../../src/domain/figures.ts'
import type { ScanResult, SyncOutcome, SyncProblem } from '../../src/domain/sync.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { messageFor } from '../../src/jobs/outbox/compose-message.ts'
import { fileOf } from '../../src/store/db/place.ts'
import type { Store } from '../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../src/store/leads/quarantined-record.ts'
import { type MailOutage, saveMailOutage } from '../../src/store/outbox/send-limits.ts'
import { saveIssue } from '../../src/store/reports/issue.ts'
import { type Preference, savePreference } from '../../src/store/reports/preference.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import {
  addScheduledRun,
  finishScheduledRun,
  type ScheduledRun,
} from '../../src/store/schedule/scheduled-run.ts'
import { finishRun, noteLeadsAsOf, startRun } from '../../src/store/sync/sync-run.ts'
import { saveNotBefore, saveScanResult } from '../../src/store/sync/watermark.ts'
import { folderWith } from '../support/folder.ts'
import { CONTENT } from '../support/mail/ledger.ts'
import { enqueueMessage, SENDER } from '../support/mail/message.ts'
import { busyDay } from '../support/reports/figures.ts'
import { IN_POSTGRES, openEmptyStore } from '../support/store.ts'
import { bareInstallation, factsOf } from '../support/web/installation.ts'

const NOW = new Date('2026-11-21T12:00:00Z')
const HOUR_MS = 3_600_000

let store: Store
let installation: Installation
let findViolations: NonNullable<Knowledge['findViolations']>
const unexpected = (thrown: unknown): void => {
  throw thrown
}

beforeEach(async () => {
  store = await openEmptyStore()
  installation = bareInstallation(store, {
    reports: ['daily'],
    mailServer: 'smtp://mail.example.com:587',
  })
  findViolations = async () => []
})
afterEach(() => store.close())

type Change = Partial<Installation> &
  Pick<Knowledge, 'clockAheadMs' | 'clockDoubt' | 'lastFault' | 'snapshotFault'>

async function runAll(change: Change, now: Date, onFailure = unexpected) {
  const { clockAheadMs = () => 0, clockDoubt = () => null, lastFault = () => null } = change
  const { snapshotFault = () => null, ...changed } = change
  const facts = readFacts(
    { ...installation, ...changed },
    { clockAheadMs, clockDoubt, lastFault, snapshotFault, findViolations, isDaemon: true },
    now,
  )
  return findForAlerts(facts, onFailure)
}

async function find(change: Change = {}, now = NOW): Promise<readonly Found[]> {
  const { findings, unknown } = await runAll(change, now)
  expect([...unknown]).toEqual([])
  return findings
}

async function reasons(change: Change = {}, now = NOW): Promise<string[]> {
  return (await find(change, now)).map(({ check, subject }) => (subject ? `${check} ${subject}` : check))
}

async function the(check: CheckId, change: Change = {}): Promise<Found> {
  const found = (await find(change)).filter((finding) => finding.check === check)
  expect(found).toHaveLength(1)
  return found[0] as Found
}

function hoursAgo(hours: number): string {
  return new Date(NOW.getTime() - hours * HOUR_MS).toISOString()
}

const UNREACHABLE = problem('api_unreachable', 'https://leads.example.com answered 503 to 5 attempts')

function problem(code: string, message: string): SyncProblem {
  return { part: 'leads', code, message, hint: 'look there' }
}

/** Saves a run that began so many hours ago. Without a problem it is complete. */
async function run(
  hours: number,
  outcome: SyncOutcome,
  problems: readonly SyncProblem[] = [],
  scan: Partial<ScanResult> | null = problems.length === 0 ? {} : null,
): Promise<string> {
  const at = hoursAgo(hours)
  return store.write(async (trx) => {
    const runId = await startRun(trx, { mode: 'full', parts: ['leads'], at })
    if (problems.length === 0) await noteLeadsAsOf(trx, runId, at, 0)
    const counts = { seen: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0 }
    const none = { stats: 0, agents: 0, details: { read: 0, notFound: 0, failed: 0 }, pages: 0 }
    await finishRun(
      trx,
      {
        runId,
        outcome,
        complete: problems.length === 0,
        leads: counts,
        scan: null,
        ...none,
        requests: 1,
        retries: 0,
        durationMs: 1000,
        problems,
        notBefore: null,
      },
      at,
    )
    if (scan !== null) {
      const zero = { reportedTotal: null, pages: 1, passes: 1, moved: 0, cleaned: 0, cut: 0, heldBack: 0 }
      const whole = {
        mode: 'full',
        startedAt: at,
        result: 'complete',
        stop: 'end',
        distinct: 0,
      } as const
      await saveScanResult(trx, runId, { ...whole, ...zero, warnings: [], drift: [], ...scan }, at)
    }
    return runId
  })
}

it('there is nothing to find in an empty store, nor in one that is in order', async () => {
  expect(await reasons()).toEqual([])
  await run(0.5, 'ok', [], { distinct: 1000 })
  await run(0.2, 'ok_no_change', [], { distinct: 1000 })
  expect(await reasons()).toEqual([])
})

it('each check that is shown in alerts says when it opens one, and no other does', () => {
  for (const [id, { alert }] of Object.entries(CHECKS))
    expect(alert !== undefined).toBe(ALERTING_IDS.some((each) => each === id))
})

it('a check that fails leaves its alerts as they are, and the others found', async () => {
  await run(30, 'ok')
  await sql`DROP TABLE quarantined_record`.execute(store.db)
  const failed: unknown[] = []
  const { findings, unknown } = await runAll({}, NOW, (thrown) => failed.push(thrown))
  expect(failed).toHaveLength(1)
  expect(findings.map(({ check }) => check)).toEqual(['sync_late'])
  expect([...unknown]).toEqual(['records_quarantined'])
})

describe('syncs', () => {
  it('that fail are counted since the last good one, with the last error', async () => {
    await run(5, 'failed', [UNREACHABLE])
    await run(4, 'ok')
    for (const hours of [3, 2, 1]) await run(hours, 'failed', [UNREACHABLE])
    const { message, hint, failures } = await the('sync_failing')
    expect(failures).toBe(3)
    expect(message).toBe(
      'The last 3 syncs failed or came back incomplete, since 2026-11-21 09:00 UTC. The last error: leads: https://leads.example.com answered 503 to 5 attempts',
    )
    expect(hint).toBe('look there')
    await run(0.5, 'ok_no_change')
    expect(await reasons()).toEqual([])
  })

  it('that were told to stop, or wait as they were asked to, are no failures', async () => {
    await run(3, 'ok')
    await run(2, 'partial', [problem('run_interrupted', 'stopped')])
    await run(1, 'deferred', [problem('api_deferred', 'later')])
    expect(await reasons()).toEqual([])
  })

  it.each([
    ['that the key is refused to', 'api_unauthorized', 'key_refused'],
    ['that found another source', 'store_other_source', 'source_changed'],
  ])('%s are that and no more', async (_, code, reason) => {
    for (const hours of [3, 2, 1]) await run(hours, 'failed', [problem(code, 'refused')])
    expect(await reasons()).toEqual([reason])
  })

  it('that were deferred are told after two hours, or where the wait is longer', async () => {
    await run(1.5, 'deferred', [problem('api_deferred', 'later')])
    expect(await reasons()).toEqual([])
    await store.write((trx) => saveNotBefore(trx, hoursAgo(-3)))
    expect((await the('sync_deferred')).message).toContain('no request before 2026-11-21 15:00 UTC')
    await store.write((trx) => saveNotBefore(trx, null))
    expect(await reasons({}, new Date(NOW.getTime() + HOUR_MS))).toEqual(['sync_deferred'])
  })

  it('of which none was whole for 26 hours leave the data old', async () => {
    await run(27, 'ok')
    await run(1, 'partial', [problem('run_interrupted', 'the run reached its deadline')])
    expect((await the('sync_late')).message).toContain('since 2026-11-20 09:00 UTC')
    expect(await reasons({}, new Date(NOW.getTime() - 2 * HOUR_MS))).toEqual([])
  })
})

describe('leads', () => {
  it('that are missing in a mass are told with figures and the command that confirms it', async () => {
    await run(2, 'ok', [], { distinct: 1000 })
    await run(1, 'partial', [UNREACHABLE], { distinct: 600, heldBack: 400 })
    const { message, hint } = await the('deletions_refused')
    expect(message).toContain('400 of 1,000 leads')
    expect(hint).toContain('leadsheet sync --full --accept-deletions')
  })

  it.each([
    [1000, 400, true],
    [1000, 600, false],
    [1000, 2100, true],
    [40, 10, false],
  ])('that were %i and are %i are unusual: %s', async (before, after, isUnusual) => {
    await run(2, 'ok', [], { distinct: before })
    await run(1, 'ok', [], { distinct: after })
    expect(await reasons()).toEqual(isUnusual ? ['counts_unusual'] : [])
  })

  it('whose fields vanish or change their type are told for a day, by field; new fields are not', async () => {
    await run(2, 'ok', [], {
      drift: [
        { change: 'vanished', path: 'company.name', types: ['string'] },
        { change: 'retyped', path: 'score', types: ['string'] },
        { change: 'new', path: 'phone', types: ['string'] },
      ],
    })
    expect((await reasons()).toSorted()).toEqual(['fields_changed company.name', 'fields_changed score'])
    expect(await reasons({}, new Date(NOW.getTime() + 23 * HOUR_MS))).toEqual([])
  })

  it('that cannot be read are counted by kind, with a reason', async () => {
    const held = (id: string) =>
      ({ resource: 'lead', id, reason: 'created_at is no date', raw: id, isWhole: true }) as const
    await store.write((trx) => saveQuarantinedRecords(trx, [held('a'), held('b')], hoursAgo(1)))
    const { subject, message } = await the('records_quarantined')
    expect([subject, message]).toEqual([
      'lead',
      '2 lead records of the last day cannot be read: created_at is no date',
    ])
    expect(await reasons({}, new Date(NOW.getTime() + 24 * HOUR_MS))).toEqual([])
  })
})

describe('reports', () => {
  async function scheduledRun(hours: number, end: Partial<ScheduledRun>): Promise<void> {
    const at = hoursAgo(hours)
    const key = { schedule: 'report:daily', due_at: at }
    const { noted_at = hoursAgo(hours - 0.01), attempts = 0, state = 'pending', message = null } = end
    await store.write(async (trx) => {
      await addScheduledRun(trx, { ...key, state: 'pending', noted_at, not_before: null, message })
      await finishScheduledRun(trx, key, { state, not_before: null, finished_at: null, message })
      await sql`UPDATE scheduled_run SET attempts = ${attempts} WHERE due_at = ${at}`.execute(trx)
    })
  }

  it.each<[Partial<ScheduledRun>, string]>([
    [{ state: 'failed', attempts: 1, message: 'no numbers' }, 'report_failed daily'],
    [{ state: 'skipped', attempts: 1, message: 'the data are old' }, 'report_failed daily'],
    [{ state: 'held', attempts: 1, message: 'the data are old' }, 'report_held daily'],
    [{ state: 'pending' }, 'report_late daily'],
    [{ state: 'skipped', message: 'missed: nothing ran' }, 'report_missed daily'],
  ])('whose last scheduled run is %j are told', async (end, reason) => {
    await scheduledRun(1, end)
    expect(await reasons()).toEqual([reason])
    const [problem] = await find()
    expect(problem?.message).toContain('daily')
    expect(problem?.message).toContain(end.message ?? 'not been made yet')
    await scheduledRun(0.1, { state: 'done', attempts: 1 })
    // A missed report stays reported for a day.
    expect(await reasons()).toEqual(reason.startsWith('report_missed') ? [reason] : [])
    if (reason.startsWith('report_missed'))
      expect((await the('report_missed')).hint).toMatch(/report send daily --at 2026-\S+Z` makes and sends/)
  })

  it('that are due every few minutes are late by the oldest run that waits', async () => {
    for (const hours of [0.6, 0.3, 0.1]) await scheduledRun(hours, { state: 'pending' })
    expect(await reasons()).toEqual(['report_late daily'])
    expect((await the('report_late')).message).toContain(hoursAgo(0.6).slice(11, 16))
    await scheduledRun(0.03, { state: 'done', attempts: 1 })
    expect(await reasons()).toEqual([])
  })

  it('whose last mail lacks a part are told until one has all of them', async () => {
    const failed = [{ block: 'funnel', query: null, message: 'no such table: stage' } as const]
    await mailIssue('2026-11-19', failed)
    await mailIssue('2026-11-20', [...failed, { block: 'queries', query: 'by-country', message: 'timeout' }])
    expect((await the('sections_failed')).message).toBe(
      'Of the last issue of the report daily, funnel could not be made, nor could 1 other part: no such table: stage',
    )
    await mailIssue('2026-11-21', [])
    expect(await reasons()).toEqual([])
  })

  it('that are due for less than half an hour, or were just set up, are in order', async () => {
    await scheduledRun(2, { state: 'skipped', noted_at: hoursAgo(2), message: 'the schedule was set up' })
    await scheduledRun(0.4, { state: 'pending', attempts: 1 })
    expect(await reasons()).toEqual([])
  })
})

async function mailIssue(day: string, failed: readonly FailedSection[]): Promise<void> {
  const from = `${day}T00:00:00Z`
  const period = { from, to: new Date(Date.parse(from) + 24 * HOUR_MS).toISOString(), timeZone: 'UTC' }
  await store.write(async (trx) => {
    const issue = await saveIssue(trx, {
      report: 'daily',
      period,
      variant: '',
      renderedAt: period.to,
      programVersion: '1.0.0',
      figures: { ...busyDay(), period, failed },
      ...CONTENT,
    })
    const sendMail = messageFor(store, issue, { address: 'ana@example.com', name: null }, CONTENT, SENDER)
    await enqueueMessage(trx, issue.id, sendMail, hoursAgo(0))
  })
}

describe('messages', () => {
  async function sendMail(id: string, values: Record<string, string | number | null>): Promise<void> {
    const row = {
      message_id: id,
      issue_id: null,
      recipient: 'ana@example.com',
      state: 'pending',
      queued_at: hoursAgo(5),
      state_at: hoursAgo(5),
      next_attempt_at: null,
      response: null,
      ...values,
    }
    await sql`INSERT INTO delivery (message_id, issue_id, recipient, state, queued_at, state_at, next_attempt_at,
        deferred_at, reply_code, response)
      VALUES (${row.message_id}, ${row.issue_id}, ${row.recipient}, ${row.state}, ${row.queued_at},
        ${row.state_at}, ${row.next_attempt_at}, ${values.deferred_at ?? null},
        ${row.state === 'failed' ? 550 : null}, ${row.response})`.execute(store.db)
    const head = JSON.stringify({ messageId: id, to: row.recipient })
    await sql`INSERT INTO message (message_id, head, files, html, text)
      VALUES (${id}, ${head}, '[]', ${Buffer.of(0)}, ${Buffer.of(0)})`.execute(store.db)
  }

  const AWAY: MailOutage = {
    server: 'smtp://mail.example.com:587',
    kind: 'transient',
    beganAt: hoursAgo(1),
    failures: 4,
    nextAttemptAt: hoursAgo(0),
    replyCode: null,
    response: 'ECONNREFUSED',
  }

  it('that wait for a mail server that is away are counted, and so are its failures', async () => {
    await sendMail('a', { next_attempt_at: hoursAgo(0) })
    await store.write((trx) => saveMailOutage(trx, AWAY))
    const { message, failures } = await the('mail_away')
    expect(message).toBe(
      'smtp://mail.example.com:587 cannot be reached since 2026-11-21 11:00 UTC, and 1 message waits (alerts: 1): ECONNREFUSED',
    )
    expect(failures).toBe(4)
  })

  it('that wait are told apart from the alerts that wait', async () => {
    await store.write((trx) => saveMailOutage(trx, AWAY))
    await sendMail('a', { next_attempt_at: hoursAgo(0) })
    const waiting = {
      message: expect.stringContaining(', and 1 message waits (alerts: 1): '),
      brief: expect.stringContaining('1 message waits (alerts: 1), for'),
    }
    expect(await the('mail_away')).toMatchObject(waiting)
    await mailIssue('2026-11-20', [])
    expect(await the('mail_away')).toMatchObject({
      message: expect.stringContaining(', and 2 messages wait (alerts: 1): '),
      brief: expect.stringContaining('2 messages wait (alerts: 1), the oldest for'),
    })
  })

  it('that wait for a setting are told at once', async () => {
    await store.write((trx) => saveMailOutage(trx, { ...AWAY, kind: 'configuration', failures: 1 }))
    expect(await the('mail_away')).toMatchObject({ failures: Number.POSITIVE_INFINITY })
  })

  it('that are deferred for more than two hours are told with what the server says', async () => {
    const next = { next_attempt_at: hoursAgo(-0.5) }
    await sendMail('a', { ...next, deferred_at: hoursAgo(1), response: '450 later' })
    expect(await reasons()).toEqual([])
    await sendMail('b', { ...next, deferred_at: hoursAgo(3), response: '451 greylisted' })
    expect((await the('messages_waiting')).message).toContain('to ana@example.com: 451 greylisted')
  })

  it('that were refused are told until one to the same recipient is sent', async () => {
    await sendMail('a', { state: 'failed', response: '550 no such user' })
    await sendMail('b', { state: 'failed', recipient: 'ben@example.com', response: '550 no such user' })
    expect((await the('messages_failed')).message).toContain('2 alerts were refused or given up')
    await sendMail('c', { state: 'sent', state_at: hoursAgo(1), response: '250 ok' })
    expect((await the('messages_failed')).message).toContain('1 alert was refused or given up')
    await sendMail('d', {
      state: 'sent',
      recipient: 'ben@example.com',
      state_at: hoursAgo(1),
      response: '250 ok',
    })
    expect(await reasons()).toEqual([])
  })

  it('that are unconfirmed are told once they are left to a person', async () => {
    await sendMail('a', { state: 'unconfirmed', next_attempt_at: hoursAgo(0) })
    expect(await reasons()).toEqual([])
    await sendMail('b', { state: 'unconfirmed' })
    expect((await the('messages_unconfirmed')).message).toContain('1 alert may or may not have arrived')
  })

  it('that three issues in a row were refused for are told by recipient', async () => {
    for (const day of [3, 2, 1]) {
      await sql`INSERT INTO report_issue (id, report, period_from, period_to, time_zone, rendered_at, figures,
          subject, html, text)
        VALUES (${`e${day}`}, 'daily', ${hoursAgo(24 * day + 24)}, ${hoursAgo(24 * day)}, 'UTC', ${hoursAgo(24 * day)},
          '{}', 's', 'h', 't')`.execute(store.db)
      if (day === 1) expect(await reasons()).toEqual(['messages_failed daily'])
      const at = hoursAgo(24 * day)
      const refused = { issue_id: `e${day}`, state: 'failed', queued_at: at, state_at: at }
      await sendMail(`m${day}`, { ...refused, response: '550 no such user' })
    }
    const { subject, message } = await the('recipient_failing')
    expect(subject).toBe('ana@example.com of daily')
    expect(message).toContain('3 issues of the report daily in a row were refused for ana@example.com')
    expect((await the('messages_failed')).hint).toContain('`npx leadsheet report resend daily --failed`')
  })

  it('that leadsheet itself ended are told by recipient; what a recipient ended is not', async () => {
    const choice: Omit<Preference, 'address' | 'changedBy'> = {
      report: 'daily',
      state: 'paused',
      changedAt: hoursAgo(1),
      reason: 'five messages in a row were refused',
    }
    await store.write(async (trx) => {
      await savePreference(trx, { ...choice, address: 'ana@example.com', changedBy: 'leadsheet' })
      await savePreference(trx, { ...choice, address: 'ben@example.com', changedBy: 'recipient' })
    })
    const { subject, message } = await the('recipient_paused')
    expect(subject).toBe('ana@example.com of daily')
    expect(message).toContain('five messages in a row were refused')
  })
})

describe('the machine', () => {
  it.skipIf(IN_POSTGRES)('has no room for a snapshot beside a database that is large', async () => {
    const { bavail, bsize } = statfsSync(fileOf(store))
    expect(await reasons()).toEqual([])
    await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(store.db)
    // A hole takes no space on disk, but counts as growth of the database.
    const { size } = statSync(fileOf(store))
    truncateSync(fileOf(store), bavail * bsize)
    const { message } = await the('disk_low')
    truncateSync(fileOf(store), size)
    expect(message).toMatch(/^Less than [\d,]+ MB are free in the data directory/)
  })

  it.skipIf(IN_POSTGRES).each([
    [0, 'fail'],
    [10_000_000, 'warn'],
  ])('cannot be written only when its disk is full: %d bytes free', async (free, severity) => {
    const facts = factsOf(store, NOW)
    const room = { free, database: 1, log: 1 }
    const size = async () => ({ ...(await facts.size()), room })
    expect(await CHECKS.database_unwritable.find({ ...facts, size })).toMatchObject([{ severity }])
  })

  it.skipIf(IN_POSTGRES)('has a log that nobody empties, unless a sync is writing it', async () => {
    const { size } = statSync(`${fileOf(store)}-wal`)
    truncateSync(`${fileOf(store)}-wal`, 200_000_000)
    expect((await the('log_large')).message).toContain('200 MB')
    const lease = await claimLease(store, 'sync', () => NOW)
    expect(await reasons()).toEqual([])
    await lease.release()
    truncateSync(`${fileOf(store)}-wal`, size)
  })

  it('has no snapshot of what is new, though none is being made, or of what was new two hours ago', async () => {
    const runId = await run(3, 'ok')
    await sql`UPDATE sync_run SET leads_seen = 5, leads_inserted = 5 WHERE id = ${runId}`.execute(store.db)
    const nowhere = join(folderWith(), 'snapshot.db')
    expect((await the('snapshot_old', { snapshotAfterSync: nowhere })).message).toContain(
      'There is no snapshot',
    )
    expect(await reasons({ snapshotAfterSync: null })).toEqual([])
    const soon = new Date(NOW.getTime() - 2 * HOUR_MS)
    if (!IN_POSTGRES) expect(await reasons({ snapshotAfterSync: nowhere }, soon)).toEqual(['snapshot_old'])
    const making = await claimLease(store, 'snapshot', () => soon)
    expect(await reasons({ snapshotAfterSync: nowhere }, soon)).toEqual([])
    await making.release()
    writeFileSync(nowhere, 'no snapshot at all')
    expect(await reasons({ snapshotAfterSync: nowhere })).toEqual(['snapshot_old'])
  })

  it('has a snapshot that could not be made, also where it has a schedule of its own', async () => {
    const fault = new LeadsheetError('data_unwritable', 'the snapshot cannot be made', { hint: 'Look.' })
    for (const snapshotAfterSync of [null, join(folderWith(), 'snapshot.db')]) {
      const found = await the('snapshot_old', { snapshotAfterSync, snapshotFault: () => fault })
      expect([found.message, found.hint]).toEqual(['the snapshot cannot be made', 'Look.'])
    }
  })

  it('has a clock that is ahead of or behind that of the upstream', async () => {
    expect((await the('clock_wrong', { clockAheadMs: () => 600_000 })).message).toContain(
      '10 minutes ahead of',
    )
    expect((await the('clock_wrong', { clockAheadMs: () => -300_000 })).message).toContain('5 minutes behind')
    expect(await reasons({ clockAheadMs: () => 100_000 })).toEqual([])
    const doubt = 'The clock is not confirmed.'
    expect((await the('clock_wrong', { clockDoubt: () => doubt })).message).toBe(doubt)
    expect(await reasons({ clockAheadMs: () => null })).toEqual([])
  })

  it('has a clock that was set today', async () => {
    await sql`INSERT INTO daemon_uptime (began_at, began_after, down_since, last_heartbeat_at, host, pid)
      VALUES (${hoursAgo(3)}, 'clock', ${hoursAgo(6)}, ${hoursAgo(0)}, 'h', 1)`.execute(store.db)
    expect((await the('clock_set')).message).toContain('from 2026-11-21 06:00 UTC to 2026-11-21 09:00 UTC')
    expect(await reasons({}, new Date(NOW.getTime() + 24 * HOUR_MS))).toEqual([])
  })

  it('has a job that runs for longer than it may; the daemon may', async () => {
    const old = new Date(NOW.getTime() - 2 * HOUR_MS)
    const leases = await Promise.all(
      ['daemon', 'sync', 'report:daily'].map((name) => claimLease(store, name, () => old)),
    )
    await sql`UPDATE lease SET expires_at = '2999'`.execute(store.db)
    expect((await reasons()).toSorted()).toEqual(['job_stuck report:daily', 'job_stuck sync'])
    // A sync with a limit of two hours counts as stuck after four.
    expect(await reasons({ runMinutes: 120 })).toEqual(['job_stuck report:daily'])
    for (const lease of leases) await lease.release()
  })

  it('has settings that were changed an hour ago, and a daemon that was not started since', async () => {
    const settingsFile = join(folderWith({ 'leadsheet.yaml': '' }), 'leadsheet.yaml')
    const write = (hours: number) => utimesSync(settingsFile, NOW, new Date(hoursAgo(hours)))
    write(2)
    // The next daemon that is started reads the new settings.
    expect(await reasons({ settingsFile })).toEqual([])
    const lease = await claimLease(store, 'daemon', () => new Date(hoursAgo(5)))
    await sql`UPDATE lease SET expires_at = '2999'`.execute(store.db)
    expect((await the('settings_old', { settingsFile })).message).toMatch(
      /leadsheet\.yaml was changed at 2026-11-21 10:00 UTC, .* Those of 2026-11-21 07:00 UTC are in force\.$/,
    )
    write(0.5)
    expect(await reasons({ settingsFile })).toEqual([])
    write(6)
    expect(await reasons({ settingsFile })).toEqual([])
    await lease.release()
  })

  it('has a database whose rules do not hold, which is asked once an hour and once more before it is told', async () => {
    findViolations = createViolationWatch(store.db)
    const look = async (minutes: number) => {
      const now = new Date(NOW.getTime() + minutes * 60_000)
      const { findings, unknown } = await runAll({}, now)
      return unknown.has('store_damaged') ? 'as before' : findings.map(({ check }) => check)
    }
    expect(await look(0)).toEqual([])
    await sql`INSERT INTO sync_watermark (resource, updated_at) VALUES ('lead', '2026-11-21')`.execute(
      store.db,
    )
    expect(await look(59)).toBe('as before')
    expect(await look(60)).toBe('as before')
    expect(await look(61)).toBe('as before')
    expect(await look(62)).toEqual(['store_damaged'])
    await sql`DELETE FROM sync_watermark`.execute(store.db)
    expect(await look(63)).toBe('as before')
    expect(await look(122)).toEqual([])
  })

  it('has no database whose rules do not hold where a worker takes up what one that was killed has left', async () => {
    const due = { schedule: 'sync', due_at: hoursAgo(0.1), noted_at: hoursAgo(0.1) }
    await store.write((trx) =>
      addScheduledRun(trx, { ...due, state: 'pending', not_before: null, message: null }),
    )
    await sql`UPDATE scheduled_run SET state = 'running'`.execute(store.db)
    findViolations = createViolationWatch(store.db)
    const look = async (now: Date) =>
      (await runAll({}, now)).findings.filter(({ check }) => check === 'store_damaged')
    expect(await look(NOW)).toEqual([])
    await sql`UPDATE scheduled_run SET state = 'done'`.execute(store.db)
    expect(await look(new Date(NOW.getTime() + 120_000))).toEqual([])
  })
})

it('a database that could not be written is told for a day after the fault has passed', async () => {
  const fault = { from: hoursAgo(2), to: hoursAgo(1), message: 'the disk is full', hint: 'Make room.' }
  expect((await the('database_faults', { lastFault: () => fault })).message).toMatch(
    /^From .* UTC to .* UTC nothing could be stored: the disk is full\.$/,
  )
  expect(await reasons({ lastFault: () => ({ ...fault, to: null }) })).toEqual([])
  expect(await reasons({ lastFault: () => ({ ...fault, to: hoursAgo(25) }) })).toEqual([])
})

// @both-stores
/** Every check for operators: the findings in each state, and none where there is no problem. */

import { statfsSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createViolationWatch } from '../../src/checks/check.ts'
import { ALERTING_IDS, CHECKS } from '../../src/checks/run-checks.ts'
import type { FailedSection } from '../../src/domain/figures.ts'
import type { ScanResult, SyncOutcome, SyncProblem } from '../../src/domain/sync.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { fileOf } from '../../src/store/db/place.ts'
import type { Store } from '../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../src/store/leads/quarantined-record.ts'
import { enqueueMessage } from '../../src/store/outbox/delivery.ts'
import { saveBounceMailbox } from '../../src/store/outbox/notification.ts'
import { saveMailOutage } from '../../src/store/outbox/send-limits.ts'
import { saveIssue } from '../../src/store/reports/issue.ts'
import { savePreference } from '../../src/store/reports/preference.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import type { ScheduledRun } from '../../src/store/schedule/scheduled-run.ts'
import { saveWatermark } from '../../src/store/sync/watermark.ts'
import type { Row } from '../../src/store/tables/tables.ts'
import { mailOutage, noteRun, saveSync } from '../support/data/operation.ts'
import { folderWith } from '../support/folder.ts'
import { enqueueTo } from '../support/mail/ledger.ts'
import { MESSAGE, unsavedIssue } from '../support/mail/message.ts'
import { busyDay } from '../support/reports/figures.ts'
import { IN_POSTGRES, openEmptyStore } from '../support/store.ts'
import { factsOf } from '../support/web/installation.ts'
import { expectTold, findIn, later, minutesAgo, NOW } from './states.ts'

const HOUR = 60
const hoursAgo = (hours: number) => minutesAgo(hours * HOUR)
const UNREACHABLE = problem('api_unreachable', 'https://leads.example.com answered 503 to 5 attempts')

function problem(code: string, message: string): SyncProblem {
  return { part: 'leads', code, message, hint: 'look there' }
}

/** Saves a run that began so many hours ago. Without a problem it is complete. */
function run(
  store: Store,
  hours: number,
  outcome: SyncOutcome,
  problems: readonly SyncProblem[] = [],
  scan: Partial<ScanResult> | null = problems.length === 0 ? {} : null,
): Promise<string> {
  return store.write((trx) => saveSync(trx, hoursAgo(hours), { outcome, problems }, scan))
}

it('each check that is shown in alerts says when it opens one, and no other does', () => {
  for (const [id, { alert }] of Object.entries(CHECKS))
    expect(alert !== undefined).toBe(ALERTING_IDS.some((each) => each === id))
})

it('syncs', () =>
  expectTold('syncs', {
    'of an empty store, or of one that is in order, have nothing to be told': async (store, look) => {
      await look('empty')
      await run(store, 0.5, 'ok', [], { distinct: 1000 })
      await run(store, 0.2, 'ok_no_change', [], { distinct: 1000 })
      await look('in order')
    },
    'are found where another check fails, whose alerts stay as they are': async (store, look) => {
      await run(store, 30, 'ok')
      await sql`DROP TABLE quarantined_record`.execute(store.db)
      await look('without a table')
    },
    'that fail are counted since the last good one, with the last error': async (store, look) => {
      await run(store, 5, 'failed', [UNREACHABLE])
      await run(store, 4, 'ok')
      for (const hours of [3, 2, 1]) await run(store, hours, 'failed', [UNREACHABLE])
      await look('three failed')
      await run(store, 0.5, 'ok_no_change')
      await look('one came to its end')
    },
    'that were told to stop, or wait as they were asked to, are no failures': async (store, look) => {
      await run(store, 3, 'ok')
      await run(store, 2, 'partial', [problem('run_interrupted', 'stopped')])
      await run(store, 1, 'deferred', [problem('api_deferred', 'later')])
      await look('one was stopped, one deferred')
    },
    'that the key is refused to, or that found another source, are that and no more': async (store, look) => {
      for (const code of ['api_unauthorized', 'store_other_source']) {
        for (const hours of [3, 2, 1]) await run(store, hours, 'failed', [problem(code, 'refused')])
        await look(code)
        await store.db.deleteFrom('sync_run').execute()
      }
    },
    'that were deferred are told after two hours, or where the wait is longer': async (store, look) => {
      await run(store, 1.5, 'deferred', [problem('api_deferred', 'later')])
      await look('for 90 minutes')
      await store.write((trx) => saveWatermark(trx, { not_before: hoursAgo(-3) }))
      await look('for three more hours')
      await store.write((trx) => saveWatermark(trx, { not_before: null }))
      await look('for two and a half hours', {}, later(HOUR))
    },
    'of which none was whole for 26 hours leave the data old': async (store, look) => {
      await run(store, 27, 'ok')
      await run(store, 1, 'partial', [problem('run_interrupted', 'the run reached its deadline')])
      await look('for 27 hours')
      await look('for 25 hours', {}, later(-2 * HOUR))
    },
  }))

it('leads', () =>
  expectTold('leads', {
    'that are missing in a mass are told with figures and the command that confirms it': async (
      store,
      look,
    ) => {
      await run(store, 2, 'ok', [], { distinct: 1000 })
      await run(store, 1, 'partial', [UNREACHABLE], { distinct: 600, heldBack: 400 })
      await look('400 are held back')
    },
    'that are far fewer or more than before are unusual': async (store, look) => {
      const counts = [
        [1000, 400],
        [1000, 600],
        [1000, 2100],
        [40, 10],
      ] as const
      for (const [before, after] of counts) {
        await run(store, 2, 'ok', [], { distinct: before })
        await run(store, 1, 'ok', [], { distinct: after })
        await look(`${before} and then ${after}`)
        for (const table of ['sync_scan_result', 'sync_run'] as const)
          await store.db.deleteFrom(table).execute()
      }
    },
    'whose fields vanish or change their type are told for a day, by field; new fields are not': async (
      store,
      look,
    ) => {
      await run(store, 2, 'ok', [], {
        drift: [
          { change: 'vanished', path: 'company.name', types: ['string'] },
          { change: 'retyped', path: 'score', types: ['string'] },
          { change: 'new', path: 'phone', types: ['string'] },
        ],
      })
      await look('two hours later')
      await look('25 hours later', {}, later(23 * HOUR))
    },
    'that cannot be read are counted by kind, with a reason': async (store, look) => {
      const held = (id: string) =>
        ({ resource: 'lead', id, reason: 'created_at is no date', raw: id, isWhole: true }) as const
      await store.write((trx) => saveQuarantinedRecords(trx, [held('a'), held('b')], hoursAgo(1)))
      await look('an hour later')
      await look('25 hours later', {}, later(24 * HOUR))
    },
  }))

async function scheduledRun(store: Store, hours: number, end: Partial<ScheduledRun>): Promise<void> {
  const due_at = hoursAgo(hours)
  const { noted_at = hoursAgo(hours - 0.01), attempts = 0, state = 'pending', message = null } = end
  await noteRun(store, { schedule: 'report:daily', due_at, noted_at, state, message })
  await store.db.updateTable('scheduled_run').set({ attempts }).where('due_at', '=', due_at).execute()
}

it('reports', () =>
  expectTold('reports', {
    'whose last scheduled run is not done are told until one is': async (store, look) => {
      const ends: readonly Partial<ScheduledRun>[] = [
        { state: 'failed', attempts: 1, message: 'no numbers' },
        { state: 'skipped', attempts: 1, message: 'the data are old' },
        { state: 'held', attempts: 1, message: 'the data are old' },
        { state: 'pending' },
        { state: 'skipped', message: 'missed: nothing ran' },
      ]
      for (const end of ends) {
        await scheduledRun(store, 1, end)
        await look(JSON.stringify(end))
        await scheduledRun(store, 0.1, { state: 'done', attempts: 1 })
        await look('and then one that is done')
        await store.db.deleteFrom('scheduled_run').execute()
      }
    },
    'that are due every few minutes are late by the oldest run that waits': async (store, look) => {
      for (const hours of [0.6, 0.3, 0.1]) await scheduledRun(store, hours, { state: 'pending' })
      await look('three wait')
      await scheduledRun(store, 0.03, { state: 'done', attempts: 1 })
      await look('one is done')
    },
    'whose last mail lacks a part are told until one has all of them': async (store, look) => {
      const failed = [{ block: 'funnel', query: null, message: 'no such table: stage' } as const]
      await mailIssue(store, '2026-11-19', failed)
      await mailIssue(store, '2026-11-20', [
        ...failed,
        { block: 'queries', query: 'by-country', message: 'timeout' },
      ])
      await look('two parts')
      await mailIssue(store, '2026-11-21', [])
      await look('a whole one')
    },
    'that are due for less than half an hour, or were just set up, are in order': async (store, look) => {
      await scheduledRun(store, 2, {
        state: 'skipped',
        noted_at: hoursAgo(2),
        message: 'the schedule was set up',
      })
      await scheduledRun(store, 0.4, { state: 'pending', attempts: 1 })
      await look('24 minutes')
    },
  }))

async function mailIssue(store: Store, day: string, failed: readonly FailedSection[]): Promise<void> {
  const from = `${day}T00:00:00Z`
  const period = { from, to: new Date(Date.parse(from) + 24 * 3_600_000).toISOString(), timeZone: 'UTC' }
  await store.write(async (trx) => {
    const figures = { ...busyDay(), period, failed }
    const issue = await saveIssue(trx, unsavedIssue({ period, renderedAt: hoursAgo(0), figures }))
    await enqueueTo(trx, store, issue, 'ana@example.com')
  })
}

async function sendMail(
  store: Store,
  id: string,
  { recipient = 'ana@example.com', ...values }: Partial<Row<'delivery'>>,
): Promise<void> {
  await store.write(async (trx) => {
    await enqueueMessage(trx, null, { ...MESSAGE, messageId: id, to: recipient }, hoursAgo(5))
    const row = { next_attempt_at: null, ...values }
    await trx.updateTable('delivery').where('message_id', '=', id).set(row).execute()
  })
}

const AWAY = mailOutage(hoursAgo(1), { nextAttemptAt: hoursAgo(0) })
const REFUSED = { state: 'failed', reply_code: 550, is_refusal: 1, response: '550 no such user' } as const
const SENT = { state: 'sent', state_at: hoursAgo(1), response: '250 ok' } as const

it('messages', () =>
  expectTold('messages', {
    'that wait for a mail server that is away are counted, apart from the alerts, and so are its failures':
      async (store, look) => {
        await sendMail(store, 'a', { next_attempt_at: hoursAgo(0) })
        await store.write((trx) => saveMailOutage(trx, AWAY))
        await look('an alert')
        await mailIssue(store, '2026-11-20', [])
        await look('an alert and a report')
      },
    'that wait for a setting are told at once, with the page where it is corrected': async (store, look) => {
      const responses = [
        AWAY.response,
        '535 5.7.139 Authentication unsuccessful, basic authentication is disabled.',
      ]
      for (const response of responses) {
        const outage = { ...AWAY, kind: 'configuration', failures: 1, response } as const
        await store.write((trx) => saveMailOutage(trx, outage))
        await look('after one failure')
      }
    },
    'that are deferred for more than two hours are told with what the server says': async (store, look) => {
      const next = { next_attempt_at: hoursAgo(-0.5) }
      await sendMail(store, 'a', { ...next, deferred_at: hoursAgo(1), response: '450 later' })
      await look('for an hour')
      await sendMail(store, 'b', { ...next, deferred_at: hoursAgo(3), response: '451 greylisted' })
      await look('another for three hours')
    },
    'that were refused are told until one to the same recipient is sent': async (store, look) => {
      await sendMail(store, 'a', REFUSED)
      await sendMail(store, 'b', { ...REFUSED, recipient: 'ben@example.com' })
      await look('to two')
      await sendMail(store, 'c', SENT)
      await look('to one')
      await sendMail(store, 'd', { ...SENT, recipient: 'ben@example.com' })
      await look('to nobody')
    },
    'that are unconfirmed are told once they are left to a person': async (store, look) => {
      await sendMail(store, 'a', { state: 'unconfirmed', next_attempt_at: hoursAgo(0) })
      await look('one that is tried again')
      await sendMail(store, 'b', { state: 'unconfirmed' })
      await look('one that is not')
    },
    'that three issues in a row were refused for are told by recipient': async (store, look) => {
      for (const day of [3, 2, 1]) {
        const at = hoursAgo(24 * day)
        await mailIssue(store, at.slice(0, 10), [])
        const refused = { ...REFUSED, queued_at: at, state_at: at, next_attempt_at: null }
        await store.db.updateTable('delivery').where('state', '=', 'pending').set(refused).execute()
        await look(`${4 - day} refused`)
      }
    },
    'that came back or were reported as spam are told, until a later one was sent': async (store, look) => {
      const at = hoursAgo(30)
      await mailIssue(store, at.slice(0, 10), [])
      const bounced = {
        state: 'bounced',
        is_refusal: 1,
        reply_code: 550,
        response: '550 5.1.1 no such user',
      } as const
      await store.db
        .updateTable('delivery')
        .set({ ...bounced, queued_at: at, state_at: at, next_attempt_at: null })
        .execute()
      await look('one came back')
      await mailIssue(store, hoursAgo(3).slice(0, 10), [])
      const sent = {
        state: 'sent',
        response: '250 ok',
        next_attempt_at: null,
        state_at: hoursAgo(3),
      } as const
      await store.db.updateTable('delivery').where('state', '=', 'pending').set(sent).execute()
      await look('a later one was sent')
      const complained = { state: 'complained', response: 'reported as spam by its recipient' } as const
      await store.db.updateTable('delivery').where('state', '=', 'sent').set(complained).execute()
      await look('that was reported as spam')
    },
    'that come back are not read while their mailbox is away': async (store, look) => {
      const away = (failingSince: string, triedAt = minutesAgo(4)) =>
        store.write((trx) =>
          saveBounceMailbox(trx, {
            name: 'imaps://imap.example.com:993/INBOX',
            triedAt,
            failingSince,
            response: 'imaps://imap.example.com:993/INBOX did not let us in: Invalid credentials',
          }),
        )
      await away(minutesAgo(30))
      await look('for half an hour')
      await away(hoursAgo(2))
      await look('for two hours')
      await away(hoursAgo(9), hoursAgo(8))
      await look('and is tried no more')
    },
    'that leadsheet itself ended are told by recipient; what a recipient ended is not': async (
      store,
      look,
    ) => {
      const reason = 'five messages in a row were refused'
      const choice = { report: 'daily', state: 'paused', changedAt: hoursAgo(1), reason } as const
      await store.write(async (trx) => {
        await savePreference(trx, { ...choice, address: 'ana@example.com', changedBy: 'leadsheet' })
        await savePreference(trx, { ...choice, address: 'ben@example.com', changedBy: 'recipient' })
      })
      await look('one of each')
    },
  }))

it('the machine', () =>
  expectTold('the machine', {
    'has no snapshot of what is new, though none is being made, or of what was new two hours ago': async (
      store,
      look,
    ) => {
      await store.write((trx) => saveSync(trx, hoursAgo(3), { leads: { seen: 5, inserted: 5 } }, {}))
      const snapshotAfterSync = join(folderWith(), 'snapshot.db')
      await look('none for three hours', { snapshotAfterSync })
      await look('none is wanted', { snapshotAfterSync: null })
      const soon = later(-2 * HOUR)
      // In PostgreSQL, each machine makes its own snapshot, so nobody knows whether one is being made.
      const { findings } = await findIn(store, { snapshotAfterSync }, soon)
      expect(findings.map(({ check }) => check)).toEqual(IN_POSTGRES ? [] : ['snapshot_old'])
      const making = await claimLease(store, 'snapshot', () => soon)
      await look('none for an hour, but one is being made', { snapshotAfterSync }, soon)
      await making.release()
      writeFileSync(snapshotAfterSync, 'no snapshot at all')
      await look('a file that is none', { snapshotAfterSync })
    },
    'has a snapshot that could not be made, also where it has a schedule of its own': async (_, look) => {
      const fault = new LeadsheetError('data_unwritable', 'the snapshot cannot be made', { hint: 'Look.' })
      for (const snapshotAfterSync of [null, join(folderWith(), 'snapshot.db')])
        await look(snapshotAfterSync ? 'after a sync' : 'by schedule', {
          snapshotAfterSync,
          snapshotFault: () => fault,
        })
    },
    'has a clock that is ahead of or behind that of the upstream': async (_, look) => {
      for (const ms of [600_000, -300_000, 100_000]) await look(`${ms / 1000} s`, { clockAheadMs: () => ms })
      await look('in doubt', { clockDoubt: () => 'The clock is not confirmed.' })
      await look('not known', { clockAheadMs: () => null })
    },
    'has a clock that was set today': async (store, look) => {
      await sql`INSERT INTO daemon_uptime (began_at, began_after, down_since, last_heartbeat_at, host, pid)
        VALUES (${hoursAgo(3)}, 'clock', ${hoursAgo(6)}, ${hoursAgo(0)}, 'h', 1)`.execute(store.db)
      await look('three hours later')
      await look('a day later', {}, later(24 * HOUR))
    },
    'has a job that runs for longer than it may; the daemon may': async (store, look) => {
      for (const name of ['daemon', 'sync', 'report:daily']) await holdFor(store, name, 2)
      await look('for two hours')
      await look('a sync with a limit of two hours, which is stuck after four', { runMinutes: 120 })
    },
    'has settings that were changed an hour ago, and a daemon that was not started since': async (
      store,
      look,
    ) => {
      const settingsFile = join(folderWith({ 'leadsheet.yaml': '' }), 'leadsheet.yaml')
      const lookAfter = async (hours: number, who: string) => {
        utimesSync(settingsFile, NOW, new Date(hoursAgo(hours)))
        await look(`changed ${hours} hours ago, ${who}`, { settingsFile })
      }
      await lookAfter(2, 'no daemon')
      await holdFor(store, 'daemon', 5)
      for (const hours of [2, 0.5, 6]) await lookAfter(hours, 'a daemon of five hours')
    },
    'has a database whose rules do not hold, which is asked once an hour and once more before it is told':
      async (store, look) => {
        const findViolations = createViolationWatch(store.db)
        const lookAt = (minute: number) => look(`minute ${minute}`, { findViolations }, later(minute))
        await lookAt(0)
        await sql`INSERT INTO sync_watermark (resource, updated_at) VALUES ('lead', '2026-11-21')`.execute(
          store.db,
        )
        for (const minute of [59, 60, 61, 62]) await lookAt(minute)
        await sql`DELETE FROM sync_watermark`.execute(store.db)
        for (const minute of [63, 122]) await lookAt(minute)
      },
    'has no database whose rules do not hold where a worker takes up what one that was killed has left':
      async (store, look) => {
        await noteRun(store, { schedule: 'sync', due_at: hoursAgo(0.1), state: 'running' })
        const findViolations = createViolationWatch(store.db)
        await look('left', { findViolations })
        await store.db.updateTable('scheduled_run').set({ state: 'done' }).execute()
        await look('taken up', { findViolations }, later(2))
      },
    'had a database that could not be written until a day ago': async (_, look) => {
      const fault = { from: hoursAgo(2), message: 'the disk is full', hint: 'Make room.' }
      for (const to of [hoursAgo(1), null, hoursAgo(25)])
        await look(`until ${to}`, { lastFault: () => ({ ...fault, to }) })
    },
  }))

/** Claims a lease as so many hours ago, for good. */
async function holdFor(store: Store, name: string, hours: number): Promise<void> {
  await claimLease(store, name, () => new Date(hoursAgo(hours)))
  await sql`UPDATE lease SET expires_at = '2999'`.execute(store.db)
}

describe.skipIf(IN_POSTGRES)('a machine with the file of the database', () => {
  async function openFile() {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    return {
      store,
      found: async () => (await findIn(store)).findings.map(({ check, message }) => `${check}: ${message}`),
    }
  }

  it('has no room for a snapshot beside a database that is large', async () => {
    const { store, found } = await openFile()
    const { bavail, bsize } = statfsSync(fileOf(store))
    expect(await found()).toEqual([])
    await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(store.db)
    // A hole takes no space on disk, but counts as growth of the database.
    const { size } = statSync(fileOf(store))
    truncateSync(fileOf(store), bavail * bsize)
    const told = await found()
    truncateSync(fileOf(store), size)
    expect(told).toEqual([
      expect.stringMatching(/^disk_low: Less than [\d,]+ MB are free in the data directory/),
    ])
  })

  it.each([
    [0, 'fail'],
    [10_000_000, 'warn'],
  ])('cannot be written only when its disk is full: %d bytes free', async (free, severity) => {
    const facts = factsOf((await openFile()).store, NOW)
    const size = async () => ({ ...(await facts.size()), room: { free, database: 1, log: 1 } })
    expect(await CHECKS.database_unwritable.find({ ...facts, size })).toMatchObject([{ severity }])
  })

  it('has a log that nobody empties, unless a sync is writing it', async () => {
    const { store, found } = await openFile()
    const { size } = statSync(`${fileOf(store)}-wal`)
    truncateSync(`${fileOf(store)}-wal`, 200_000_000)
    expect(await found()).toEqual([expect.stringMatching(/^log_large: .*200 MB/)])
    await claimLease(store, 'sync', () => NOW)
    expect(await found()).toEqual([])
    truncateSync(`${fileOf(store)}-wal`, size)
  })
})

/**
 * The judgement of an installation: which checks pass, which only warn, and in which order they are shown.
 */

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { EventSource, InstalledSchedule, Part } from '../../src/checks/check.ts'
import { readHealth } from '../../src/checks/run-checks.ts'
import type { ErrorCode } from '../../src/errors.ts'
import { readRegistration } from '../../src/jobs/events/webhook-registration.ts'
import type { Alert } from '../../src/store/alerts/alert.ts'
import { upsertAlerts } from '../../src/store/alerts/alert.ts'
import { fileOf } from '../../src/store/db/place.ts'
import type { Store } from '../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../src/store/leads/quarantined-record.ts'
import { enqueueMessage, moveDelivery } from '../../src/store/outbox/delivery.ts'
import { saveMailOutage } from '../../src/store/outbox/send-limits.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import type { ScheduledRun } from '../../src/store/schedule/scheduled-run.ts'
import { endUptime } from '../../src/store/schedule/uptime.ts'
import type { RunSummary } from '../../src/store/sync/sync-run.ts'
import { event, receive } from '../support/data/events.ts'
import { mailOutage, noteRun, saveUptime } from '../support/data/operation.ts'
import { folderWith } from '../support/folder.ts'
import { MESSAGE } from '../support/mail/message.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../support/store.ts'
import { bareInstallation } from '../support/web/installation.ts'
import { openAlert } from '../support/web/store-with-problems.ts'
import { expectTold, minutesAgo, NOW, type State } from './states.ts'

const HOUR = 60
const UNREADABLE = { resource: 'lead', id: 'x', reason: 'no status', raw: '{}', isWhole: true } as const

function schedule(name: string, expression: string): InstalledSchedule {
  const timing = { expression, timeZone: 'UTC', holidays: [] }
  return { name, timing, catchUp: { policy: 'latest', windowHours: 24 } }
}

const SCHEDULES = [schedule('sync', '*/15 * * * *'), schedule('report:daily', '0 15 * * *')]

/** Compares the judgement in each state, with each part of it that is not all right, with the golden file. */
function expectJudged(area: string, states: Readonly<Record<string, State>>): Promise<void> {
  return expectTold(`health, ${area}`, states, async (store, change, now) => {
    const settings = { schedules: SCHEDULES, reports: ['daily'], ...change }
    const { status, sentence, checks } = await readHealth(bareInstallation(store, settings), now)
    const wrong = checks.filter((check) => check.status !== 'ok' || check.remedy !== null)
    return [
      `    ${status}: ${sentence}`,
      ...wrong.map(
        (check) => `      ${check.status} ${check.what}: ${check.found}\n        -> ${check.remedy}`,
      ),
    ]
  })
}

/** Saves two leads and a run that read them and ended a minute later. */
async function syncLeads(store: Store, minutes = 4): Promise<void> {
  await save(store, [lead('a'), lead('b')])
  await endedRun(store, minutes, 'ok', { leads_as_of: minutesAgo(minutes) })
}

/** Saves a run that ended so, a minute after its start, without a whole reading of the leads. */
async function endedRun(
  store: Store,
  minutes: number,
  outcome: RunSummary['outcome'],
  change: { readonly code?: ErrorCode; readonly leads_as_of?: string } = {},
): Promise<void> {
  const { code, leads_as_of = null } = change
  const problems = code === undefined ? [] : [{ part: 'sync', code, message: 'It did not go on.' }]
  const id = await saveWholeRun(store, minutesAgo(minutes))
  const finished_at = outcome === null ? null : minutesAgo(minutes - 1)
  await store.db
    .updateTable('sync_run')
    .where('id', '=', id)
    .set({ outcome, finished_at, leads_as_of, problems: JSON.stringify(problems) })
    .execute()
}

const forgetRuns = (store: Store) => store.db.deleteFrom('sync_run').execute()
const startDaemon = (store: Store, lastTick = 0) =>
  saveUptime(store, minutesAgo(lastTick + 600), minutesAgo(lastTick))

/** Opens the alert of a wrong clock. */
const alert = (store: Store, change: Partial<Alert> = {}) =>
  store.write((trx) =>
    upsertAlerts(trx, [
      openAlert({ checkId: 'clock_wrong', message: 'It fails.', hint: 'Look.', ...change }),
    ]),
  )

it('where all is well', () =>
  expectJudged('where all is well', {
    'one sentence says since when, of what, and what comes next, which only a daemon brings': async (
      store,
      look,
    ) => {
      await syncLeads(store)
      await look('no daemon')
      await startDaemon(store)
      await look('a daemon')
    },
    'an acknowledged alert is known, and told no more': async (store, look) => {
      await syncLeads(store)
      await alert(store, { acknowledgedAt: minutesAgo(5) })
      await look('acknowledged')
    },
    'so are messages that were refused before it was acknowledged, but none after': async (store, look) => {
      const refuse = (messageId: string, at: string) =>
        store.write(async (trx) => {
          await enqueueMessage(trx, null, { ...MESSAGE, messageId }, at)
          const refused = { state: 'failed', at, nextAttemptAt: null, response: '550 no such user' } as const
          await moveDelivery(trx, messageId, ['pending'], refused)
        })
      await syncLeads(store)
      await refuse('<1@example.com>', minutesAgo(60))
      await look('one refused')
      const acknowledgedAt = minutesAgo(30)
      await alert(store, { checkId: 'messages_failed', subject: 'alerts', acknowledgedAt })
      await look('acknowledged')
      await refuse('<2@example.com>', minutesAgo(10))
      await look('another refused')
    },
  }))

it('that all is well is said on proof only', () => {
  // The next sync after the 21st of November is on the 25th of December, in 34 days.
  const rare = { schedules: [schedule('sync', '0 6 25 12 *')] }
  const happenings: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
    'nothing happened': async () => undefined,
    'a sync failed': (store) => endedRun(store, 20, 'failed', { code: 'api_unreachable' }),
    'a sync was incomplete': (store) => endedRun(store, 20, 'partial'),
    'a sync was killed, as is known': (store) => endedRun(store, 20, 'killed'),
    'a sync was killed just now': (store) => endedRun(store, 20, null),
    'a person stopped a sync': (store) => endedRun(store, 20, 'failed', { code: 'run_interrupted' }),
    'the upstream deferred a sync': (store) => endedRun(store, 20, 'deferred'),
    'an operator knows of a problem that lasts': (store) => alert(store, { acknowledgedAt: minutesAgo(5) }),
    'records of last week cannot be read': (store) =>
      store.write((trx) => saveQuarantinedRecords(trx, [UNREADABLE], minutesAgo(170 * HOUR))),
    'a sync found another at work': (store) => endedRun(store, 20, 'failed', { code: 'job_busy' }),
    'the next sync runs': async (store) => {
      await claimLease(store, 'sync', () => NOW)
      await endedRun(store, 1, null)
    },
  }
  const states = Object.entries(happenings).map(([what, happen]): [string, State] => [
    what,
    async (store, look) => {
      await syncLeads(store, 200)
      await startDaemon(store)
      await happen(store)
      await look('the next sync is in 34 days', rare)
    },
  ])
  return expectJudged('on proof only', {
    ...Object.fromEntries(states),
    'a part of the data was never read': async (store, look) => {
      await syncLeads(store, 200)
      await startDaemon(store)
      await look('agents', { ...rare, reportedParts: ['leads', 'agents'] })
    },
  })
})

it('where not', () =>
  expectJudged('where not', {
    'leads that all changed their status on one day are no news, but a mistake to be cleaned': async (
      store,
      look,
    ) => {
      // The profile names a wrong field for the time of the last status change.
      const leads = Array.from({ length: 80 }, (_, index) => {
        const createdAt = `2026-10-${String(1 + (index % 28)).padStart(2, '0')}T08:00:00.000Z`
        return lead(`many${index}`, { createdAt, status: 'won', statusChangedAt: '2026-11-18T09:12:00.000Z' })
      })
      await save(store, leads)
      await syncLeads(store)
      await look('80 leads')
    },
    'the worst comes first, in plain words, and then how many more': async (store, look) => {
      await syncLeads(store, 27 * HOUR)
      await startDaemon(store, 200)
      await alert(store)
      await look('old data, a dead daemon and an alert')
    },
    'what only warns is said as plainly, with what it is about': async (store, look) => {
      await syncLeads(store)
      await alert(store)
      await look('an alert')
    },
    'statistics and agents that are old only warn': async (store, look) => {
      const old = minutesAgo(27 * HOUR)
      await syncLeads(store, 27 * HOUR)
      const { id } = await store.db.selectFrom('sync_run').select('id').executeTakeFirstOrThrow()
      await sql`INSERT INTO pipeline_stat (pipeline_id, observed_at, as_of, run_id, leads, open, won, lost, disqualified, raw)
        VALUES ('p1', ${old}, ${old}, ${id}, 1, 1, 0, 0, 0, '{}')`.execute(store.db)
      await store.db.updateTable('sync_run').set({ parts: '["leads","stats","agents"]', stats: 1 }).execute()
      await syncLeads(store)
      await look('no agents', { reportedParts: ['leads', 'stats', 'agents'] })
    },
  }))

it('says neither an address nor what a mail server said', async () => {
  await using store = await openEmptyStore()
  await syncLeads(store)
  const secret = 'ana@example.com'
  await store.write(async (trx) => {
    await enqueueMessage(trx, null, { ...MESSAGE, to: secret }, minutesAgo(300))
    const away = { kind: 'configuration', replyCode: 535, response: `535 no ${secret}` } as const
    await saveMailOutage(trx, mailOutage(minutesAgo(300), { ...away, nextAttemptAt: minutesAgo(-5) }))
  })
  await alert(store, { subject: `${secret} of daily`, message: `550 ${secret}` })
  const { checks } = await readHealth(bareInstallation(store, { mailServer: mailOutage('').server }), NOW)
  const said = JSON.stringify(checks.map(({ findings: _, ...shown }) => shown))
  expect(said).toContain('the mail server does not let us in; 1 message waits (alerts: 1), for 5 h')
  expect(said).toContain('clock wrong')
  expect(said).not.toMatch(/example\.com|535|550/)
})

it('leads and a first sync', () =>
  expectJudged('leads', {
    'that were never read are not fresh': async (_, look) => look('never'),
    'are old once three scheduled runs in a row have passed without a whole reading': async (store, look) => {
      await startDaemon(store)
      await syncLeads(store, 41)
      // Syncs were due at 11:30 and 11:45. The one of 12:00 has just come due.
      await look('41 minutes')
      await forgetRuns(store)
      await syncLeads(store, 61)
      await look('61 minutes')
    },
    'of a run that goes on with something else are not old by the scheduled runs that pass meanwhile': async (
      store,
      look,
    ) => {
      await startDaemon(store)
      await saveWholeRun(store, minutesAgo(90))
      await look('90 minutes')
    },
    'that are synced by hand are old after 26 hours': async (store, look) => {
      await syncLeads(store, 25 * HOUR)
      await look('25 hours')
      await forgetRuns(store)
      await syncLeads(store, 26 * HOUR + 1)
      await look('26 hours')
    },
    'of a first sync that was killed after it had read them all are not all there is': async (
      store,
      look,
    ) => {
      await saveWholeRun(store, minutesAgo(30))
      await look('killed')
      const lease = await claimLease(store, 'sync', () => NOW)
      await look('it runs')
      await lease.release()
      await endedRun(store, 20, 'ok', { leads_as_of: minutesAgo(20) })
      await look('another has finished')
      await forgetRuns(store)
      await saveWholeRun(store, minutesAgo(30))
      await startDaemon(store)
      await look('a daemon repeats it')
    },
    'of a first sync that a person stopped are not all there is': async (store, look) => {
      await endedRun(store, 30, 'failed', { code: 'run_interrupted', leads_as_of: minutesAgo(30) })
      await look('stopped')
    },
  }))

it('the daemon', () =>
  expectJudged('the daemon', {
    'lives while its heartbeat is not older than three minutes': async (store, look) => {
      await syncLeads(store)
      for (const minutes of [2, 4]) {
        await startDaemon(store, minutes)
        await look(`${minutes} minutes`)
      }
    },
    'is known to be gone at once where it was killed on this machine': async (store, look) => {
      await syncLeads(store)
      await startDaemon(store)
      await claimLease(store, 'daemon', () => NOW)
      await look('alive')
      const { pid } = spawnSync(process.execPath, ['--version'])
      await store.db.updateTable('lease').set({ pid }).execute()
      await look('killed')
    },
    'that somebody stopped only warns': async (store, look) => {
      await syncLeads(store)
      const id = await startDaemon(store, 600)
      await store.write((trx) => endUptime(trx, id, minutesAgo(600)))
      await look('stopped')
    },
    'whose heartbeat is in the future, before the clock was set back, does not live': async (store, look) => {
      await syncLeads(store)
      await startDaemon(store, -60)
      await look('in an hour')
    },
  }))

it('schedules', () => {
  const notes: Readonly<Record<string, readonly (readonly [string, number, ScheduledRun['state']])[]>> = {
    'are not behind while what came has been noted and is not late': [
      ['sync', 15, 'done'],
      ['report:daily', 20, 'pending'],
    ],
    'are behind where nobody notes what comes': [['sync', 60, 'done']],
    'are behind where what came has not been begun for half an hour': [['report:daily', 31, 'pending']],
    'that wait for a person only warn': [['report:daily', 300, 'held']],
    'that wait for a person are told after what is behind': [
      ['report:daily', 300, 'held'],
      ['sync', 60, 'done'],
    ],
  }
  const states = Object.entries(notes).map(([title, runs]): [string, State] => [
    title,
    async (store, look) => {
      await syncLeads(store)
      await startDaemon(store)
      for (const [name, minutes, state] of runs)
        await noteRun(store, { schedule: name, due_at: minutesAgo(minutes), state })
      await look('noted')
    },
  ])
  return expectJudged('schedules', Object.fromEntries(states))
})

it('a database that is gone fails, and nothing else is looked at beside it', async () => {
  await using store = await openEmptyStore()
  rmSync(fileOf(store))
  const { checks } = await readHealth(bareInstallation(store), NOW)
  const statusOf = (part: Part) => checks.find(({ what }) => what === part)?.status
  expect([statusOf('database'), statusOf('disk')]).toEqual(['fail', 'ok'])
})

it('events of the upstream', () => {
  const registered = { events: ['lead.created'], registeredAt: minutesAgo(HOUR) }
  const way: EventSource = { readRegistration: async () => registered, isByHand: false, canRegister: true }
  const unregistered: EventSource = { ...way, readRegistration: async () => null }
  return expectJudged('events', {
    'are all right while none is registered, none has come yet, and they come': async (store, look) => {
      await syncLeads(store)
      await look('none is registered', { events: unregistered })
      await look('one is registered by hand', { events: { ...unregistered, isByHand: true } })
      await look('none has come', { events: way })
      await receive(store, [event('1')], minutesAgo(3))
      await look('one has come', { events: way })
    },
    'warn, and nothing else breaks, where it cannot be read what is registered': async (store, look) => {
      await syncLeads(store)
      const file = join(folderWith({ 'webhook.json': '{' }), 'webhook.json')
      await look('broken', { events: { ...way, readRegistration: async () => readRegistration(file) } })
    },
  })
})

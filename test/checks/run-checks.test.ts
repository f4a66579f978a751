/**
 * The judgement of an installation: which checks pass, which only warn, and in which order they are shown.
 */

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventSource, Installation, InstalledSchedule, Part } from '../../src/checks/check.ts'
import { type Health, type PartResult, readHealth } from '../../src/checks/run-checks.ts'
import type { ErrorCode } from '../../src/errors.ts'
import { readRegistration } from '../../src/jobs/events/webhook-registration.ts'
import type { Alert } from '../../src/store/alerts/alert.ts'
import { upsertAlerts } from '../../src/store/alerts/alert.ts'
import { fileOf } from '../../src/store/db/place.ts'
import type { Store } from '../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../src/store/leads/quarantined-record.ts'
import { enqueueAlert, moveDelivery } from '../../src/store/outbox/delivery.ts'
import { saveMailOutage } from '../../src/store/outbox/send-limits.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import { addScheduledRun, type ScheduledRun } from '../../src/store/schedule/scheduled-run.ts'
import { beginUptime, endUptime, recordHeartbeat } from '../../src/store/schedule/uptime.ts'
import type { RunSummary } from '../../src/store/sync/sync-run.ts'
import { event, receive } from '../support/data/events.ts'
import { folderWith } from '../support/folder.ts'
import { MESSAGE } from '../support/mail/message.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../support/store.ts'
import { bareInstallation } from '../support/web/installation.ts'

const UNREADABLE = { resource: 'lead', id: 'x', reason: 'no status', raw: '{}', isWhole: true } as const
const NOW = new Date('2026-11-21T12:00:00Z')
const MINUTE_MS = 60_000
const HOUR = 60

let store: Store
let installation: Installation

beforeEach(async () => {
  store = await openEmptyStore()
  installation = bareInstallation(store, {
    schedules: [schedule('sync', '*/15 * * * *'), schedule('report:daily', '0 15 * * *')],
    reports: ['daily'],
  })
})
afterEach(() => store.close())

function schedule(name: string, expression: string): InstalledSchedule {
  const timing = { expression, timeZone: 'UTC', holidays: [] }
  return { name, timing, catchUp: { policy: 'latest', windowHours: 24 } }
}

function minutesAgo(minutes: number): string {
  return new Date(NOW.getTime() - minutes * MINUTE_MS).toISOString()
}

async function health(change: Partial<Installation> = {}): Promise<Health> {
  return readHealth({ ...installation, ...change }, NOW)
}

/** Saves leads as synced with a profile that names a wrong field for the time of the last status change. */
async function saveWonAtOnce(): Promise<void> {
  const at = (index: number) => `2026-10-${String(1 + (index % 28)).padStart(2, '0')}T08:00:00.000Z`
  const leads = Array.from({ length: 80 }, (_, index) =>
    lead(`many${index}`, {
      createdAt: at(index),
      status: 'won',
      statusChangedAt: '2026-11-18T09:12:00.000Z',
    }),
  )
  await save(store, leads)
}

async function check(what: Part, change: Partial<Installation> = {}): Promise<PartResult> {
  const { checks } = await health(change)
  const found = checks.find((one) => one.what === what)
  if (found === undefined) throw new Error(`${what} was not looked at`)
  return found
}

/** Saves a run that read all leads and ended a minute later. */
async function wholeRun(minutes: number): Promise<void> {
  const id = await saveWholeRun(store, minutesAgo(minutes))
  await store.db
    .updateTable('sync_run')
    .where('id', '=', id)
    .set({ outcome: 'ok', finished_at: minutesAgo(minutes - 1) })
    .execute()
}

/** Saves a run that ended so, a minute after its start, without a whole reading of the leads. */
async function endedRun(minutes: number, outcome: RunSummary['outcome'], code?: ErrorCode): Promise<void> {
  const problems = code === undefined ? [] : [{ part: 'sync', code, message: 'It did not go on.' }]
  const id = await saveWholeRun(store, minutesAgo(minutes))
  await store.db
    .updateTable('sync_run')
    .where('id', '=', id)
    .set({
      outcome,
      finished_at: outcome === null ? null : minutesAgo(minutes - 1),
      leads_as_of: null,
      problems: JSON.stringify(problems),
    })
    .execute()
}

async function daemon(lastTick: number, isEnded = false): Promise<void> {
  await store.write(async (trx) => {
    const id = await beginUptime(trx, { at: minutesAgo(lastTick + 600), after: 'down' })
    await (isEnded ? endUptime : recordHeartbeat)(trx, id, minutesAgo(lastTick))
  })
}

async function scheduledRun(name: string, minutes: number, state: ScheduledRun['state']): Promise<void> {
  const at = minutesAgo(minutes)
  await store.write((trx) =>
    addScheduledRun(trx, {
      schedule: name,
      due_at: at,
      state,
      noted_at: at,
      not_before: null,
      message: null,
    }),
  )
}

function alert(id: number, change: Partial<Alert>): Alert {
  const nothing = { reopenedAt: null, resolvedAt: null, announced: 'open', acknowledgedAt: null } as const
  return {
    id,
    checkId: 'clock_wrong',
    subject: '',
    state: 'open',
    seen: 3,
    message: 'It fails.',
    hint: 'Look.',
    firstSeenAt: minutesAgo(90),
    openedAt: minutesAgo(60),
    announcedAt: minutesAgo(60),
    ...nothing,
    ...change,
  }
}

describe('where all is well', () => {
  beforeEach(async () => {
    await save(store, [lead('a'), lead('b')])
    await wholeRun(4)
  })

  it('one sentence says since when, of what, and what comes next, which only a daemon brings', async () => {
    expect(await health()).toMatchObject({
      status: 'ok',
      sentence:
        'No new problem: last sync 4 min ago, 2 leads; no daemon has run, so nothing is synced or mailed by itself',
    })
    await store.write((trx) => beginUptime(trx, { at: minutesAgo(1), after: 'down' }))
    expect(await health()).toMatchObject({
      status: 'ok',
      sentence: 'All is well: last sync 4 min ago, 2 leads, next report in 3 h',
    })
  })

  it('nothing is asked for that nobody uses: a daemon, its schedules, a snapshot', async () => {
    for (const what of ['daemon', 'schedules', 'snapshot'] as const)
      expect(await check(what)).toMatchObject({ status: 'ok', found: 'nothing found' })
  })

  it('an acknowledged alert is known, and told no more', async () => {
    await store.write((trx) => upsertAlerts(trx, [alert(1, { acknowledgedAt: minutesAgo(5) })]))
    expect(await health()).toMatchObject({ status: 'ok' })
  })

  it('so are messages that were refused before it was acknowledged, but none after', async () => {
    const refuse = (messageId: string, at: string) =>
      store.write(async (trx) => {
        await enqueueAlert(trx, { ...MESSAGE, messageId }, at)
        const refused = { state: 'failed', at, nextAttemptAt: null, response: '550 no such user' } as const
        await moveDelivery(trx, messageId, ['pending'], refused)
      })
    await refuse('<1@example.com>', minutesAgo(60))
    expect(await check('messages')).toMatchObject({ status: 'warn' })
    const about = { checkId: 'messages_failed', subject: 'alerts' } as const
    await store.write((trx) => upsertAlerts(trx, [alert(1, { ...about, acknowledgedAt: minutesAgo(30) })]))
    expect(await check('messages')).toMatchObject({ status: 'ok' })
    await refuse('<2@example.com>', minutesAgo(10))
    expect(await check('messages')).toMatchObject({
      status: 'warn',
      found: '2 messages of the last week refused or given up',
    })
  })
})

describe('that all is well is said on proof only', () => {
  // The next sync after the 21st of November is on the 25th of December, in 34 days.
  const rare = { schedules: [schedule('sync', '0 6 25 12 *')] }
  beforeEach(async () => {
    await save(store, [lead('a'), lead('b')])
    await wholeRun(200)
    await daemon(0)
  })

  it.each<[string, () => unknown, 'ok' | 'warn', RegExp]>([
    [
      'a sync failed',
      () => endedRun(20, 'failed', 'api_unreachable'),
      'warn',
      /^The last sync did not finish\.$/,
    ],
    ['a sync was incomplete', () => endedRun(20, 'partial'), 'warn', /^The last sync did not finish\.$/],
    [
      'a sync was killed, as is known',
      () => endedRun(20, 'killed'),
      'warn',
      /^The last sync did not finish\.$/,
    ],
    ['a sync was killed just now', () => endedRun(20, null), 'ok', /; the last sync did not finish$/],
    [
      'a person stopped a sync',
      () => endedRun(20, 'failed', 'run_interrupted'),
      'ok',
      /; the last sync did not finish$/,
    ],
    ['the upstream deferred a sync', () => endedRun(20, 'deferred'), 'ok', /; the last sync did not finish$/],
    [
      'an operator knows of a problem that lasts',
      () => store.write((trx) => upsertAlerts(trx, [alert(1, { acknowledgedAt: minutesAgo(5) })])),
      'ok',
      /; acknowledged: clock wrong$/,
    ],
    [
      'records of last week cannot be read',
      () => store.write((trx) => saveQuarantinedRecords(trx, [UNREADABLE], minutesAgo(170 * HOUR))),
      'ok',
      /; 1 record quarantined$/,
    ],
  ])('not where %s, and the next is in 34 days', async (_what, happens, status, sentence) => {
    expect(await health(rare)).toMatchObject({
      status: 'ok',
      sentence: 'All is well: last sync 3 h ago, 2 leads',
    })
    await happens()
    const found = await health(rare)
    expect(found).toMatchObject({ status, sentence: expect.stringMatching(sentence) })
    expect(found.sentence).not.toContain('All is well')
  })

  it('not where a part of the data was never read', async () => {
    expect((await health({ ...rare, reportedParts: ['leads', 'agents'] })).sentence).toBe(
      'No new problem: last sync 3 h ago, 2 leads; no sync has read the agents',
    )
  })

  it('also while the next sync runs, or after one that found another at work', async () => {
    await endedRun(20, 'failed', 'job_busy')
    expect((await health(rare)).sentence).toMatch(/^All is well/)
    const lease = await claimLease(store, 'sync', () => NOW)
    await endedRun(1, null)
    expect((await health(rare)).sentence).toMatch(/^All is well/)
    await lease.release()
  })
})

describe('where not', () => {
  it('leads that all changed their status on one day are no news, but a mistake to be cleaned', async () => {
    await saveWonAtOnce()
    await wholeRun(4)
    expect(await check('times')).toMatchObject({
      status: 'warn',
      found:
        'status_changed_at of nearly all leads is of one day, 2026-11-18 (UTC): that may be the wrong field',
    })
    expect((await health()).sentence).toMatch(/^Status_changed_at of nearly all leads/)
  })

  it('the worst comes first, in plain words, and then how many more', async () => {
    await wholeRun(27 * HOUR)
    await daemon(200)
    await store.write((trx) => upsertAlerts(trx, [alert(1, {})]))
    const { status, sentence, checks } = await health()
    expect(status).toBe('fail')
    expect(sentence).toBe('The daemon has sent no heartbeat for 3 h. And 2 more: leads, clock wrong.')
    for (const { status, remedy } of checks) expect(remedy === null).toBe(status === 'ok')
  })

  it('what only warns is said as plainly, with what it is about', async () => {
    await wholeRun(4)
    await store.write((trx) => upsertAlerts(trx, [alert(1, {})]))
    expect(await health()).toMatchObject({ status: 'warn', sentence: 'Clock wrong.' })
  })

  it('says neither an address nor what a mail server said', async () => {
    await wholeRun(4)
    const secret = 'ana@example.com'
    await store.write(async (trx) => {
      await enqueueAlert(trx, { ...MESSAGE, to: secret }, minutesAgo(300))
      const subject = `${secret} of daily`
      await upsertAlerts(trx, [alert(1, { subject, message: `550 ${secret}` })])
      await saveMailOutage(trx, {
        server: 'smtp://mail.example.com:587',
        kind: 'configuration',
        beganAt: minutesAgo(300),
        failures: 3,
        nextAttemptAt: minutesAgo(-5),
        replyCode: 535,
        response: `535 no ${secret}`,
      })
    })
    const said = JSON.stringify(
      (await health({ mailServer: 'smtp://mail.example.com:587' })).checks.map(
        ({ findings: _, ...shown }) => shown,
      ),
    )
    expect(said).toContain('the mail server does not let us in; 1 message waits (alerts: 1), for 5 h')
    expect(said).toContain('clock wrong')
    expect(said).not.toMatch(/example\.com|535|550/)
  })
})

describe('leads', () => {
  it('that were never read are not fresh', async () => {
    expect(await check('leads')).toMatchObject({ status: 'fail', found: 'no sync has read all leads yet' })
  })

  it('are old once three scheduled runs in a row have passed without a whole reading', async () => {
    await daemon(0)
    await wholeRun(41)
    // Syncs were due at 11:30 and 11:45. The one of 12:00 has just come due.
    expect(await check('leads')).toMatchObject({ status: 'ok' })
    await store.db.deleteFrom('sync_run').execute()
    await wholeRun(61)
    expect(await check('leads')).toMatchObject({
      status: 'fail',
      found: 'no sync has read all leads for 61 min, since 2026-11-21 10:59 UTC',
    })
  })

  it('of a run that goes on with something else are not old by the scheduled runs that pass meanwhile', async () => {
    await daemon(0)
    await saveWholeRun(store, minutesAgo(90))
    expect(await check('leads')).toMatchObject({ status: 'ok' })
  })

  it('that are synced by hand are old after 26 hours', async () => {
    await wholeRun(25 * HOUR)
    expect(await check('leads')).toMatchObject({ status: 'ok' })
    await store.db.deleteFrom('sync_run').execute()
    await wholeRun(26 * HOUR + 1)
    expect(await check('leads')).toMatchObject({ status: 'fail' })
  })
})

it('statistics and agents that are old only warn', async () => {
  await wholeRun(27 * HOUR)
  const { id } = await store.db.selectFrom('sync_run').select('id').executeTakeFirstOrThrow()
  const [now, old] = [minutesAgo(0), minutesAgo(27 * HOUR)]
  await sql`INSERT INTO pipeline (id, name, first_seen_at, observed_at) VALUES ('p1', 'One', ${now}, ${now})`.execute(
    store.db,
  )
  await sql`INSERT INTO pipeline_stat (pipeline_id, observed_at, as_of, run_id, leads, open, won, lost, disqualified, raw)
    VALUES ('p1', ${old}, ${old}, ${id}, 1, 1, 0, 0, 0, '{}')`.execute(store.db)
  await store.db.updateTable('sync_run').set({ parts: '["leads","stats","agents"]', stats: 1 }).execute()
  const all = { reportedParts: ['leads', 'stats', 'agents'] } as const
  expect(await check('statistics', all)).toMatchObject({
    status: 'warn',
    found: expect.stringContaining('27 h'),
  })
  expect(await check('agents', all)).toMatchObject({ status: 'ok' })
})

describe('a first sync', () => {
  const unfinished = {
    status: 'warn',
    found: 'the first sync has not finished: it was stopped after its start at 2026-11-21 11:30 UTC',
    remedy: 'run `npx leadsheet sync`; it goes on from there',
  }

  it('that was killed after it had read all leads has not finished', async () => {
    await saveWholeRun(store, minutesAgo(30))
    expect(await check('syncs')).toMatchObject(unfinished)
    expect((await health()).sentence).toBe(`T${unfinished.found.slice(1)}.`)
  })

  it('that a person stopped has not finished', async () => {
    const id = await saveWholeRun(store, minutesAgo(30))
    const problems = JSON.stringify([{ part: 'sync', code: 'run_interrupted', message: 'stopped by SIGINT' }])
    const stopped = { outcome: 'failed', problems } as const
    await store.db.updateTable('sync_run').where('id', '=', id).set(stopped).execute()
    expect(await check('syncs')).toMatchObject(unfinished)
  })

  it('that runs, that a daemon repeats, or that another sync has finished is no problem', async () => {
    expect(await check('syncs')).toMatchObject({ status: 'ok' })
    await saveWholeRun(store, minutesAgo(30))
    const lease = await claimLease(store, 'sync', () => NOW)
    expect(await check('syncs')).toMatchObject({ status: 'ok' })
    await lease.release()
    await wholeRun(20)
    expect(await check('syncs')).toMatchObject({ status: 'ok' })
    await store.db.deleteFrom('sync_run').execute()
    await saveWholeRun(store, minutesAgo(30))
    await daemon(0)
    expect(await check('syncs')).toMatchObject({ status: 'ok' })
  })
})

describe('the daemon', () => {
  it('lives while its heartbeat is not older than three minutes', async () => {
    await daemon(2)
    expect(await check('daemon')).toMatchObject({ status: 'ok' })
    await daemon(4)
    expect(await check('daemon')).toMatchObject({ status: 'fail' })
  })

  it('is known to be gone at once where it was killed on this machine', async () => {
    await daemon(0)
    const lease = await claimLease(store, 'daemon', () => NOW)
    expect(await check('daemon')).toMatchObject({ status: 'ok' })
    const { pid } = spawnSync(process.execPath, ['--version'])
    await store.db.updateTable('lease').set({ pid }).execute()
    expect(await check('daemon')).toMatchObject({ status: 'fail' })
    await lease.release()
  })

  it('that somebody stopped only warns', async () => {
    await daemon(600, true)
    expect(await check('daemon')).toMatchObject({
      status: 'warn',
      found: 'the daemon was stopped 10 h ago: nothing is synced or mailed by itself',
    })
  })

  it('whose heartbeat is in the future, before the clock was set back, does not live', async () => {
    await daemon(-60)
    expect(await check('daemon')).toMatchObject({ status: 'fail' })
  })
})

describe('schedules', () => {
  beforeEach(() => daemon(0))

  it('are not behind while what came has been noted and is not late', async () => {
    await scheduledRun('sync', 15, 'done')
    await scheduledRun('report:daily', 20, 'pending')
    expect(await check('schedules')).toMatchObject({ status: 'ok' })
  })

  it('are behind where nobody notes what comes', async () => {
    await scheduledRun('sync', 60, 'done')
    expect(await check('schedules')).toMatchObject({
      status: 'fail',
      found: 'not begun: schedule sync since 2026-11-21 11:15 UTC',
    })
  })

  it('are behind where what came has not been begun for half an hour', async () => {
    await scheduledRun('report:daily', 31, 'pending')
    expect(await check('schedules')).toMatchObject({
      status: 'fail',
      found: 'not begun: report daily since 2026-11-21 11:29 UTC',
    })
  })

  it('that wait for a person only warn', async () => {
    await scheduledRun('report:daily', 300, 'held')
    expect(await check('schedules')).toMatchObject({
      status: 'warn',
      found: 'report daily of 2026-11-21 07:00 UTC: held until a person lets it go',
      remedy: expect.stringContaining('approve'),
    })
  })
})

describe('the files', () => {
  it('a database that is gone fails, and nothing else is looked at beside it', async () => {
    rmSync(fileOf(store))
    expect(await check('database')).toMatchObject({ status: 'fail' })
    expect(await check('disk')).toMatchObject({ status: 'ok' })
  })
})

describe('events of the upstream', () => {
  const registered = { events: ['lead.created'], registeredAt: minutesAgo(HOUR) }
  const way: EventSource = { readRegistration: async () => registered, isByHand: false, canRegister: true }
  const unregistered: EventSource = { ...way, readRegistration: async () => null }

  beforeEach(async () => {
    await save(store, [lead('a')])
    await wholeRun(4)
  })

  it('are all right while none is registered, none has come yet, and they come', async () => {
    for (const events of [unregistered, { ...unregistered, isByHand: true }, way])
      expect(await check('events', { events })).toMatchObject({ status: 'ok' })
    await receive(store, [event('1')], minutesAgo(3))
    expect(await health({ events: way })).toMatchObject({ status: 'ok' })
  })

  it('warn, and nothing else breaks, where it cannot be read what is registered', async () => {
    const broken = { ...way, readRegistration: async () => readRegistration(brokenFile()) }
    const { checks, status } = await health({ events: broken })
    expect(status).toBe('warn')
    expect(checks.find(({ what }) => what === 'events')).toMatchObject({
      found: expect.stringContaining('webhook.json cannot be read'),
      remedy: expect.stringContaining('register anew'),
    })
  })

  function brokenFile(): string {
    return join(folderWith({ 'webhook.json': '{' }), 'webhook.json')
  }
})

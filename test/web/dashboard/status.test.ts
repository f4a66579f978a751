/** The status page in each state of an installation. */
import { describe, expect, it } from 'vitest'
import type { EventSource } from '../../../src/checks/check.ts'
import type { ScanResult } from '../../../src/domain/sync.ts'
import { type Alert, upsertAlerts } from '../../../src/store/alerts/alert.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveQuarantinedRecords } from '../../../src/store/leads/quarantined-record.ts'
import { moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { saveMailOutage } from '../../../src/store/outbox/send-limits.ts'
import { saveIssue } from '../../../src/store/reports/issue.ts'
import { claimLease, type Lease } from '../../../src/store/schedule/lease.ts'
import { addScheduledRun, type ScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { beginUptime, recordHeartbeat } from '../../../src/store/schedule/uptime.ts'
import { startScan } from '../../../src/store/sync/scan.ts'
import { addCounts, finishRun, startRun } from '../../../src/store/sync/sync-run.ts'
import { saveScanResult } from '../../../src/store/sync/watermark.ts'
import { event, follow, receive } from '../../support/data/events.ts'
import { enqueueMessage, MESSAGE } from '../../support/mail/message.ts'
import { busyDay } from '../../support/reports/figures.ts'
import { lead, save, saveWholeRun } from '../../support/store.ts'
import { openStatusPage, STATUS_AT } from '../../support/web/status-page.ts'

const NONE = { seen: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0, pages: 0 }

function ago(minutes: number): string {
  return new Date(STATUS_AT.getTime() - minutes * 60_000).toISOString()
}

/** Saves a run that read all leads and ended within a minute. */
async function wholeRun(store: Store, minutes: number): Promise<string> {
  const id = await saveWholeRun(store, ago(minutes))
  const end = { outcome: 'ok', finished_at: ago(minutes - 1), duration_ms: 4_200 } as const
  await store.db
    .updateTable('sync_run')
    .where('id', '=', id)
    .set({ ...end, requests: 12 })
    .execute()
  return id
}

async function allIsWell(store: Store): Promise<void> {
  await save(store, [lead('a'), lead('b')])
  await wholeRun(store, 4)
  await store.write(async (trx) =>
    recordHeartbeat(trx, await beginUptime(trx, { at: ago(600), after: 'down' }), ago(0)),
  )
  await scheduledRun(store, { schedule: 'sync', due_at: ago(0), state: 'done' })
  await scheduledRun(store, { schedule: 'report:daily', due_at: '2026-11-20T15:00:00.000Z', state: 'done' })
}

async function scheduledRun(
  store: Store,
  change: Pick<ScheduledRun, 'schedule' | 'due_at' | 'state'> & Partial<ScheduledRun>,
): Promise<void> {
  const noted = { noted_at: change.due_at, not_before: null, message: null }
  await store.write((trx) => addScheduledRun(trx, { ...noted, ...change }))
}

function notice(id: number, change: Partial<Alert> = {}): Alert {
  return {
    id,
    checkId: 'sync_failing',
    subject: '',
    state: 'open',
    seen: 3,
    message: 'The last 3 syncs failed.',
    hint: 'Look at the upstream.',
    firstSeenAt: ago(90),
    openedAt: ago(60),
    reopenedAt: null,
    resolvedAt: null,
    announced: 'open',
    announcedAt: ago(60),
    acknowledgedAt: null,
    ...change,
  }
}

it('says of a fresh installation what is still to come, in words', async () => {
  const { read } = await openStatusPage()
  const text = await read()
  expect(text).toContain('No sync has read all leads yet.')
  expect(text).toContain('run npx leadsheet sync')
  expect(text).toContain('No sync has run yet.')
  expect(text).toContain('No report has been made yet.')
  expect(text).toContain('Leads not read yet')
  expect(text).toContain('Every record that came could be read.')
  expect(text).toContain('Daemon does not run: npx leadsheet run starts it')
})

it('says first that all is well, and then how fresh each thing is', async () => {
  const { read, readHtml, store } = await openStatusPage()
  await allIsWell(store)
  const text = await read()
  expect(text).toMatch(/^All is well: last sync 4 min ago, 2 leads, next report in 3 h As of 13:00/)
  expect(text).toContain('Leads fresh 4 min ago (12:56)')
  expect(text).toContain('Report daily 0 15 * * *, UTC in 3 h (16:00) Fri 20 Nov, 16:00 done')
  expect(text).toContain('Sync */15 * * * *, UTC in')
  expect(text).toContain('1 sync in the last 24 hours: 1 ok.')
  expect(text).toMatch(/12:56 ok all 0 0 0 0 12 0 4.2 s/)
  expect(text).toContain('runs since 03:00, last heartbeat 0 s ago')
  expect(text).toContain('leadsheet 1.2.3')
  expect(await readHtml()).not.toContain('class="message')
})

it('loads itself again only for a reader who asked for it', async () => {
  const { url, readHtml } = await openStatusPage()
  expect(await readHtml()).not.toContain('http-equiv')
  expect(await readHtml()).toContain('<a href="/?reload">Keep the page up to date</a>')
  const following = await (await fetch(`${url}/?reload`)).text()
  expect(following).toContain('<meta http-equiv="refresh" content="30">')
  expect(following).toContain('every 30 seconds; <a href="/">stop that</a>')
})

it('tells what is wrong with its remedy, once, and lets who may act say that they know', async () => {
  const { read, readHtml, store } = await openStatusPage({ canAct: true })
  await wholeRun(store, 60 * 30)
  await store.write((trx) =>
    upsertAlerts(trx, [
      notice(1, { checkId: 'sync_late', message: 'No sync has read all leads since 2026-11-20 08:00 UTC.' }),
      notice(2, { checkId: 'job_stuck', subject: 'sync', acknowledgedAt: ago(5) }),
    ]),
  )
  const text = await read()
  const [, wrong = ''] = /What is wrong (.*?) Data /.exec(text) ?? []
  expect(wrong).toMatch(
    /^data old since 12:00 No sync has read all leads since Fri 20 Nov, 09:00. Look at the upstream./,
  )
  expect(wrong).toContain('job stuck: sync since 12:00')
  expect(wrong).toContain('Acknowledged 12:55')
  expect(wrong.match(/No sync has read all leads/g)).toHaveLength(1)
  const buttons = [
    ...(await readHtml()).matchAll(/formaction="\/actions\/acknowledge" name="what" value="([^"]*)"/g),
  ]
  expect(buttons.map(([, what]) => what)).toEqual(['alert&#x3D;1'])
})

it('has no buttons where nothing can be done', async () => {
  const { readHtml, store } = await openStatusPage()
  await store.write((trx) => upsertAlerts(trx, [notice(1)]))
  await scheduledRun(store, {
    schedule: 'report:daily',
    due_at: ago(10),
    state: 'held',
    message: 'the data are old',
  })
  expect(await readHtml()).not.toContain('<button')
})

it('shows the sync under way, whoever runs it, and how far it is', async () => {
  const { read, readHtml, store } = await openStatusPage()
  const lease = await claimLease(store, 'sync', () => new Date(ago(1)))
  const id = await begin(store, lease, ago(1))
  const text = await read()
  expect(text).toContain(`since 12:59, 1 min ago, as process ${process.pid} on`)
  expect(text).toContain('Reading all leads 400 of 1,600 leads · 25% · 4 pages · 5 requests')
  expect(text).toContain('running all 400')
  expect(await readHtml()).toContain('<progress aria-label="Reading all leads" value="400" max="1600">')

  await store.db
    .updateTable('sync_run')
    .where('id', '=', id)
    .set({ leads_as_of: ago(1), details_read: 3 })
    .execute()
  expect(await read()).toContain('Reading statistics, agents and details details of 3 leads')
  expect(await readHtml()).toContain('<progress aria-label="Reading statistics, agents and details">')
  await lease.release()
})

it('takes a sync whose process is gone for killed', async () => {
  const { read, readHtml, store } = await openStatusPage()
  const lease = await claimLease(store, 'sync', () => new Date(ago(1)))
  await begin(store, lease, ago(1))
  await lease.release()
  expect(await read()).toContain('killed all 400')
  expect(await readHtml()).not.toContain('<progress')
})

async function begin(store: Store, lease: Lease, at: string): Promise<string> {
  return store.write(async (trx) => {
    await lease.renew(trx, new Date(at))
    const id = await startRun(trx, { mode: 'full', parts: ['leads'], at })
    await addCounts(trx, id, { ...NONE, seen: 400, inserted: 400, pages: 4 })
    await trx.updateTable('sync_run').set({ requests: 5 }).execute()
    await startScan(trx, {
      mode: 'full',
      updated_since: null,
      started_at: at,
      page_size: 500,
      profile_sha256: '',
      is_remap: 0,
    })
    await trx.updateTable('sync_scan').set({ pass_seen: 400, total_high: 1600 }).execute()
    return id
  })
}

it('unfolds what went wrong in a sync, and counts it among those of the day', async () => {
  const { read, readHtml, store } = await openStatusPage()
  await store.write(async (trx) => {
    const id = await startRun(trx, { mode: 'incremental', parts: ['leads'], at: ago(20) })
    await finishRun(
      trx,
      {
        runId: id,
        outcome: 'failed',
        complete: false,
        leads: NONE,
        scan: null,
        stats: 0,
        agents: 0,
        details: { read: 0, notFound: 0, failed: 0 },
        pages: 0,
        requests: 6,
        retries: 5,
        durationMs: 75_000,
        problems: [{ part: 'leads', code: 'api_unreachable', message: 'nobody <answers>', hint: 'Look.' }],
        notBefore: null,
      },
      ago(19),
    )
  })
  expect(await read()).toContain(
    '12:40 failed 1 problem leads: nobody &lt;answers&gt; Look. changes 0 0 0 0 6 5 1 min 15 s',
  )
  expect(await read()).toContain('1 sync in the last 24 hours: 1 failed.')
  const html = await readHtml()
  expect(html).not.toContain('<answers>')
})

it('tells of a held report why, and lets who may act let it go', async () => {
  const { read, readHtml, store } = await openStatusPage({ canAct: true })
  await scheduledRun(store, {
    schedule: 'report:daily',
    due_at: ago(10),
    state: 'held',
    message: 'the data are old',
  })
  expect(await read()).toContain('12:50 held the data are old Approve and send daily')
  expect(await readHtml()).toContain('formaction="/actions/approve" name="what" value="report&#x3D;daily"')
})

it('offers no approval of a report that failed and is tried again', async () => {
  const { read, store } = await openStatusPage({ canAct: true })
  const failed = { state: 'pending', message: 'the archive cannot be written' } as const
  await scheduledRun(store, { schedule: 'report:daily', due_at: ago(10), ...failed })
  await store.db.updateTable('scheduled_run').set({ attempts: 1 }).execute()
  expect(await read()).toContain('12:50 waits the archive cannot be written')
  expect(await read()).not.toContain('Approve')
})

it('tells what was missed and why, and when the daemon did not run', async () => {
  const { read, store } = await openStatusPage()
  const skipped = {
    schedule: 'report:daily',
    state: 'skipped',
    message: 'missed: nothing ran since 2026-11-18 14:50 UTC',
  } as const
  await scheduledRun(store, { ...skipped, due_at: '2026-11-18T15:00:00.000Z' })
  await scheduledRun(store, { ...skipped, due_at: '2026-11-19T15:00:00.000Z' })
  await store.write(async (trx) => {
    await recordHeartbeat(trx, await beginUptime(trx, { at: ago(9000), after: 'down' }), ago(6000))
    await recordHeartbeat(trx, await beginUptime(trx, { at: ago(60), after: 'down' }), ago(0))
  })
  const text = await read()
  expect(text).toContain(
    'Report daily Wed 18 Nov, 16:00 to Thu 19 Nov, 16:00 2 skipped missed: nothing ran since Wed 18 Nov, 15:50',
  )
  expect(text).toContain('Tue 17 Nov, 09:00 to 12:00: it was not started')
})

it('shows what became of the last issues, and which messages may not have arrived', async () => {
  const { read, readHtml, store } = await openStatusPage()
  const figures = busyDay()
  const issue = await store.write((trx) =>
    saveIssue(trx, {
      report: 'daily',
      period: figures.period,
      renderedAt: ago(30),
      figures,
      variant: '',
      programVersion: null,
      subject: '31 new leads',
      html: 'h',
      text: 't',
    }),
  )
  await store.write(async (trx) => {
    await enqueueMessage(trx, issue.id, MESSAGE, ago(30))
    const unconfirmed = {
      state: 'unconfirmed',
      at: ago(20),
      nextAttemptAt: null,
      response: 'the line was cut',
    } as const
    await moveDelivery(trx, MESSAGE.messageId, ['pending'], unconfirmed)
  })
  const text = await read()
  expect(text).toMatch(/31 new leads daily · \S+ · made 12:30 sent to 0 of 1, 1 unconfirmed/)
  expect(text).toContain(`${MESSAGE.to}, daily, 12:40: ask them`)
  expect(text).not.toContain('the line was cut')
  const links = [...(await readHtml()).matchAll(/href="(\/archive\/[^"]*)"/g)].map(([, href]) => href)
  expect(links).toEqual([`/archive/${issue.id}`, `/archive/${issue.id}`])
})

it('says that the mail server is away, and when it is tried again', async () => {
  const { read, store } = await openStatusPage()
  const at = { beganAt: ago(90), nextAttemptAt: ago(-15), failures: 4, replyCode: 421, response: 'go away' }
  await store.write((trx) =>
    saveMailOutage(trx, { server: 'smtp://mail.example.com:587', kind: 'transient', ...at }),
  )
  const text = await read()
  expect(text).toContain(
    'smtp://mail.example.com:587 defers all messages since 11:30. It is tried again at 13:15',
  )
  expect(text).not.toContain('go away')
})

it('unfolds which records are held and why, and which fields changed', async () => {
  const { read, store } = await openStatusPage()
  await store.write(async (trx) => {
    const record = { resource: 'lead', reason: 'no status', isWhole: true } as const
    await saveQuarantinedRecords(trx, [{ ...record, id: 'L-7', raw: '{"secret":"phone"}' }], ago(50))
    await saveQuarantinedRecords(trx, [{ ...record, id: null, raw: '{}' }], ago(10))
    const id = await startRun(trx, { mode: 'full', parts: ['leads'], at: ago(10) })
    const report: ScanResult = {
      mode: 'full',
      startedAt: ago(10),
      result: 'complete',
      stop: 'end',
      reportedTotal: 2,
      distinct: 2,
      pages: 1,
      passes: 1,
      moved: 0,
      cleaned: 0,
      cut: 0,
      heldBack: 0,
      warnings: [],
      drift: [
        { change: 'vanished', path: 'company.name', types: ['string'] },
        { change: 'retyped', path: 'score', types: ['string'] },
      ],
    }
    await saveScanResult(trx, id, report, ago(9))
  })
  const text = await read()
  expect(text).toContain('2 records quarantined, because they cannot be read')
  expect(text).toMatch(/lead: no status first 12:50, last 12:50 lead L-7: no status first 12:10, last 12:10/)
  expect(text).toContain('company.name vanished 12:51')
  expect(text).toContain('score now also string 12:51')
  expect(text).not.toContain('phone')
})

describe('the card of the events', () => {
  const registered = { events: ['lead.updated'], registeredAt: ago(60) }
  const way: EventSource = { readRegistration: async () => registered, isByHand: false, canRegister: true }
  const cardOf = (text: string) => /(?:^| )Events (.*?) Syncs /.exec(text)?.[1] ?? null

  it('is not there where the upstream has no webhooks', async () => {
    const { readHtml } = await openStatusPage()
    expect(await readHtml()).not.toContain('part-events')
  })

  it('says how changes come where none is registered, and what to do to have them at once', async () => {
    const none: EventSource = { ...way, readRegistration: async () => null }
    const { read } = await openStatusPage({ events: none })
    expect(cardOf(await read())).toBe(
      'not registered Changes come with each sync. npx leadsheet webhooks register --self has the upstream tell of each at once.',
    )
    const byHand = await openStatusPage({ events: { ...none, canRegister: false } })
    expect(cardOf(await byHand.read())).toMatch(/put its secret into events.secret_file.$/)
  })

  it('says how to try the way where none has come yet', async () => {
    const { read } = await openStatusPage({ events: way })
    expect(cardOf(await read())).toMatch(
      /^none yet A webhook is set up, and has brought none yet. npx leadsheet webhooks register --self/,
    )
  })

  it('tells what the last ones brought, and how long that took', async () => {
    const { read, store } = await openStatusPage({ events: way })
    await allIsWell(store)
    await save(store, [lead('a', { score: 40 })], ago(60))
    await receive(store, [event('1'), event('2', { resourceId: 'x', problem: 'no <id>' })], ago(2))
    const at = new Date(Date.parse(ago(2)) + 400).toISOString()
    const changed = { status: 'contacted', score: 62, updatedAt: ago(2), statusChangedAt: ago(2) }
    await save(store, [lead('a', changed)], at)
    await follow(store, 'a', { at, outcome: 'updated' })
    await receive(store, [event('3', { resourceId: 'b', type: 'lead.created' })], ago(1))
    const card = cardOf(await read()) ?? ''
    expect(card).toMatch(/^in order 1 to be read since 12:59 /)
    expect(card).toContain('2 events in the last 24 hours: 1 brought a change, 1 failed.')
    expect(card).toContain('Company b lead.created waits 1 min ago')
    expect(card).toContain('Company a lead.updated changed 2 min ago 400 ms')
    expect(card).toContain('lead x lead.updated unreadable no &lt;id&gt; 2 min ago')
    await follow(store, 'b', { at: ago(0), outcome: 'unchanged' })
    expect(cardOf(await read())).toContain('Company b lead.created nothing new 1 min ago 1 min 0 s')
  })

  it('points to what is wrong, which is told above with what to do', async () => {
    const { read, store } = await openStatusPage({ events: way })
    await allIsWell(store)
    await receive(store, [event('1')], ago(50))
    const text = await read()
    expect(text).toContain('events Of the leads that events told of one waits to be read, since')
    expect(cardOf(text)).toMatch(/^in problem 1 to be read since /)
  })
})

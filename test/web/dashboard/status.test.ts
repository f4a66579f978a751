/** The status page in each state of an installation; `golden/` has what it shows, and `vitest -u` renews it. */
import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import type { EventSource } from '../../../src/checks/check.ts'
import { upsertAlerts } from '../../../src/store/alerts/alert.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { claimLease, type Lease } from '../../../src/store/schedule/lease.ts'
import { startScan } from '../../../src/store/sync/scan.ts'
import { addCounts, startRun } from '../../../src/store/sync/sync-run.ts'
import { event, follow, receive } from '../../support/data/events.ts'
import { noteRun, saveUptime } from '../../support/data/operation.ts'
import { lead, save, saveWholeRun } from '../../support/store.ts'
import { shownText } from '../../support/web/shown-text.ts'
import { openStatusPage, type StatusPage } from '../../support/web/status-page.ts'
import { ago, fillWithProblems, openAlert } from '../../support/web/store-with-problems.ts'

const REGISTERED: EventSource = {
  readRegistration: async () => ({ events: ['lead.updated'], registeredAt: ago(60) }),
  isByHand: false,
  canRegister: true,
}

/** Saves a run that read all leads and ended within a minute. */
async function wholeRun(store: Store, minutes: number): Promise<void> {
  const id = await saveWholeRun(store, ago(minutes))
  const end = { outcome: 'ok', finished_at: ago(minutes - 1), duration_ms: 4_200, requests: 12 } as const
  await store.db.updateTable('sync_run').where('id', '=', id).set(end).execute()
}

async function allIsWell(store: Store): Promise<void> {
  await save(store, [lead('a'), lead('b')])
  await wholeRun(store, 4)
  await saveUptime(store, ago(600), ago(0))
  await noteRun(store, { schedule: 'sync', due_at: ago(0), state: 'done' })
  await noteRun(store, { schedule: 'report:daily', due_at: '2026-11-20T15:00:00.000Z', state: 'done' })
}

/** Compares what the page shows with the golden file of this state. */
async function expectShown({ readHtml }: StatusPage, state: string): Promise<void> {
  const text = shownText(await readHtml())
    .replaceAll(hostname(), 'HOST')
    .replaceAll(`process ${process.pid}`, 'process PID')
    .replaceAll(/(?<=\/archive\/)[\w-]+/g, 'ISSUE')
  await expect(`${text}\n`).toMatchFileSnapshot(`golden/status/${state}.txt`)
}

it('says of a fresh installation what is still to come, in words', async () => {
  await expectShown(await openStatusPage(), 'fresh')
})

it('says first that all is well, and then how fresh each thing is', async () => {
  const page = await openStatusPage()
  await allIsWell(page.store)
  await expectShown(page, 'well')
  expect(await page.readHtml()).not.toContain('class="message')
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
  const page = await openStatusPage({ canAct: true })
  await wholeRun(page.store, 60 * 30)
  await page.store.write((trx) =>
    upsertAlerts(trx, [
      openAlert({ checkId: 'sync_late', message: 'No sync has read all leads since 2026-11-20 08:00 UTC.' }),
      openAlert({ id: 2, checkId: 'job_stuck', subject: 'sync', acknowledgedAt: ago(5) }),
    ]),
  )
  await expectShown(page, 'wrong')
})

it('shows the sync under way, whoever runs it, and how far it is', async () => {
  const page = await openStatusPage()
  const lease = await claimLease(page.store, 'sync', () => new Date(ago(1)))
  await begin(page.store, lease, ago(1))
  await expectShown(page, 'sync-leads')
  await page.store.db
    .updateTable('sync_run')
    .set({ leads_as_of: ago(1), details_read: 3 })
    .execute()
  await expectShown(page, 'sync-details')
  await page.store.db.updateTable('sync_run').set({ leads_as_of: null, details_read: 0 }).execute()
  // A sync whose process is gone was killed.
  await lease.release()
  await expectShown(page, 'killed')
})

async function begin(store: Store, lease: Lease, at: string): Promise<void> {
  await store.write(async (trx) => {
    await lease.renew(trx, new Date(at))
    const id = await startRun(trx, { mode: 'full', parts: ['leads'], at })
    await addCounts(trx, id, { leads_seen: 400, leads_inserted: 400, pages: 4 })
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
  })
}

it('shows all that can be wrong: failed syncs, held and missed reports, mails, records, fields and events', async () => {
  const page = await openStatusPage({ canAct: true, events: REGISTERED })
  const lease = await fillWithProblems(page.store)
  await expectShown(page, 'all-wrong')
  // The words of others are for operators of the command line alone.
  expect(await page.readHtml()).not.toMatch(/the line was cut|phone/)
  await lease.release()
})

it('offers no approval of a report that failed and is tried again, and no button where nothing can be done', async () => {
  const acting = await openStatusPage({ canAct: true })
  const due = { schedule: 'report:daily', due_at: ago(10), message: 'the archive cannot be written' }
  await noteRun(acting.store, { ...due, state: 'pending' })
  await acting.store.db.updateTable('scheduled_run').set({ attempts: 1 }).execute()
  const shown = shownText(await acting.readHtml())
  expect(shown).toMatch(/12:50 \|\s+waits\s+the archive cannot be written/)
  expect(shown).not.toContain('Approve')
  const looking = await openStatusPage()
  await looking.store.write((trx) => upsertAlerts(trx, [openAlert()]))
  await noteRun(looking.store, { ...due, state: 'held' })
  expect(await looking.readHtml()).not.toContain('<button')
})

describe('the card of the events', () => {
  const NONE_SET_UP: EventSource = { ...REGISTERED, readRegistration: async () => null }

  it.each([
    ['the upstream has no webhooks', null],
    ['one can be registered', NONE_SET_UP],
    ['one is set up by hand', { ...NONE_SET_UP, canRegister: false }],
    ['none has come yet', REGISTERED],
  ])('says how changes come where %s', async (_, events) => {
    const card = cardOf(await (await openStatusPage({ events })).readHtml())
    await expect(`${card}\n`).toMatchFileSnapshot(`golden/events/${_.replaceAll(' ', '-')}.txt`)
  })

  it('tells what the last ones brought, how long that took, and what is wrong', async () => {
    const { readHtml, store } = await openStatusPage({ events: REGISTERED })
    await allIsWell(store)
    await save(store, [lead('a', { score: 40 })], ago(60))
    await receive(store, [event('1'), event('2', { resourceId: 'x', problem: 'no <id>' })], ago(2))
    const at = new Date(Date.parse(ago(2)) + 400).toISOString()
    const changed = { status: 'contacted', score: 62, updatedAt: ago(2), statusChangedAt: ago(2) }
    await save(store, [lead('a', changed)], at)
    await follow(store, 'a', { at, outcome: 'updated' })
    await receive(store, [event('3', { resourceId: 'b', type: 'lead.created' })], ago(1))
    const cards = [cardOf(await readHtml())]
    await follow(store, 'b', { at: ago(0), outcome: 'unchanged' })
    await receive(store, [event('4')], ago(50))
    cards.push(cardOf(await readHtml()))
    await expect(cards.join('\n\n')).toMatchFileSnapshot('golden/events/received.txt')
  })
})

function cardOf(html: string): string {
  return /(?:^|\n)Events\n([\s\S]*?)\nSyncs\n/.exec(shownText(html))?.[1] ?? 'no card'
}

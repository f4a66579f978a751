/** Tests each action of the dashboard with its result in the store. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { upsertAlerts } from '../../../src/store/alerts/alert.ts'
import { listAnnotations } from '../../../src/store/insight/annotation.ts'
import { type DeliveryMove, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { noteRun } from '../../support/data/operation.ts'
import { enqueueDue, recipient, reportDeps } from '../../support/mail/reports.ts'
import { wordsOf } from '../../support/report.ts'
import { lead, save, saveWholeRun } from '../../support/store.ts'
import {
  AS_BROWSER,
  act,
  ask,
  NOW,
  type OpenedDashboard,
  openDashboard,
  signIn,
  TOKEN,
} from '../../support/web/dashboard.ts'
import { shownText } from '../../support/web/shown-text.ts'
import { openAlert } from '../../support/web/store-with-problems.ts'

const SETTINGS = `
alerts: { recipients: [ops@example.com] }
recipients: [ana@example.com, { address: ben@example.com, name: Ben }]
`

/** Opens a dashboard that an operator has signed in to, and tells what they do and what becomes of it. */
async function openOperated() {
  const dashboard = await openDashboard(`token: ${TOKEN}`, SETTINGS)
  const session = await signIn(dashboard.url)
  const { db } = dashboard.store
  const told: string[] = []
  const get = (path: string, { cookie } = session) =>
    ask(`${dashboard.url}${path}`, { headers: { ...AS_BROWSER, cookie } })
  return {
    ...dashboard,
    session,
    told,
    /** Sends a form like a page, and tells the message on the next page. */
    act: async (action: string, form: Readonly<Record<string, string>> = {}) => {
      const done = await act(dashboard.url, `/actions/${action}`, session, form)
      told.push(`${action} ${JSON.stringify(form).slice(0, 80)}`)
      if (done.status !== 303)
        return told.push(`  ${done.status} ${shownText(done.text).replaceAll('\n', ' ')}`)
      const page = await get(String(done.headers.location))
      const [, how, message = ''] =
        /<div class="message (\w+)" role="\w+"><p>(.*?)<\/p>/.exec(page.text) ?? []
      return told.push(`  ${how}: ${wordsOf(message.replace(/<\/?code>/g, '`'))}`)
    },
    page: async (path: string, as = session) => (await get(path, as)).text,
    /** Tells what the store has by now. */
    tellStore: async () => {
      const [runs, messages, preferences, alerts] = await Promise.all([
        db.selectFrom('scheduled_run').selectAll().orderBy('due_at').orderBy('schedule').execute(),
        db.selectFrom('delivery').selectAll().orderBy('recipient').orderBy('revision').execute(),
        db.selectFrom('preference').selectAll().execute(),
        db.selectFrom('alert').selectAll().execute(),
      ])
      told.push(
        ...runs.map(
          ({ schedule, due_at, state, approved_at }) =>
            `  run ${schedule} ${due_at} ${state}${approved_at ? `, approved ${approved_at}` : ''}`,
        ),
        ...messages.map(({ recipient, revision, state }) => `  message ${recipient} ${revision} ${state}`),
        ...preferences.map(
          (each) => `  preference ${each.address} ${each.report} ${each.state} by ${each.changed_by}`,
        ),
        ...alerts.map(({ id, acknowledged_at }) => `  alert ${id} acknowledged ${acknowledged_at}`),
        ...(await listAnnotations(dashboard.store.db)).map((each) => `  annotation ${JSON.stringify(each)}`),
        `  the daemon was woken ${dashboard.wakes()} times`,
      )
    },
    expectTold: async (name: string) => {
      const text = `${told.join('\n')}\n`
        .replaceAll(/process \d+ on [^.]*/g, 'process PID on HOST')
        .replaceAll(/\/\S*(?=\/outbox)|[0-9a-f]{8}(?=\.eml)/g, 'CHANCE')
        .replaceAll(/x{9,}/g, 'x…')
      await expect(text).toMatchFileSnapshot(`golden/actions/${name}.txt`)
    },
  }
}

/** Saves yesterday's report to ana and ben, each message with its own result. */
async function mail({ store }: OpenedDashboard, ends: Readonly<Record<string, DeliveryMove['state']>>) {
  await save(store, [lead('1'), lead('2')], '2026-11-19T10:00:00Z')
  await saveWholeRun(store, '2026-11-20T08:00:00Z')
  const people = Object.keys(ends).map((name) => recipient(`${name}@example.com`))
  await enqueueDue(
    reportDeps(store, () => NOW),
    people,
  )
  for (const row of await store.db.selectFrom('delivery').selectAll().execute()) {
    const state = ends[row.recipient.split('@')[0] ?? ''] ?? 'pending'
    const to = { state, at: NOW.toISOString(), nextAttemptAt: null, response: '250 Ok' }
    if (state !== 'pending') await store.write((trx) => moveDelivery(trx, row.message_id, ['pending'], to))
  }
}

it('a sync that is asked for is a scheduled run of now, once, and passes over none before it; none while one runs', async () => {
  const { act, tellStore, store, lines, expectTold } = await openOperated()
  const lease = await claimLease(store, 'sync', () => NOW)
  await act('sync')
  await lease.release()
  await tellStore()
  await noteRun(store, { schedule: 'sync', due_at: '2026-11-20T08:40:00.000Z', state: 'skipped' })
  for (const what of ['', '', 'full=yes']) await act('sync', { what })
  await tellStore()
  await expectTold('sync')
  expect(lines.join()).toMatch(
    /"action":"sync","fields":\{\},"session":"[\w-]{8}","network":"127\.0\.0\.1","msg":"A sync has/,
  )
})

it('what is done is told once, to who did it, on the page where it was asked for, and on none elsewhere', async () => {
  const { url, page, session } = await openOperated()
  const other = await signIn(url)
  const done = await act(url, '/actions/sync', session, { back: '/archive?find=x' })
  expect(done.headers.location).toBe('/archive?find=x')
  const isToldAt = async (path: string, as = session) =>
    (await page(path, as)).includes('A sync has been asked for')
  expect(await isToldAt('/')).toBe(false)
  expect(await isToldAt('/archive?find=x', other)).toBe(false)
  expect(await isToldAt('/archive?find=x')).toBe(true)
  expect(await isToldAt('/archive?find=x')).toBe(false)
  const astray = await act(url, '/actions/sync', session, { back: '//evil.example.com' })
  expect(astray.headers.location).toBe('/')
})

it('what is done is told to machines in plain words, with a status of its own', async () => {
  const { url, lines, told, expectTold } = await openOperated()
  const forms = { sync: {}, acknowledge: { alert: '99' }, test: { report: 'daily' } }
  for (const [action, form] of Object.entries(forms)) {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const { status, text } = await ask(`${url}/actions/${action}`, { method: 'POST', headers, form })
    told.push(`${status} ${text}`)
  }
  await expectTold('machine')
  expect(lines.join()).toContain('"session":"a machine with the token"')
})

it('what cannot be done is told', async () => {
  const { act, expectTold, store } = await openOperated()
  const reports = ['__proto__', 'constructor', 'x'.repeat(5_000), '', 'daily\0', "daily' or 1=1 --"]
  const day = { first: '2026-11-13', text: 'x' }
  for (const report of reports) await act('approve', { report })
  await act('approve', { report: 'daily' })
  await act('pause', { report: 'daily', address: 'zoe@example.com' })
  await act('test', { report: 'daily', to: 'ana@example.com' })
  await act('acknowledge', { what: 'alert=seven' })
  await act('test', { report: 'daily', to: 'anybody@elsewhere.com' })
  const lacks = [
    { first: '2026-11-14', last: '2026-11-13' },
    { first: '' },
    { text: ' ' },
    { pipeline: 'p9' },
  ]
  for (const lack of lacks) await act('annotate', { ...day, ...lack })
  await act('remove-annotation', { annotation: '9' })
  await act('remove-annotation')
  await expectTold('refused')
  expect(await listAnnotations(store.db)).toEqual([])
})

it('a problem is acknowledged by its number, and a report that is held is approved', async () => {
  const { act, store, tellStore, expectTold } = await openOperated()
  await store.write((trx) => upsertAlerts(trx, [openAlert({ id: 7, checkId: 'sync_late' })]))
  await act('acknowledge', { what: 'alert=7' })
  const due_at = '2026-11-20T07:00:00.000Z'
  await noteRun(store, { schedule: 'report:daily', due_at, state: 'held', message: 'the data are old' })
  await act('approve', { what: 'report=daily' })
  await tellStore()
  await expectTold('alert')
})

it('a report is tried by one address of the settings, after it was asked which', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, {})
  await dashboard.act('test', { what: 'report=daily' })
  await dashboard.act('test', { report: 'daily', to: 'anybody@elsewhere.com' })
  expect(existsSync(dashboard.outbox)).toBe(false)
  await dashboard.act('test', { report: 'daily', to: 'ops@example.com' })
  const [file = '', ...more] = readdirSync(dashboard.outbox).filter((name) => name.endsWith('.eml'))
  expect(more).toEqual([])
  const message = readFileSync(join(dashboard.outbox, file), 'utf8')
  dashboard.told.push(...(message.match(/^(?:To|Subject): .*$/gm) ?? []).map((line) => `  ${line.trim()}`))
  await dashboard.tellStore()
  await dashboard.expectTold('test')
})

it('a recipient is paused after a question, with the mails that waited, and resumed', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, { ana: 'pending', ben: 'sent' })
  const what = 'report=daily&address=ana%40example.com'
  await dashboard.act('pause', { what: `${what}&ask=yes` })
  await dashboard.tellStore()
  for (const action of ['pause', 'resume']) {
    await dashboard.act(action, { what })
    await dashboard.tellStore()
  }
  await dashboard.expectTold('pause')
})

it('messages that were refused are sent again without a question, and those that wait are not', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, { ana: 'failed', ben: 'sent' })
  await dashboard.act('resend', { what: 'report=daily&to=failed' })
  await dashboard.tellStore()
  await dashboard.act('resend', { what: 'report=daily&to=failed' })
  await dashboard.act('resend', { report: 'daily', to: 'ana@example.com' })
  await dashboard.expectTold('resend-failed')
})

it('a message that somebody has is sent anew only when that is confirmed, with the reason', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, { ana: 'sent' })
  const form = { report: 'daily', to: 'ana@example.com' }
  await dashboard.act('resend', form)
  await dashboard.tellStore()
  await dashboard.act('resend', { ...form, confirmed: 'yes', reason: 'wrong <currency>' })
  await dashboard.tellStore()
  await dashboard.expectTold('resend-sent')
})

it('a day is noted, listed and removed, by those alone who are signed in', async () => {
  const { act: acting, page, store, url, session, told, tellStore, expectTold } = await openOperated()
  await save(store, [lead('1', { pipelineId: 'p1' })], '2026-11-19T10:00:00Z')
  told.push(shownText(await page('/annotations')))
  const form = { first: '2026-11-13', last: '2026-11-14', text: ' a <b>campaign</b> ', pipeline: 'p1' }
  await acting('annotate', { ...form, effect: 'left_out' })
  await acting('annotate', { first: '2026-11-10', last: '', text: 'fair', effect: 'only_mark' })
  const foreign = await act(url, '/actions/annotate', { ...session, formToken: 'wrong' }, form)
  expect(foreign.status).toBe(403)
  expect((await ask(`${url}/annotations`, { headers: AS_BROWSER })).text).not.toContain('Note a day')
  await tellStore()
  const html = await page('/annotations')
  expect(html).not.toContain('<b>campaign')
  told.push(shownText(html))
  const [, annotation = ''] = /name="what" value="annotation(?:=|&#x3D;|&#61;)(\d+)"/.exec(html) ?? []
  await acting('remove-annotation', { annotation })
  await tellStore()
  await expectTold('annotations')
})

/** Tests each action of the dashboard with its result in the store. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { upsertAlerts } from '../../../src/store/alerts/alert.ts'
import { listAnnotations } from '../../../src/store/insight/annotation.ts'
import { type DeliveryMove, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { findPreference } from '../../../src/store/reports/preference.ts'
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
import { openAlert } from '../../support/web/store-with-problems.ts'

const SETTINGS = `
alerts: { recipients: [ops@example.com] }
recipients: [ana@example.com, { address: ben@example.com, name: Ben }]
`

async function openOperated() {
  const dashboard = await openDashboard(`token: ${TOKEN}`, SETTINGS)
  const session = await signIn(dashboard.url)
  const get = (path: string, { cookie } = session) =>
    ask(`${dashboard.url}${path}`, { headers: { ...AS_BROWSER, cookie } })
  return {
    ...dashboard,
    session,
    /** Sends a form like a page, and returns the message on the next page. */
    act: async (path: string, form: Readonly<Record<string, string>>) => {
      const done = await act(dashboard.url, path, session, form)
      if (done.status !== 303) return `${done.status} ${wordsOf(done.text)}`
      const page = await get(String(done.headers.location))
      const [, how, told] = /<div class="message (\w+)" role="\w+"><p>(.*?)<\/p>/.exec(page.text) ?? []
      return `${how}: ${wordsOf((told ?? '').replace(/<\/?code>/g, '`'))}`
    },
    page: async (path: string, as = session) => (await get(path, as)).text,
    scheduledRuns: () =>
      dashboard.store.db.selectFrom('scheduled_run').selectAll().orderBy('due_at').execute(),
    messages: async () =>
      (await dashboard.store.db.selectFrom('delivery').selectAll().execute())
        .map(({ recipient, revision, state }) => `${recipient} ${revision} ${state}`)
        .sort(),
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

it('a sync that is asked for is a scheduled run of now, once, and passes over none before it', async () => {
  const { act, scheduledRuns, store, wakes, lines } = await openOperated()
  const at = '2026-11-20T08:40:00.000Z'
  await noteRun(store, { schedule: 'sync', due_at: at, state: 'skipped' })
  expect(await act('/actions/sync', {})).toBe('ok: A sync has been asked for. It begins at once.')
  await act('/actions/sync', { what: '' })
  expect(await act('/actions/sync', { what: 'full=yes' })).toBe(
    'ok: A full sync has been asked for. It begins at once.',
  )
  const due = (await scheduledRuns()).map(
    ({ schedule, due_at, state }) => `${due_at.slice(11, 16)} ${schedule} ${state}`,
  )
  expect(due).toEqual(
    expect.arrayContaining(['08:40 sync skipped', '08:45 sync skipped', '09:00 sync pending']),
  )
  expect(due.filter((each) => each.endsWith('pending'))).toEqual([
    expect.stringMatching(/sync pending/),
    expect.stringMatching(/sync-full pending/),
  ])
  expect(wakes()).toBe(3)
  expect(lines.join()).toMatch(
    /"action":"sync","fields":\{\},"session":"[\w-]{8}","network":"127\.0\.0\.1","msg":"A sync has/,
  )
})

it('a sync is refused while one runs, whoever runs it', async () => {
  const { act, scheduledRuns, store } = await openOperated()
  const lease = await claimLease(store, 'sync', () => NOW)
  expect(await act('/actions/sync', {})).toMatch(
    /^fail: A sync is already running: process \d+ on .*\. Wait for it to end; `npx leadsheet status` shows it\.$/,
  )
  await lease.release()
  expect(await scheduledRuns()).toEqual([])
})

it('what is done is told once, to who did it, on the page where it was asked for', async () => {
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
})

it('what is done is told to machines in plain words, with a status of its own', async () => {
  const { url, lines } = await openOperated()
  const post = async (path: string, form: Record<string, string>) => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const { status, text } = await ask(`${url}${path}`, { method: 'POST', headers, form })
    return [status, text]
  }
  expect(await post('/actions/sync', {})).toEqual([200, 'A sync has been asked for. It begins at once.\n'])
  expect(await post('/actions/acknowledge', { alert: '99' })).toEqual([
    409,
    'alert: found 99, expected the number of an open alert. `npx leadsheet alerts list` lists them.\n',
  ])
  expect((await post('/actions/test', { report: 'daily' })).join()).toContain('to=ADDRESS says to whom')
  expect(lines.join()).toContain('"session":"a machine with the token"')
})

it('what cannot be done is told', async () => {
  const { act, store } = await openOperated()
  const reports = ['__proto__', 'constructor', 'x'.repeat(5_000), '', 'daily\0', "daily' or 1=1 --"]
  const day = { first: '2026-11-13', text: 'x' }
  const wrong: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ...reports.map((report) => ['approve', { report }] as const),
    ['acknowledge', { what: 'alert=seven' }],
    ['test', { report: 'daily', to: 'anybody@elsewhere.com' }],
    ['annotate', { ...day, first: '2026-11-14', last: '2026-11-13' }],
    ['annotate', { ...day, first: '' }],
    ['annotate', { ...day, text: ' ' }],
    ['annotate', { ...day, pipeline: 'p9' }],
    ['remove-annotation', { annotation: '9' }],
    ['remove-annotation', {}],
  ]
  const told: string[] = []
  for (const [action, form] of wrong)
    told.push(`${action} ${JSON.stringify(form).slice(0, 80)}\n  ${await act(`/actions/${action}`, form)}`)
  const text = told.join('\n').replaceAll(/x{9,}/g, 'x…')
  await expect(`${text}\n`).toMatchFileSnapshot('golden/actions-refused.txt')
  expect(await listAnnotations(store.db)).toEqual([])
})

it('a problem is acknowledged by its number, and a report that is held is approved', async () => {
  const { act, store, scheduledRuns, wakes } = await openOperated()
  await store.write((trx) => upsertAlerts(trx, [openAlert({ id: 7, checkId: 'sync_late' })]))
  expect(await act('/actions/acknowledge', { what: 'alert=7' })).toBe(
    'ok: data old: there are no more reminders of it.',
  )
  const { acknowledged_at } = await store.db.selectFrom('alert').selectAll().executeTakeFirstOrThrow()
  expect(acknowledged_at).toBe(NOW.toISOString())
  const at = '2026-11-20T07:00:00.000Z'
  await noteRun(store, { schedule: 'report:daily', due_at: at, state: 'held', message: 'the data are old' })
  expect(await act('/actions/approve', { what: 'report=daily' })).toBe(
    'ok: The report daily is approved. It is made and sent at once.',
  )
  expect([(await scheduledRuns())[0]?.approved_at, wakes()]).toEqual([NOW.toISOString(), 1])
})

it('a report is tried by one address of the settings, after it was asked which', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, {})
  const asked = await dashboard.act('/actions/test', { what: 'report=daily' })
  expect(asked).toMatch(/^200 .* Send a test of daily It uses/)
  expect(asked).toContain(
    'ops@example.com (operator) ana@example.com (recipient) ben@example.com (recipient, Ben)',
  )
  await dashboard.act('/actions/test', { report: 'daily', to: 'anybody@elsewhere.com' })
  expect(existsSync(dashboard.outbox)).toBe(false)
  expect(await dashboard.act('/actions/test', { report: 'daily', to: 'ops@example.com' })).toMatch(
    /^ok: A test of daily was sent to ops@example.com: /,
  )
  const [file = '', ...more] = readdirSync(dashboard.outbox).filter((name) => name.endsWith('.eml'))
  expect(more).toEqual([])
  const message = readFileSync(join(dashboard.outbox, file), 'utf8')
  expect(message).toMatch(/^To: ops@example\.com\r$/m)
  expect(message).toMatch(/^Subject: \[Test\] Daily/m)
  expect(await dashboard.messages()).toEqual([])
})

it('a recipient is paused after a question, with the mails that waited, and resumed', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, { ana: 'pending', ben: 'sent' })
  const key = { address: 'ana@example.com', report: 'daily' }
  const what = 'report=daily&address=ana%40example.com'
  expect(await dashboard.act('/actions/pause', { what: `${what}&ask=yes` })).toMatch(
    /^200 .*Pause daily for ana@example\.com\?/,
  )
  expect(await findPreference(dashboard.store.db, key)).toBeUndefined()
  expect(await dashboard.act('/actions/pause', { what })).toBe(
    'ok: ana@example.com gets daily no more until they are resumed. 1 mail that waited is withdrawn.',
  )
  const byOperator = { changedBy: 'operator' }
  expect(await findPreference(dashboard.store.db, key)).toMatchObject({ ...byOperator, state: 'paused' })
  expect(await dashboard.messages()).toEqual(['ana@example.com 0 withdrawn', 'ben@example.com 0 sent'])
  expect(await dashboard.act('/actions/resume', { what })).toBe('ok: ana@example.com gets daily again.')
  expect(await findPreference(dashboard.store.db, key)).toMatchObject({ ...byOperator, state: 'active' })
})

it('messages that were refused are sent again without a question, and those that wait are not', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, { ana: 'failed', ben: 'sent' })
  expect(await dashboard.act('/actions/resend', { what: 'report=daily&to=failed' })).toMatch(
    /^ok: 1 mail of daily on the way/,
  )
  expect(await dashboard.messages()).toEqual(['ana@example.com 0 pending', 'ben@example.com 0 sent'])
  expect(dashboard.wakes()).toBe(1)
  expect(await dashboard.act('/actions/resend', { what: 'report=daily&to=failed' })).toMatch(
    /^fail: Nothing was sent: there is no such mail to send again\./,
  )
  expect(await dashboard.act('/actions/resend', { report: 'daily', to: 'ana@example.com' })).toMatch(
    /^fail: Nothing was sent: ana@example.com: it waits to be sent\./,
  )
})

it('a message that somebody has is sent anew only when that is confirmed, with the reason', async () => {
  const dashboard = await openOperated()
  await mail(dashboard, { ana: 'sent' })
  const form = { report: 'daily', to: 'ana@example.com' }
  const asked = await dashboard.act('/actions/resend', form)
  expect(asked).toMatch(/^200 .* Send it again\? A recipient who has the mail/)
  expect(asked).toContain('ana@example.com 2026-11-19 has it a new mail that says so')
  expect(await dashboard.messages()).toHaveLength(1)
  const confirmed = { ...form, confirmed: 'yes', reason: 'wrong <currency>' }
  expect(await dashboard.act('/actions/resend', confirmed)).toMatch(/^ok: 1 mail of daily on the way/)
  expect(await dashboard.messages()).toEqual(['ana@example.com 0 sent', 'ana@example.com 1 pending'])
})

it('a day is noted, listed and removed, by those alone who are signed in', async () => {
  const { act: acting, page, store, url, session } = await openOperated()
  await save(store, [lead('1', { pipelineId: 'p1' })], '2026-11-19T10:00:00Z')
  expect(wordsOf(await page('/annotations'))).toContain('No day is noted.')
  const form = { first: '2026-11-13', last: '2026-11-14', text: ' a <b>campaign</b> ', pipeline: 'p1' }
  expect(await acting('/actions/annotate', { ...form, effect: 'left_out' })).toBe(
    'ok: Noted: a <b>campaign</b>. Reports from now on know it.',
  )
  await acting('/actions/annotate', { first: '2026-11-10', last: '', text: 'fair', effect: 'only_mark' })
  const foreign = await act(url, '/actions/annotate', { ...session, formToken: 'wrong' }, form)
  expect(foreign.status).toBe(403)
  expect((await ask(`${url}/annotations`, { headers: AS_BROWSER })).text).not.toContain('Note a day')
  const common = { writtenBy: 'dashboard', writtenAt: NOW.toISOString() }
  expect(await listAnnotations(store.db)).toMatchObject([
    {
      ...common,
      firstDay: '2026-11-10',
      lastDay: '2026-11-10',
      text: 'fair',
      pipelineId: null,
      isLeftOut: false,
    },
    {
      ...common,
      firstDay: '2026-11-13',
      lastDay: '2026-11-14',
      text: 'a <b>campaign</b>',
      pipelineId: 'p1',
      isLeftOut: true,
    },
  ])
  const html = await page('/annotations')
  expect(html).not.toContain('<b>campaign')
  expect(wordsOf(html)).toMatch(/Nov 2026 a <b>campaign<\/b> .*10 Nov 2026 fair all leads only marked/)
  const [, annotation = ''] = /name="what" value="annotation(?:=|&#x3D;|&#61;)(\d+)"/.exec(html) ?? []
  expect(await acting('/actions/remove-annotation', { annotation })).toBe(
    'ok: Removed: a <b>campaign</b>. Its days count again.',
  )
  expect(await listAnnotations(store.db)).toHaveLength(1)
})

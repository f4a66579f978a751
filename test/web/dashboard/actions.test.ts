/** Tests each action of the dashboard with its result in the store. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Alert, upsertAlerts } from '../../../src/store/alerts/alert.ts'
import { type DeliveryMove, moveDelivery } from '../../../src/store/outbox/delivery.ts'
import { findPreference } from '../../../src/store/reports/preference.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { addScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'
import { findBarriers } from '../../look/support/axe.ts'
import { enqueueDue, recipient, reportDeps } from '../../support/mail/reports.ts'
import { wordsOf } from '../../support/report.ts'
import { lead, save, saveWholeRun } from '../../support/store.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'
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

const SETTINGS = `
alerts: { recipients: [ops@example.com] }
recipients: [ana@example.com, { address: ben@example.com, name: Ben }]
`
const PROBLEM: Alert = {
  id: 7,
  checkId: 'sync_late',
  subject: '',
  state: 'open',
  seen: 1,
  message: 'No sync for 30 hours',
  hint: 'Look at the log.',
  firstSeenAt: '2026-11-20T08:00:00.000Z',
  openedAt: '2026-11-20T08:00:00.000Z',
  reopenedAt: null,
  resolvedAt: null,
  announced: 'open',
  announcedAt: null,
  acknowledgedAt: null,
}

async function openOperated() {
  const dashboard = await openDashboard(`token: ${TOKEN}`, SETTINGS)
  const session = await signIn(dashboard.url)
  return {
    ...dashboard,
    /** Sends a form like a page, and returns the message on the next page. */
    act: async (path: string, form: Readonly<Record<string, string>>) => {
      const done = await act(dashboard.url, path, session, form)
      if (done.status !== 303) return `${done.status} ${wordsOf(done.text)}`
      const page = await ask(`${dashboard.url}${done.headers.location}`, {
        headers: { ...AS_BROWSER, cookie: session.cookie },
      })
      const [, how, told] = /<div class="message (\w+)" role="\w+"><p>(.*?)<\/p>/.exec(page.text) ?? []
      return `${how}: ${wordsOf((told ?? '').replace(/<\/?code>/g, '`'))}`
    },
    page: async (path: string) =>
      (await ask(`${dashboard.url}${path}`, { headers: { ...AS_BROWSER, cookie: session.cookie } })).text,
    scheduledRuns: () =>
      dashboard.store.db.selectFrom('scheduled_run').selectAll().orderBy('due_at').execute(),
    messages: () =>
      dashboard.store.db
        .selectFrom('delivery')
        .selectAll()
        .orderBy('recipient')
        .orderBy('revision')
        .execute(),
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

describe('a sync that is asked for', () => {
  it('is a scheduled run of now, once, and the daemon looks after it at once', async () => {
    const { act, scheduledRuns, wakes, lines } = await openOperated()
    expect(await act('/actions/sync', {})).toBe('ok: A sync has been asked for. It begins at once.')
    await act('/actions/sync', { what: '' })
    const due = (await scheduledRuns()).filter(({ state }) => state === 'pending')
    expect(due.map(({ schedule, due_at }) => [schedule, due_at])).toEqual([['sync', NOW.toISOString()]])
    expect(wakes()).toBe(2)
    expect(lines.join()).toMatch(
      /"action":"sync","fields":\{\},"session":"[\w-]{8}","network":"127\.0\.0\.1","msg":"A sync has/,
    )
  })

  it('reads everything where that is wanted', async () => {
    const { act, scheduledRuns } = await openOperated()
    expect(await act('/actions/sync', { what: 'full=yes' })).toBe(
      'ok: A full sync has been asked for. It begins at once.',
    )
    const due = (await scheduledRuns()).filter(({ state }) => state === 'pending')
    expect(due.map(({ schedule }) => schedule)).toEqual(['sync-full'])
  })

  it('passes over no scheduled run that has come before it', async () => {
    const { act, scheduledRuns, store } = await openOperated()
    const at = '2026-11-20T08:40:00.000Z'
    const earlier = { schedule: 'sync', due_at: at, noted_at: at, not_before: null, message: null }
    await store.write((trx) => addScheduledRun(trx, { ...earlier, state: 'skipped' }))
    await act('/actions/sync', {})
    expect((await scheduledRuns()).map(({ due_at, state }) => `${due_at.slice(11, 16)} ${state}`)).toEqual([
      ...['08:40 skipped', '08:45 skipped', '09:00 pending'],
    ])
  })

  it('is refused while one runs, whoever runs it', async () => {
    const { act, scheduledRuns, store } = await openOperated()
    const lease = await claimLease(store, 'sync', () => NOW)
    expect(await act('/actions/sync', {})).toMatch(
      /^fail: A sync is already running: process \d+ on .*\. Wait for it to end; `npx leadsheet status` shows it\.$/,
    )
    await lease.release()
    expect(await scheduledRuns()).toEqual([])
  })
})

describe('what is done', () => {
  it('is told once, on the page where it was asked for', async () => {
    const { url, page } = await openOperated()
    const session = await signIn(url)
    const headers = { ...AS_BROWSER, cookie: session.cookie }
    const done = await act(url, '/actions/sync', session, { back: '/archive?find=x' })
    expect(done.headers.location).toBe('/archive?find=x')
    expect((await ask(`${url}/`, { headers })).text).not.toContain('A sync has been asked for')
    expect(await page('/archive?find=x')).not.toContain('A sync has been asked for')
    expect((await ask(`${url}/archive?find=x`, { headers })).text).toContain('A sync has been asked for')
    expect((await ask(`${url}/archive?find=x`, { headers })).text).not.toContain('A sync has been asked for')
  })

  it('is told to machines in plain words, with a status of its own', async () => {
    const { url, lines } = await openOperated()
    const post = (path: string, form: Record<string, string>) =>
      ask(`${url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` }, form })
    const done = await post('/actions/sync', {})
    expect([done.status, done.text]).toEqual([200, 'A sync has been asked for. It begins at once.\n'])
    const wrong = await post('/actions/acknowledge', { alert: '99' })
    expect([wrong.status, wrong.text]).toEqual([
      409,
      'alert: found 99, expected the number of an open alert. `npx leadsheet alerts list` lists them.\n',
    ])
    expect((await post('/actions/test', { report: 'daily' })).text).toContain('to=ADDRESS says to whom')
    expect(lines.join()).toContain('"session":"a machine with the token"')
  })

  it.each(['__proto__', 'constructor', 'x'.repeat(5_000), '', 'daily\0', "daily' or 1=1 --"])(
    'to a report that there is not is told: %j',
    async (report) => {
      const { act } = await openOperated()
      expect(await act('/actions/approve', { report })).toMatch(
        /^fail: There is no report named .*: daily\.$/s,
      )
    },
  )
})

describe('a problem', () => {
  it('is acknowledged by its number', async () => {
    const { act, store } = await openOperated()
    await store.write((trx) => upsertAlerts(trx, [PROBLEM]))
    expect(await act('/actions/acknowledge', { what: 'alert=7' })).toBe(
      'ok: data old: there are no more reminders of it.',
    )
    const { acknowledged_at } = await store.db.selectFrom('alert').selectAll().executeTakeFirstOrThrow()
    expect(acknowledged_at).toBe(NOW.toISOString())
    expect(await act('/actions/acknowledge', { what: 'alert=seven' })).toMatch(
      /^fail: alert: found "seven", expected the number of an alert/,
    )
  })
})

describe('a report', () => {
  it('that is held is approved', async () => {
    const { act, store, scheduledRuns, wakes } = await openOperated()
    const at = '2026-11-20T07:00:00.000Z'
    const held = { schedule: 'report:daily', due_at: at, state: 'held', message: 'the data are old' } as const
    await store.write((trx) => addScheduledRun(trx, { ...held, noted_at: at, not_before: null }))
    expect(await act('/actions/approve', { what: 'report=daily' })).toBe(
      'ok: The report daily is approved. It is made and sent at once.',
    )
    expect([(await scheduledRuns())[0]?.approved_at, wakes()]).toEqual([NOW.toISOString(), 1])
  })

  it('is tried by one address of the settings, after it was asked which', async () => {
    const dashboard = await openOperated()
    await mail(dashboard, {})
    const asked = await dashboard.act('/actions/test', { what: 'report=daily' })
    expect(asked).toMatch(/^200 .* Send a test of daily It uses/)
    expect(asked).toContain(
      'ops@example.com (operator) ana@example.com (recipient) ben@example.com (recipient, Ben)',
    )
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

  it('is tried by no other address', async () => {
    const { act, outbox } = await openOperated()
    expect(await act('/actions/test', { report: 'daily', to: 'anybody@elsewhere.com' })).toMatch(
      /^fail: anybody@elsewhere.com is neither an operator nor a recipient of daily\./,
    )
    expect(existsSync(outbox) ? readdirSync(outbox) : []).toEqual([])
  })
})

describe('a recipient', () => {
  it('is paused and resumed, with the mails that waited', async () => {
    const dashboard = await openOperated()
    await mail(dashboard, { ana: 'pending', ben: 'sent' })
    const key = { address: 'ana@example.com', report: 'daily' }
    const what = 'report=daily&address=ana%40example.com'
    expect(await dashboard.act('/actions/pause', { what })).toBe(
      'ok: ana@example.com gets daily no more until they are resumed. 1 mail that waited is withdrawn.',
    )
    expect(await findPreference(dashboard.store.db, key)).toMatchObject({
      state: 'paused',
      changedBy: 'operator',
    })
    expect((await dashboard.messages()).map(({ state }) => state)).toEqual(['withdrawn', 'sent'])
    expect(await dashboard.act('/actions/resume', { what })).toBe('ok: ana@example.com gets daily again.')
    expect(await findPreference(dashboard.store.db, key)).toMatchObject({
      state: 'active',
      changedBy: 'operator',
    })
  })

  it('is paused only after a question, where the button of a page is pressed', async () => {
    const dashboard = await openOperated()
    await mail(dashboard, { ana: 'pending' })
    const what = 'report=daily&address=ana%40example.com&ask=yes'
    expect(await dashboard.act('/actions/pause', { what })).toMatch(
      /^200 .*Pause daily for ana@example\.com\?/,
    )
    const key = { address: 'ana@example.com', report: 'daily' }
    expect(await findPreference(dashboard.store.db, key)).toBeUndefined()
    expect(await dashboard.act('/actions/pause', { report: 'daily', address: 'ana@example.com' })).toMatch(
      /^ok: ana@example\.com gets daily no more/,
    )
  })
})

describe('messages', () => {
  it('that were refused are sent again, without a question', async () => {
    const dashboard = await openOperated()
    await mail(dashboard, { ana: 'failed', ben: 'sent' })
    expect(await dashboard.act('/actions/resend', { what: 'report=daily&to=failed' })).toMatch(
      /^ok: 1 mail of daily on the way/,
    )
    const states = (await dashboard.messages()).map(({ recipient, revision, state }) => [
      recipient,
      revision,
      state,
    ])
    expect(states).toEqual([
      ['ana@example.com', 0, 'pending'],
      ['ben@example.com', 0, 'sent'],
    ])
    expect(dashboard.wakes()).toBe(1)
  })

  it('that somebody has are sent anew only when that is confirmed, with the reason', async () => {
    const dashboard = await openOperated()
    await mail(dashboard, { ana: 'sent' })
    const form = { report: 'daily', to: 'ana@example.com' }
    const asked = await dashboard.act('/actions/resend', form)
    expect(asked).toMatch(/^200 .* Send it again\? A recipient who has the mail/)
    expect(asked).toContain('ana@example.com 2026-11-19 has it a new mail that says so')
    expect(await dashboard.messages()).toHaveLength(1)
    const sent = await dashboard.act('/actions/resend', {
      ...form,
      confirmed: 'yes',
      reason: 'wrong <currency>',
    })
    expect(sent).toMatch(/^ok: 1 mail of daily on the way/)
    const [, second] = await dashboard.messages()
    expect([second?.revision, second?.state]).toEqual([1, 'pending'])
  })

  it('of which there are none are not', async () => {
    const dashboard = await openOperated()
    await mail(dashboard, { ana: 'pending' })
    expect(await dashboard.act('/actions/resend', { what: 'report=daily&to=failed' })).toMatch(
      /^fail: Nothing was sent: there is no such mail to send again\./,
    )
    expect(await dashboard.act('/actions/resend', { report: 'daily', to: 'ana@example.com' })).toMatch(
      /^fail: Nothing was sent: ana@example.com: it waits to be sent\./,
    )
  })
})

describe.skipIf(!hasBrowser)('an operator at a keyboard', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  /** Presses a key until the focused element has this name. */
  async function tabTo(page: Page, name: string): Promise<void> {
    for (let count = 0; count < 100; count += 1) {
      await page.keyboard.press('Tab')
      const focused = await page.evaluate('document.activeElement?.textContent.trim()')
      if (focused === name) return
    }
    throw new Error(`no key leads to ${name}`)
  }

  it('signs in, syncs, acknowledges and signs out', async () => {
    const { url, store, scheduledRuns, wakes } = await openOperated()
    await store.write((trx) => upsertAlerts(trx, [PROBLEM]))
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(url)
    await page.keyboard.type('not the token at all')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('That is not the token.').waitFor()
    await page.keyboard.type(TOKEN)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()

    await tabTo(page, 'Sync now')
    await page.keyboard.press('Enter')
    await page.getByText('A sync has been asked for. It begins at once.').waitFor()
    expect([(await scheduledRuns()).filter(({ state }) => state === 'pending').length, wakes()]).toEqual([
      1, 1,
    ])
    await page.reload()
    expect(await page.getByText('A sync has been asked for').count()).toBe(0)

    await tabTo(page, 'Acknowledge data old')
    await page.keyboard.press('Enter')
    await page.getByText('data old: there are no more reminders of it.').waitFor()
    const { acknowledged_at } = await store.db.selectFrom('alert').selectAll().executeTakeFirstOrThrow()
    expect(acknowledged_at).toBe(NOW.toISOString())

    await tabTo(page, 'Sign out')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(`${url}/archive`)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    // The browser itself reports the answer 401 to the wrong token.
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([])
    await page.close()
  })

  it('comes in by a link of another site, such as that of a mail, while they are signed in', async () => {
    const { url } = await openOperated()
    const page = await browser.newPage()
    const elsewhere = `data:text/html,<a href="${url}/archive?page=1">Look</a>`
    await page.goto(elsewhere)
    await page.getByRole('link', { name: 'Look' }).click()
    await page.waitForURL(`${url}/sign-in?to=*`)
    await page.getByLabel('Token').fill(TOKEN)
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/archive?page=1`)
    await page.goto(elsewhere)
    await page.getByRole('link', { name: 'Look' }).click()
    await page.waitForURL(`${url}/archive?page=1`)
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.close()
  })

  it('can read every page of it, in the light and in the dark', async () => {
    const dashboard = await openOperated()
    await mail(dashboard, { ana: 'sent' })
    const css = (await ask(`${dashboard.url}/dashboard.css`)).text
    const closed = await openDashboard('listen: 0.0.0.0:0')
    const session = await signIn(dashboard.url)
    const texts = [
      await ask(`${dashboard.url}/sign-in`),
      await ask(`${dashboard.url}/sign-in`, {
        method: 'POST',
        headers: { origin: dashboard.url },
        form: { token: 'wrong' },
      }),
      await act(dashboard.url, '/actions/test', session, { report: 'daily' }),
      await act(dashboard.url, '/actions/resend', session, { report: 'daily', to: 'ana@example.com' }),
      await ask(closed.url, { headers: AS_BROWSER }),
    ]
    const page = await browser.newPage()
    for (const { text } of texts) {
      // The test uses a copy of the page, because the page's policy forbids the script of axe.
      await page.setContent(text.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${css}</style>`))
      for (const width of [320, 1200]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        )
      }
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []])
      }
    }
    await page.close()
  })
})

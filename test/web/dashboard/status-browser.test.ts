/** The status page in a real browser. It updates itself without disturbing the reader. */
import { HtmlValidate } from 'html-validate'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EventSource } from '../../../src/checks/check.ts'
import { type Alert, upsertAlerts } from '../../../src/store/alerts/alert.ts'
import { finishRun, startRun } from '../../../src/store/sync/sync-run.ts'
import type { Timer } from '../../../src/upstream/client/retrying-client.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { findBarriers } from '../../look/support/axe.ts'
import { PAGE_RULES } from '../../look/support/html-rules.ts'
import { event, follow, receive } from '../../support/data/events.ts'
import { folderWith } from '../../support/folder.ts'
import { freePort } from '../../support/network/free-port.ts'
import { fakeTimer } from '../../support/schedule/timer.ts'
import { startService } from '../../support/service.ts'
import { lead, save, saveWholeRun } from '../../support/store.ts'
import { openSyncing } from '../../support/syncing.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'
import { openStatusPage, STATUS_AT, type StatusPage } from '../../support/web/status-page.ts'
import { fillWithProblems } from '../../support/web/store-with-problems.ts'

const REGISTERED: EventSource = {
  readRegistration: async () => ({ events: ['lead.updated'], registeredAt: '2026-11-21T06:00:00.000Z' }),
  isByHand: false,
  canRegister: true,
}
const NONE = { seen: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, quarantined: 0 }

describe.skipIf(!hasBrowser)('the status page in a browser', () => {
  let browser: Browser
  let page: Page
  /** Errors of the browser, and requests to other hosts. */
  let faults: string[]

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    faults = []
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      // Violations of the page's policy are reported here, too.
      if (message.type() === 'error') faults.push(message.text())
    })
    page.on('request', (request) => {
      if (new URL(request.url()).hostname !== '127.0.0.1') faults.push(request.url())
    })
  })
  afterEach(async () => {
    await page.close()
    expect(faults).toEqual([])
  })

  async function open({ url }: StatusPage): Promise<void> {
    await page.goto(url)
    await page.locator('#live.on').waitFor()
    // The mark would be gone after a reload.
    await page.evaluate('window.isStillThere = true')
  }

  const isStillThere = () => page.evaluate('window.isStillThere')
  const textOf = (selector: string) => page.locator(selector).innerText()

  it('shows a sync of the reference service while it runs, and then what it brought', async () => {
    await using service = await startService(folderWith(), STATUS_AT, 5)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    const limits = { ...REFERENCE_PROFILE.limits, requests_per_second: 1 }
    const halts = { 5: Promise.withResolvers<void>(), 15: Promise.withResolvers<void>() }
    await using syncing = await openSyncing(service.url, key, {
      source: { profile: { ...REFERENCE_PROFILE, limits }, timer: haltingTimer(halts) },
    })
    syncing.clock.now = STATUS_AT
    const shown = await openStatusPage({ store: syncing.store })
    await open(shown)
    expect(await textOf('h1')).toBe('No sync has read all leads yet.')
    const running = syncing.sync({ pageSize: 5 })

    const bar = page.locator('progress[value]')
    await bar.waitFor()
    const early = Number(await bar.getAttribute('value'))
    halts[5].resolve()
    await eventually(async () => Number(await bar.getAttribute('value'))).toBeGreaterThan(early)
    expect(await textOf('#part-progress')).toMatch(
      /Reading all leads [\d,]+ of [\d,]+ leads · \d+% · \d+ pages?/,
    )
    expect(await textOf('#part-runs .tag')).toBe('running')

    halts[15].resolve()
    const { leads } = await running
    await page.locator('h1.ok').waitFor()
    expect(await textOf('h1')).toContain(
      `All is well: last sync 0 s ago, ${leads.seen.toLocaleString('en')} leads`,
    )
    await eventually(() => page.locator('progress').count()).toBe(0)
    expect(await textOf('#part-runs .tag')).toBe('ok')
    expect(await isStillThere()).toBe(true)
    await page.goto('about:blank')
    await shown.close()
  })

  it('keeps what is unfolded, focused and scrolled to, and tells aloud only another sentence', async () => {
    const shown = await openStatusPage({ canAct: true })
    const { store, clock } = shown
    await save(store, [lead('a')])
    await saveWholeRun(store, '2026-11-21T11:56:00Z')
    await fail(shown, '2026-11-21T11:50:00.000Z')
    await open(shown)
    const summary = page.locator('#part-runs summary')
    await summary.focus()
    await page.keyboard.press('Enter')
    await page.evaluate('scrollTo(0, 200)')
    await eventually(() => page.evaluate('scrollY')).toBe(200)
    const id = await page.locator('#part-runs details').getAttribute('id')
    const said = await textOf('#said')

    clock.now = new Date('2026-11-21T12:01:00Z')
    await fail(shown, '2026-11-21T12:00:00.000Z')
    await eventually(() => page.locator('#part-runs summary').count()).toBe(2)
    expect(await page.evaluate('document.activeElement.parentNode.id')).toBe(id)
    expect(await page.evaluate(`document.getElementById('${id}').open`)).toBe(true)
    expect(await page.evaluate('scrollY')).toBe(200)
    expect(await textOf('#said')).toBe(said)

    await store.write((trx) => upsertAlerts(trx, [openAlert(1, 'clock_wrong')]))
    await eventually(() => textOf('#said')).toMatch(/clock wrong/i)
    expect(await textOf('#said')).toBe(await textOf('h1'))

    // A new entry above must not move another one under the user's finger.
    await page.locator('#alert-1 button').focus()
    await store.write((trx) =>
      upsertAlerts(trx, [{ ...openAlert(2, 'clock_wrong', '2026-11-20T12:00:00.000Z'), subject: 'b' }]),
    )
    await eventually(() => page.locator('#part-findings li[id^=alert]').first().getAttribute('id')).toBe(
      'alert-2',
    )
    expect(await page.evaluate('document.activeElement.value')).toBe('alert=1')
    expect(await isStillThere()).toBe(true)
  })

  it('says since when it is no longer live, and comes back by itself', async () => {
    await page.clock.install()
    const shown = await openStatusPage({ port: await freePort() })
    await open(shown)
    await shown.close()
    await page.clock.fastForward(30_000)
    await page.locator('#live.lost').waitFor()
    expect(await textOf('#live')).toBe('No longer live since 13:00; trying again')
    // The browser itself complains about the lost connection.
    faults = faults.filter((fault) => !fault.includes('ERR_CONNECTION_REFUSED'))

    await openStatusPage({ store: shown.store, port: Number(new URL(shown.url).port) })
    await page.locator('#live.on').waitFor()
    expect(await isStillThere()).toBe(true)
    faults = faults.filter((fault) => !/ERR_(?:CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING)/.test(fault))
  })

  it('shows an event as soon as it is in the store, among those that its reader has unfolded', async () => {
    const shown = await openStatusPage({ events: REGISTERED })
    await save(shown.store, [lead('a')], '2026-11-21T11:00:00Z')
    await receive(shown.store, [event('1', { resourceId: 'b' })], '2026-11-21T11:59:00.000Z')
    await open(shown)
    await page.getByText('The last 1', { exact: true }).click()
    await receive(shown.store, [event('2')], '2026-11-21T11:59:58.000Z')
    await eventually(() => textOf('#part-events tbody tr:first-child .tag')).toMatch(/waits$/)
    await save(
      shown.store,
      [lead('a', { status: 'contacted', updatedAt: STATUS_AT.toISOString() })],
      '2026-11-21T11:59:59Z',
    )
    await follow(shown.store, 'a', { at: '2026-11-21T11:59:59.000Z', outcome: 'updated' })
    await eventually(() => textOf('#part-events')).toContain(
      'The last one 2 s ago: Company a, new → contacted; here after 1 s.',
    )
    expect(await page.locator('#last-events').getAttribute('open')).not.toBeNull()
    expect(await page.locator('#part-events tbody tr').count()).toBe(2)
    expect(await isStillThere()).toBe(true)
  })

  it.each([
    { width: 1280, scheme: 'light' },
    { width: 320, scheme: 'dark' },
  ] as const)(
    'has no barrier, and fits, when all is wrong at once: $width px, $scheme',
    async ({ width, scheme }) => {
      const shown = await openStatusPage({ canAct: true, events: REGISTERED })
      const lease = await fillWithProblems(shown.store)
      await page.emulateMedia({ colorScheme: scheme })
      await page.setViewportSize({ width, height: 900 })
      await open(shown)
      await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
      expect(await page.locator('details').count()).toBeGreaterThanOrEqual(7)
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      const { results } = await new HtmlValidate(PAGE_RULES).validateString(await shown.readHtml())
      expect(results.flatMap(({ messages }) => messages.map(({ message }) => message))).toEqual([])
      await lease.release()
    },
  )

  it('is a plain page with a link to reload it where there is no script', async () => {
    const { url } = await openStatusPage()
    const plain = await browser.newPage({ javaScriptEnabled: false })
    await plain.goto(url)
    expect(await plain.locator('#live').innerText()).toBe('Reload to see what is new')
    await plain.getByRole('link', { name: 'Reload' }).click()
    expect(await plain.locator('h1').innerText()).toBe('No sync has read all leads yet.')
    await plain.close()
  })
})

/**
 * A timer whose waits take no time. Those with the given numbers last until the test resolves their promise.
 */
function haltingTimer(halts: Readonly<Record<number, PromiseWithResolvers<void>>>): Timer {
  const timer = fakeTimer()
  let waits = 0
  return {
    now: timer.now,
    async wait(ms, signal) {
      await timer.wait(ms, signal)
      await halts[++waits]?.promise
    },
  }
}

function openAlert(id: number, check: string, openedAt = STATUS_AT.toISOString()): Alert {
  return {
    id,
    check,
    subject: '',
    state: 'open',
    seen: 1,
    message: 'm',
    hint: 'h',
    firstSeenAt: openedAt,
    openedAt,
    reopenedAt: null,
    resolvedAt: null,
    announced: 'open',
    announcedAt: null,
    acknowledgedAt: null,
  }
}

/** Waits for a condition. The parts of the page are updated once a second. */
function eventually<T>(look: () => Promise<T>) {
  return expect.poll(look)
}

/** Saves a failed run. */
async function fail({ store }: StatusPage, at: string): Promise<void> {
  await store.write(async (trx) => {
    const id = await startRun(trx, { mode: 'incremental', parts: ['leads'], at })
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
        durationMs: 1_000,
        problems: [{ part: 'leads', code: 'api_unreachable', message: 'nobody answers', hint: null }],
        notBefore: null,
      },
      at,
    )
  })
}

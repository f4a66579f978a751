/** The status page in a real browser. It has no barrier, and fits. */
import { HtmlValidate } from 'html-validate'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EventSource } from '../../../src/checks/check.ts'
import { findBarriers } from '../../look/support/axe.ts'
import { PAGE_RULES } from '../../look/support/html-rules.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'
import { openStatusPage } from '../../support/web/status-page.ts'
import { fillWithProblems } from '../../support/web/store-with-problems.ts'

const REGISTERED: EventSource = {
  readRegistration: async () => ({ events: ['lead.updated'], registeredAt: '2026-11-21T06:00:00.000Z' }),
  isByHand: false,
  canRegister: true,
}

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
      await page.goto(shown.url)
      await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
      expect(await page.locator('details').count()).toBeGreaterThanOrEqual(7)
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      const { results } = await new HtmlValidate(PAGE_RULES).validateString(await shown.readHtml())
      expect(results.flatMap(({ messages }) => messages.map(({ message }) => message))).toEqual([])
      await lease.release()
    },
  )
})

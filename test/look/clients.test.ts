/**
 * Every report in every simulated mail program: nothing scrolls sideways, nothing is cut, everything is
 * legible.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { casesOfToday } from '../support/random.ts'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { CLIENTS } from './clients.ts'
import { measure } from './measure.ts'
import { OVERLONG, PAGES } from './pages.ts'
import { putFontInto } from './support/font.ts'

const SMALLEST_PX = 9
/** WCAG 2.2, 1.4.3, level AA. */
const CONTRAST = 4.5

const pages = [...PAGES, OVERLONG]
const looks = CLIENTS.flatMap((client) =>
  client.widths.flatMap((width) =>
    client.schemes.map((scheme) => ({ client, of: client.name, width, scheme })),
  ),
)

describe.skipIf(!hasBrowser)('a report', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  describe.each(casesOfToday(looks, 2))('in $of, $width px wide, $scheme', ({ client, width, scheme }) => {
    let page: Page
    beforeAll(async () => {
      page = await openPage(browser, { width, scheme })
      await putFontInto(page)
    })
    afterAll(() => page?.close())

    it.each(pages)('can be read: $name', async (mail) => {
      await page.setContent(client.show(mail))
      if (client.strip) await page.evaluate(client.strip)
      const { messages, ...found } = await measure(page)
      expect(found).toEqual({ width, cut: [], overlapping: [], distorted: [] })
      expect(messages.length).toBeGreaterThan(4)
      expect(messages.filter(({ size }) => size < SMALLEST_PX)).toEqual([])
      expect(messages.filter(({ contrast }) => contrast < CONTRAST)).toEqual([])
    })
  })
})

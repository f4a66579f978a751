/**
 * Compares the demo's reports with the accepted pictures in `reference/`. After an intended change, `LOOK=renew`
 * takes new pictures. Look at each of them before the commit.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { withImages } from './clients.ts'
import { findDifference, saveReference } from './picture.ts'
import { DEMO_MS, type Demo, openDemo } from './support/demo.ts'
import { putFontInto } from './support/font.ts'

const FOLDER = join(import.meta.dirname, 'reference')
const isRenewed = process.env.LOOK === 'renew'
/**
 * The version of Chromium that took the pictures. Other versions draw letters and lines slightly differently.
 */
const CHROMIUM = join(FOLDER, 'chromium.txt')

const looks = [
  { device: 'desktop', width: 720, scheme: 'light' },
  { device: 'desktop', width: 720, scheme: 'dark' },
  { device: 'phone', width: 375, scheme: 'light' },
  { device: 'phone', width: 375, scheme: 'dark' },
] as const

const readers = { en: {}, de: { locale: 'de-DE' } }
const reports = (['daily', 'weekly'] as const).flatMap((report) =>
  (['en', 'de'] as const).map((language) => ({ report, language })),
)

describe.skipIf(!hasBrowser)('a report looks as it did', () => {
  let browser: Browser
  let demo: Demo
  beforeAll(async () => {
    ;[browser, demo] = await Promise.all([openBrowser(), openDemo()])
    if (isRenewed) writeFileSync(CHROMIUM, `${majorOf(browser)}\n`)
  }, DEMO_MS)
  afterAll(async () => {
    await Promise.all([browser?.close(), demo?.[Symbol.asyncDispose]()])
  })

  async function show(page: Page, { report, language }: (typeof reports)[number]): Promise<string> {
    const name = `${report}-${language}`
    await page.setContent(withImages(await demo[report].pageFor(name, readers[language])))
    return name
  }

  describe.each(looks)('on a $device, $scheme', ({ device, width, scheme }) => {
    let page: Page
    beforeAll(async () => {
      page = await openPage(browser, { width, scheme })
      await putFontInto(page)
    })
    afterAll(() => page?.close())

    it.for(reports)('$report, $language', async (report, { skip }) => {
      skip(isOtherBrowser(browser), OTHER_BROWSER)
      const name = await show(page, report)
      const path = join(FOLDER, `${name}-${device}-${scheme}.png`)
      const taken = await page.screenshot({ fullPage: true })
      if (isRenewed) saveReference(taken, path)
      expect(findDifference(taken, path)).toBeNull()
    })
  })

  it('and a column that moves by six pixels is seen', async ({ skip }) => {
    skip(isOtherBrowser(browser), OTHER_BROWSER)
    await using page = await openPage(browser, { width: 720, scheme: 'light' })
    await putFontInto(page)
    const name = await show(page, { report: 'daily', language: 'en' })
    await page.addStyleTag({ content: 'table:not([role]) td:last-child { position: relative; left: -6px }' })
    const path = join(FOLDER, `${name}-desktop-light.png`)
    expect(findDifference(await page.screenshot({ fullPage: true }), path)).toMatch(
      /^the page differs by \d+ pixels of the square at \d+, \d+: see now\.png/,
    )
  })
})

const OTHER_BROWSER = 'the pictures are of another Chromium: renew them, look, commit'

function isOtherBrowser(browser: Browser): boolean {
  return majorOf(browser) !== readFileSync(CHROMIUM, 'utf8').trim()
}

function majorOf(browser: Browser): string {
  return browser.version().split('.')[0] ?? ''
}

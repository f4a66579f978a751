// @long
/**
 * Compares reports with the accepted pictures in `reference/`. After an intended change, `LOOK=renew` takes new
 * pictures. Look at each of them before the commit.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { withImages } from './clients.ts'
import { WORDED } from './pages.ts'
import { findDifference, saveReference } from './picture.ts'
import { putFontInto } from './support/font.ts'

const FOLDER = join(import.meta.dirname, 'reference')
const isRenewed = process.env.LOOK === 'renew'
/** The version of Chromium that took the pictures. Other versions draw letters and lines slightly differently. */
const CHROMIUM = join(FOLDER, 'chromium.txt')
const OTHER_BROWSER = 'the pictures are of another Chromium: renew them, look, commit'

const reports = WORDED.filter(({ name }) => /^(?:busy|week), /.test(name))
const looks = [
  { width: 720, scheme: 'light' },
  { width: 720, scheme: 'dark' },
  { width: 375, scheme: 'light' },
  { width: 375, scheme: 'dark' },
] as const

describe.skipIf(!hasBrowser)('a report looks as it did', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
    if (isRenewed) writeFileSync(CHROMIUM, `${majorOf(browser)}\n`)
  })
  afterAll(() => browser?.close())

  it.for(looks)('$width pixels wide, $scheme', async (look, { skip }) => {
    skip(majorOf(browser) !== readFileSync(CHROMIUM, 'utf8').trim(), OTHER_BROWSER)
    await using page = await openPage(browser, look)
    await putFontInto(page)
    for (const { name, make } of reports) {
      await page.setContent(withImages(await make()))
      const path = join(FOLDER, `${name.replace(', ', '-')}-${look.width}-${look.scheme}.png`)
      const taken = await page.screenshot({ fullPage: true })
      if (isRenewed) saveReference(taken, path)
      expect(findDifference(taken, path)).toBeNull()
      // A column that moves by six pixels is seen.
      await page.addStyleTag({
        content: 'table:not([role]) td:last-child { position: relative; left: -6px }',
      })
      expect(findDifference(await page.screenshot({ fullPage: true }), path)).toMatch(/^the page differs by/)
    }
  })
})

function majorOf(browser: Browser): string {
  return browser.version().split('.')[0] ?? ''
}

/**
 * The reports beside the pictures of them in `reference/`, which people have looked at. After a change that is meant
 * to show, `npm run look:renew` takes new pictures: look at each before it is committed.
 */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/browser.ts'
import { withImages } from './clients.ts'
import { putFontInto } from './font.ts'
import { REFERENCES } from './pages.ts'
import { findDifference, saveReference } from './picture.ts'

const FOLDER = join(import.meta.dirname, 'reference')
const isRenewed = process.env.LOOK === 'renew'

const looks = [
  { device: 'desktop', width: 720, scheme: 'light' },
  { device: 'desktop', width: 720, scheme: 'dark' },
  { device: 'phone', width: 375, scheme: 'light' },
  { device: 'phone', width: 375, scheme: 'dark' },
] as const

describe.skipIf(!hasBrowser())('a report looks as it did', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  describe.each(looks)('on a $device, $scheme', ({ device, width, scheme }) => {
    let page: Page
    beforeAll(async () => {
      page = await openPage(browser, { width, scheme })
      await putFontInto(page)
    })
    afterAll(() => page?.close())

    it.each(REFERENCES)('$name', async (mail) => {
      const path = join(FOLDER, `${mail.name}-${device}-${scheme}.png`)
      await page.setContent(withImages(mail))
      const taken = await page.screenshot({ fullPage: true })
      if (isRenewed) saveReference(taken, path)
      expect(findDifference(taken, path)).toBeNull()
    })
  })

  it('and a column that moves by six pixels is seen', async () => {
    const [mail] = REFERENCES
    const page = await openPage(browser, { width: 720, scheme: 'light' })
    await putFontInto(page)
    await page.setContent(withImages(mail))
    await page.addStyleTag({ content: '.list td:last-child { position: relative; left: -6px }' })
    const path = join(FOLDER, `${mail.name}-desktop-light.png`)
    expect(findDifference(await page.screenshot({ fullPage: true }), path)).toMatch(
      /^the page differs by \d+ pixels of the square at \d+, \d+: see now\.png/,
    )
  })
})

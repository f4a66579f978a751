/** No number and no word of a report is ever broken across lines, in any width, language and mail program. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { casesOfToday } from '../support/random.ts'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { withImages, withoutStyleBlocks } from './clients.ts'
import { measureWords } from './measure.ts'
import { type MailPage, WORDED } from './pages.ts'
import { putFontInto } from './support/font.ts'

const WIDTHS = [320, 360, 375, 414, 720]
const PROGRAMS: readonly { readonly of: string; readonly show: (page: MailPage) => string }[] = [
  { of: 'with all', show: withImages },
  { of: 'without images', show: ({ rendered }) => rendered.html },
  { of: 'without <style>', show: (page) => withoutStyleBlocks(withImages(page)) },
  { of: 'without both', show: ({ rendered }) => withoutStyleBlocks(rendered.html) },
]

describe.skipIf(!hasBrowser)('a report', () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await openBrowser()
    page = await openPage(browser, { width: 720, scheme: 'light' })
    await putFontInto(page)
  })
  afterAll(() => browser?.close())

  describe.each(PROGRAMS)('$of', ({ show }) => {
    it.each(casesOfToday(WORDED, 2))('keeps each word and number in one line: $name', async (mail) => {
      await page.setContent(show(mail))
      const found: Record<string, unknown> = {}
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        const { messages: _, width: shown, ...rest } = await measureWords(page)
        const faults = Object.entries(rest).filter(([, texts]) => texts.length > 0)
        if (shown > width) faults.push(['wide', [String(shown)]])
        if (faults.length > 0) found[width] = Object.fromEntries(faults)
      }
      expect(found).toEqual({})
    })
  })
})

/** Checks the pages by the rules of HTML, of accessibility and of mail programs. */
import { caniemail } from 'caniemail'
import { HtmlValidate } from 'html-validate'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { withImages } from './clients.ts'
import { OVERLONG, PAGES } from './pages.ts'
import { findBarriers } from './support/axe.ts'
import { putFontInto } from './support/font.ts'
import { HTML_RULES } from './support/html-rules.ts'
import { MAIL_CLIENTS, USED_FEATURES } from './support/mail-features.ts'

/** Gmail cuts off a mail at 102 KB. */
const HTML_BYTES = 80_000
/** Gmail drops a longer style block. */
const STYLE_BYTES = 16_000

const pages = [...PAGES, OVERLONG]
const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([found]) => found)

describe.each(pages)('the page of $name', ({ rendered: { subject, html } }) => {
  it('is valid HTML', async () => {
    const { results } = await new HtmlValidate(HTML_RULES).validateString(html)
    const mistakes = results.flatMap(({ messages }) => messages)
    expect(mistakes.map(({ line, ruleId, message }) => `line ${line}: ${ruleId}: ${message}`)).toEqual([])
  })

  it('fits in what mail programs take', () => {
    expect(Buffer.byteLength(html)).toBeLessThan(HTML_BYTES)
    for (const block of all(/<style[^>]*>.*?<\/style>/gs, html)) {
      expect(Buffer.byteLength(block)).toBeLessThan(STYLE_BYTES)
    }
  })

  it('says its title, its language and its direction, those again for a webmail that drops the page', () => {
    const title = /<title>(.*?)<\/title>/s.exec(html)?.[1]
    expect(title?.replaceAll('&amp;', '&').replaceAll('&#x27;', "'")).toBe(subject)
    expect(all(/<(?:html|div)[^>]* lang="[a-z]{2}(?:-[A-Z]{2})?" dir="(?:ltr|rtl)"/g, html)).toHaveLength(2)
  })

  it('has one first heading, and every table, heading cell and image is marked as what it is', () => {
    expect(all(/<h1[ >]/g, html)).toHaveLength(1)
    for (const table of all(/<table[^>]*>(?:<thead>)?/g, html)) {
      expect(table).toMatch(/role="presentation"|<thead>$/)
    }
    for (const heading of all(/<th[ >][^>]*/g, html)) expect(heading).toMatch(/scope="(?:col|row)"/)
    for (const image of all(/<img[^>]*>/g, html)) {
      // A chart without a height follows its width. With a height, blocked pictures would leave a hole.
      const sizes = image.includes('trend-') ? ['width'] : ['width', 'height']
      for (const attribute of ['alt', ...sizes]) expect(image).toContain(`${attribute}="`)
    }
  })
})

describe('the features that the pages use', () => {
  const found = new Set<string>()
  for (const { rendered } of pages) {
    const { errors, warnings } = caniemail({ clients: [...MAIL_CLIENTS], html: rendered.html }).issues
    for (const issues of [...errors.values(), ...warnings.values()]) {
      for (const { title } of issues) found.add(title)
    }
  }

  it('and that some mail program lacks are those that are known to do no harm there', () => {
    expect([...found].sort()).toEqual(Object.keys(USED_FEATURES).sort())
  })
})

describe.skipIf(!hasBrowser)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  describe('a report', () => {
    let page: Page
    beforeAll(async () => {
      page = await openPage(browser, { width: 720, scheme: 'light' })
    })
    afterAll(() => page?.close())

    it.each(PAGES)('shows the preheader to nobody who opens it: $name', async ({ rendered }) => {
      await page.setContent(rendered.html)
      expect(await page.isVisible('body > div[aria-hidden]')).toBe(false)
      expect(await page.isVisible('h1')).toBe(true)
    })
  })

  describe('a reader who cannot see well', () => {
    describe.each(['light', 'dark'] as const)('with %s colours', (scheme) => {
      let page: Page
      beforeAll(async () => {
        page = await openPage(browser, { width: 375, scheme })
        await putFontInto(page)
      })
      afterAll(() => page?.close())

      it.each(PAGES)('finds nothing in the way: $name', async (mail) => {
        await page.setContent(withImages(mail))
        expect(await findBarriers(page)).toEqual([])
      })
    })
  })
})

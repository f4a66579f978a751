/** Checks the pages by the rules of HTML, of accessibility and of mail programs. */
import { caniemail } from 'caniemail'
import { HtmlValidate } from 'html-validate'
import { describe, expect, it } from 'vitest'
import { casesOfToday } from '../support/random.ts'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { withImages } from './clients.ts'
import { PAGES } from './pages.ts'
import { findBarriers } from './support/axe.ts'
import { putFontInto } from './support/font.ts'
import { HTML_RULES } from './support/html-rules.ts'
import { expectLegible } from './support/legible.ts'
import { MAIL_CLIENTS, USED_FEATURES } from './support/mail-features.ts'

/** Gmail cuts off a mail at 102 KB. */
const HTML_BYTES = 80_000
/** Gmail drops a longer style block. */
const STYLE_BYTES = 16_000

const pages = await Promise.all(PAGES.map(async ({ name, make }) => ({ name, mail: await make() })))
const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([found]) => found)

describe.each(pages)(
  'the page of $name',
  ({
    mail: {
      rendered: { subject, html },
    },
  }) => {
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
  },
)

describe('the features that the pages use', () => {
  const found = new Set<string>()
  for (const { mail } of pages) {
    const { errors, warnings } = caniemail({ clients: [...MAIL_CLIENTS], html: mail.rendered.html }).issues
    for (const issues of [...errors.values(), ...warnings.values()]) {
      for (const { title } of issues) found.add(title)
    }
  }

  it('and that some mail program lacks are those that are known to do no harm there', () => {
    expect([...found].sort()).toEqual(Object.keys(USED_FEATURES).sort())
  })
})

/** A part of the pages, another one each day. The whole is in `clients.test.ts`. */
describe.skipIf(!hasBrowser)('in a browser', () => {
  it('a page is legible on the smallest phone in the dark, without a barrier', async () => {
    await using browser = await openBrowser()
    await using page = await openPage(browser, { width: 320, scheme: 'dark' })
    await putFontInto(page)
    for (const { name, mail } of casesOfToday(pages, 10)) {
      await page.setContent(withImages(mail))
      await expectLegible(page, 320, name)
      expect(await findBarriers(page)).toEqual([])
      expect(await page.isVisible('body > div[aria-hidden]')).toBe(false)
    }
  })
})

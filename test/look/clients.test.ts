// @long
/**
 * Every report in every simulated mail program: nothing scrolls sideways, nothing is cut, everything is legible, and
 * no word or number is broken across lines. A sample of it stands in `rules.test.ts`.
 */

import type { Browser } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MORNINGS } from '../support/reports/mornings.ts'
import { renderMorning } from '../support/reports/render-morning.ts'
import { hasBrowser, type Look, openBrowser, openPage } from '../support/web/browser.ts'
import { CLIENTS, withImages, withoutDarkRules, withoutStyleBlocks } from './clients.ts'
import { type Messages, measureWords } from './measure.ts'
import { type MailPage, PAGES, WORDED } from './pages.ts'
import { findBarriers } from './support/axe.ts'
import { putFontInto } from './support/font.ts'
import { expectLegible } from './support/legible.ts'

const looks = CLIENTS.flatMap((client) =>
  client.widths.flatMap((width) =>
    client.schemes.map((scheme) => ({ client, of: client.name, width, scheme })),
  ),
)
const WIDTHS = [320, 360, 375, 414, 720]
const PROGRAMS: readonly { readonly of: string; readonly show: (page: MailPage) => string }[] = [
  { of: 'with all', show: withImages },
  { of: 'without images', show: ({ rendered }) => rendered.html },
  { of: 'without <style>', show: (page) => withoutStyleBlocks(withImages(page)) },
  { of: 'without both', show: ({ rendered }) => withoutStyleBlocks(rendered.html) },
]

describe.skipIf(!hasBrowser)('a report', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  const open = async (look: Look) => {
    const page = await openPage(browser, look)
    await putFontInto(page)
    return page
  }

  it.each(looks)('can be read in $of, $width px wide, $scheme', async ({ client, width, scheme }) => {
    await using page = await open({ width, scheme })
    for (const { name, make } of PAGES) {
      await page.setContent(client.show(await make()))
      if (client.strip) await page.evaluate(client.strip)
      await expectLegible(page, width, name)
    }
  })

  it.each(PROGRAMS)('keeps each word and number in one line, $of', async ({ show }) => {
    await using page = await open({ width: 720, scheme: 'light' })
    const found: string[] = []
    for (const { name, make } of WORDED) {
      await page.setContent(show(await make()))
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        const { messages: _, width: shown, ...rest } = await measureWords(page)
        const faults = Object.values(rest).flat()
        if (shown > width) faults.push(`${shown} wide`)
        found.push(...faults.map((fault) => `${name}, ${width}: ${fault}`))
      }
    }
    expect(found).toEqual([])
  })

  it.each(['light', 'dark'] as const)('has no barrier, and hides its preheader, %s', async (scheme) => {
    await using page = await open({ width: 375, scheme })
    for (const { name, make } of PAGES) {
      await page.setContent(withImages(await make()))
      expect(await findBarriers(page), name).toEqual([])
      expect(await page.isVisible('body > div[aria-hidden]'), name).toBe(false)
    }
  })
})

describe.skipIf(!hasBrowser)('the first screen', () => {
  it.each([
    { width: 720, height: 900 },
    { width: 375, height: 700 },
  ])('has the verdict and the four numbers, $width × $height', async ({ width, height }) => {
    await using browser = await openBrowser()
    await using page = await openPage(browser, { width, scheme: 'light' })
    for (const morning of MORNINGS.filter(({ name }) => name !== 'no data'))
      for (const tag of ['en-GB', 'de-DE']) {
        await page.setContent((await renderMorning(morning, tag)).html)
        const [verdict = Infinity, numbers = Infinity] = await Promise.all(
          ['.head', '.kpis'].map((block) =>
            page.locator(block).evaluate((part) => part.getBoundingClientRect().bottom),
          ),
        )
        expect(verdict, morning.name).toBeLessThan(numbers)
        expect(numbers, `${morning.name}, ${tag}`).toBeLessThanOrEqual(height)
      }
  })
})

/** Like Gmail's app, which ignores a mail's dark colours. The program inverts while painting, so pixels are read. */
describe.skipIf(!hasBrowser)('a report whose colours are turned round', () => {
  it('is dark, and can be read', async () => {
    await using browser = await openBrowser(['--blink-settings=forceDarkModeEnabled=true'])
    await using page = await openPage(browser, { width: 375, scheme: 'dark' })
    await putFontInto(page)
    for (const { name, make } of PAGES) {
      await page.setContent(withoutDarkRules(withImages(await make())))
      const { messages } = await measureWords(page)
      const picture = PNG.sync.read(await page.screenshot({ fullPage: true }))
      expect(luminanceAt(picture, 2, 2)).toBeLessThan(0.1)
      const faint = messages.filter((piece) => contrastIn(picture, piece) < 4.5)
      expect(
        faint.map(({ text }) => text),
        name,
      ).toEqual([])
    }
  })
})

/** Returns the contrast of the darkest and the lightest pixel of a text. */
function contrastIn(picture: PNG, { lines }: Messages): number {
  let [darkest, lightest] = [1, 0]
  for (const { x, y, width, height } of lines) {
    for (let row = Math.ceil(y); row < y + height; row += 1) {
      for (let column = Math.ceil(x); column < x + width; column += 1) {
        const here = luminanceAt(picture, column, row)
        darkest = Math.min(darkest, here)
        lightest = Math.max(lightest, here)
      }
    }
  }
  return (lightest + 0.05) / (darkest + 0.05)
}

/** Returns the relative luminance by WCAG 2.2. */
function luminanceAt({ data, width }: PNG, x: number, y: number): number {
  const at = (y * width + x) * 4
  const [red = 0, green = 0, blue = 0] = [...data.subarray(at, at + 3)].map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

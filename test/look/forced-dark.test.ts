// @long
/**
 * A mail program that ignores a mail's dark colours and inverts colours by itself, like Gmail's app. It
 * inverts while painting, so the test reads pixels.
 */
import type { Browser, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { withImages, withoutDarkRules } from './clients.ts'
import { type Messages, measure } from './measure.ts'
import { PAGES } from './pages.ts'
import { putFontInto } from './support/font.ts'

/** WCAG 2.2, 1.4.3, level AA. Here it is the contrast of the darkest and the lightest pixel of a text. */
const CONTRAST = 4.5
const FORCED_DARK = '--blink-settings=forceDarkModeEnabled=true'

describe.skipIf(!hasBrowser)('a report whose colours are turned round', () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await openBrowser([FORCED_DARK])
    page = await openPage(browser, { width: 375, scheme: 'dark' })
    await putFontInto(page)
  })
  afterAll(() => browser?.close())

  it.each(PAGES)('is dark, and can be read: $name', async ({ make }) => {
    await page.setContent(withoutDarkRules(withImages(await make())))
    const { messages } = await measure(page)
    const picture = PNG.sync.read(await page.screenshot({ fullPage: true }))
    expect(luminanceAt(picture, 2, 2)).toBeLessThan(0.1)
    const faint = messages.filter((piece) => contrastIn(picture, piece) < CONTRAST)
    expect(faint.map(({ text }) => text)).toEqual([])
  })
})

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

// @long
/**
 * Every report in every simulated mail program: nothing scrolls sideways, nothing is cut, everything is legible, and
 * no word or number is broken across lines. A sample of it stands in `rules.test.ts`.
 */

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MORNINGS, renderMorning } from '../support/reports/mornings.ts'
import { hasBrowser, type Look, openBrowser, openPage } from '../support/web/browser.ts'
import { CLIENTS, withImages, withoutStyleBlocks } from './clients.ts'
import { measure } from './measure.ts'
import { type MailPage, PAGES, WORDED } from './pages.ts'
import { findBarriers } from './support/axe.ts'
import { putFontInto } from './support/font.ts'
import { expectLegible } from './support/legible.ts'

const looks = CLIENTS.flatMap((client) =>
  (client.widths ?? [720, 375]).flatMap((width) =>
    (client.schemes ?? ['light' as const]).map((scheme) => ({ client, of: client.name, width, scheme })),
  ),
)
const WIDTHS = [320, 360, 375, 414, 720]
const PROGRAMS: readonly { readonly of: string; readonly show: (page: MailPage) => string }[] = [
  ...CLIENTS.slice(0, 3).map(({ name, show }) => ({ of: name, show })),
  { of: 'a client that does both', show: ({ rendered }) => withoutStyleBlocks(rendered.html) },
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
        const { messages: _, width: shown, ...rest } = await measure(page)
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
    await putFontInto(page)
    for (const morning of MORNINGS.filter(({ name }) => name !== 'no data'))
      for (const tag of ['en-GB', 'de-DE']) {
        await page.setContent(renderMorning(morning, tag).html)
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

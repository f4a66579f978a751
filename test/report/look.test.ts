/** What a page looks like, measured in a real browser: its width, the size of its letters, their contrast. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/browser.ts'
import { busyDay, CONTEXT, hostileDay } from '../support/figures.ts'
import { DAYS, renderDaily } from '../support/report.ts'

const SMALLEST_PX = 9
/** WCAG 2.2, 1.4.3, level AA. */
const CONTRAST = 4.5

const pages = [
  ...DAYS.map(({ name, figures, context }) => ({ name, html: renderDaily(figures, context).html })),
  {
    name: 'overlong',
    html: renderDaily(hostileDay(`${'W'.repeat(300)} Donaudampfschifffahrtsgesellschaft`)).html,
  },
]
/** As a client that drops every style block shows it. */
const bare = (html: string) => html.replace(/<style>.*?<\/style>/gs, '')

const looks = [
  { width: 720, scheme: 'light' },
  { width: 720, scheme: 'dark' },
  { width: 375, scheme: 'light' },
  { width: 375, scheme: 'dark' },
  { width: 320, scheme: 'light' },
] as const

describe.skipIf(!hasBrowser())('a report in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  describe.each(looks)('$width px wide, $scheme', (look) => {
    let page: Page
    beforeAll(async () => {
      page = await openPage(browser, look)
    })
    afterAll(() => page?.close())

    it.each(pages)('needs no sideways scroll on a $name day, with and without styles', async ({ html }) => {
      for (const shown of [html, bare(html)]) {
        await page.setContent(shown)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(look.width)
      }
    })

    it.each(pages)('is legible on a $name day', async ({ html }) => {
      await page.setContent(html)
      const letters: readonly Letters[] = await page.evaluate(MEASURE)
      expect(letters.length).toBeGreaterThan(20)
      expect(letters.filter(({ size }) => size < SMALLEST_PX)).toEqual([])
      expect(letters.filter(({ contrast }) => contrast < CONTRAST)).toEqual([])
    })
  })

  it('shows the preheader to nobody who opens the mail', async () => {
    await using page = await openPage(browser, looks[0])
    await page.setContent(renderDaily(busyDay()).html)
    expect(await page.isVisible('.preheader')).toBe(false)
    expect(await page.isVisible('h1')).toBe(true)
  })

  it('builds nothing from a hostile title', async () => {
    const title = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    await using page = await openPage(browser, looks[0])
    await page.setContent(renderDaily(busyDay(), { ...CONTEXT, title }).html)
    expect(await page.title()).toContain('"><script>')
    expect(await page.locator('script, img, [onerror], a').count()).toBe(0)
  })
})

interface Letters {
  readonly text: string
  readonly size: number
  readonly contrast: number
}

/** Runs in the page: every visible piece of text with its size and its contrast to what is behind it. */
const MEASURE = `(() => {
  const luminance = (rgb) => {
    const [r, g, b] = rgb.match(/[\\d.]+/g).map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (!/^rgba\\(.*, 0\\)$/.test(color)) return color
    }
    return 'rgb(255, 255, 255)'
  }
  const found = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim()
    const element = walker.currentNode.parentElement
    if (!text || !element.checkVisibility()) continue
    const style = getComputedStyle(element)
    const [dark, light] = [luminance(style.color), luminance(behind(element))].sort((a, b) => a - b)
    found.push({ text: text.slice(0, 40), size: parseFloat(style.fontSize), contrast: (light + 0.05) / (dark + 0.05) })
  }
  return found
})()`

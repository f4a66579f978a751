import { describe, expect, it } from 'vitest'
import { MORNINGS, type Morning } from '../support/reports/mornings.ts'
import { type Rendered, renderMorning } from '../support/reports/render-morning.ts'
import { hasBrowser, type Look, openBrowser, openPage } from '../support/web/browser.ts'

const LIMITS = {
  daily: { words: 300, numbers: 90 },
  weekly: { words: 450, numbers: 150 },
  monthly: { words: 600, numbers: 220 },
} as const
const SUBJECT_LENGTH = 60

/** What a person reads in the mail; an amount with its unit is one word. */
function wordsOf(html: string): string[] {
  const text = html
    .replace(/<head>.*<\/head>/s, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/<body[^>]*>\s*<div.*?<\/div>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&nbsp;', '')
  return text.trim().split(/[ \n\t]+/)
}

describe.each(['en-GB', 'de-DE'])('a mail of each kind of morning, %s', (tag) => {
  it.each(MORNINGS)('$name: is short', async (morning) => {
    const { html, subject } = await renderMorning(morning, tag)
    const words = wordsOf(html)
    const { words: most, numbers } = LIMITS[morning.template]
    expect(words.length).toBeLessThanOrEqual(most)
    expect(words.filter((word) => /\d/.test(word)).length).toBeLessThanOrEqual(numbers)
    expect(subject.length).toBeLessThanOrEqual(SUBJECT_LENGTH)
  })

  it.each(MORNINGS)('$name: has a preview that repeats nothing of the subject', async (morning) => {
    const { subject, preheader } = await renderMorning(morning, tag)
    const facts = subject.split(/[:,] /).slice(1)
    for (const fact of facts) expect(preheader).not.toContain(fact)
  })

  it.each(MORNINGS)('$name: hedges nothing and calls nothing normal', async (morning) => {
    const { text, subject } = await renderMorning(morning, tag)
    expect(`${subject}\n${text}`).not.toMatch(
      /no clear change|as normal|such spans|can be chance|wie üblich/i,
    )
  })
})

const BLOCKS = ['.kpis', '.head'] as const
const SCREENS: readonly (Look & { readonly height: number })[] = [
  { width: 720, height: 900, scheme: 'light' },
  { width: 375, height: 700, scheme: 'light' },
]

describe.skipIf(!hasBrowser)('the first screen', () => {
  it('has the verdict, the goals, what to do today and the four numbers, in this order', async () => {
    const browser = await openBrowser()
    const late: string[] = []
    for (const { height, ...look } of SCREENS) {
      const page = await openPage(browser, look)
      for (const tag of ['en-GB', 'de-DE']) {
        for (const morning of MORNINGS.filter(hasNumbers)) {
          const { html }: Rendered = await renderMorning(morning, tag)
          await page.setContent(html)
          const ends: number[] = await Promise.all(
            BLOCKS.map((block) =>
              page.locator(block).evaluate((part) => part.getBoundingClientRect().bottom),
            ),
          )
          const [numbers = Infinity, verdict = Infinity] = ends
          expect(verdict).toBeLessThan(numbers)
          if (numbers > height) late.push(`${morning.name}, ${tag}, ${look.width} px: ${Math.round(numbers)}`)
          expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
            look.width,
          )
        }
      }
    }
    await browser.close()
    expect(late).toEqual([])
  })
})

function hasNumbers({ name }: Morning): boolean {
  return name !== 'no data'
}

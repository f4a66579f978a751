/** Right-to-left names in mails: a browser shows the figures beside them where the sentence has them. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isolate } from '../../src/printable.ts'
import { listTopLeads } from '../../src/report/blocks/top-leads/view.ts'
import { escapeHtml } from '../../src/report/render/template-files.ts'
import { wordsIn } from '../../src/report/words/catalogue.ts'
import { oneLine } from '../../src/report/words/clean-text.ts'
import { localeContextOf, renderReport } from '../support/report.ts'
import { hostileDay } from '../support/reports/figures.ts'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'

/**
 * Lists the lines in which a character that is not isolated stands left of one before it. A line is what a block
 * shows at one height.
 */
const DISORDER = `(() => {
  const found = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  let last = null
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const block = node.parentElement.closest('td, th, p, div, li, pre, h1, h2, h3')
    const isolated = node.parentElement.closest('bdi') !== null
    let depth = 0
    ;[...node.data].reduce((at, sign) => {
      if (sign === '\\u2068') depth++
      else if (sign === '\\u2069') depth--
      else if (!isolated && depth === 0 && sign.trim() !== '') {
        const range = document.createRange()
        range.setStart(node, at)
        range.setEnd(node, at + sign.length)
        const { left, top, width, height } = range.getBoundingClientRect()
        const isSameLine = last !== null && last.block === block && Math.abs(last.top - top) < height / 2
        if (width > 0 && isSameLine && left < last.left) found.push(node.data)
        if (width > 0) last = { block, left, top }
      }
      return at + sign.length
    }, 0)
  }
  return [...new Set(found)]
})()`

const NAMES = {
  Hebrew: 'שלום בע״מ',
  Arabic: 'شركة 2 المياه',
  'Arabic digits': '٧٧',
  'Hebrew after Latin': 'Acme שלום',
  'Latin after Hebrew': 'שלום Acme',
  'Hebrew with controls that are never closed': '\u202eשלום\u2067',
  'Hebrew with ends that close nothing': 'שלום\u2069\u202c',
}

describe.skipIf(!hasBrowser)('a name that is', () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await openBrowser()
    page = await openPage(browser, { width: 720, scheme: 'light' })
  })
  afterAll(() => browser?.close())

  const disorderOf = async (html: string): Promise<readonly string[]> => {
    await page.setContent(html)
    return page.evaluate(DISORDER)
  }
  const asText = (text: string) => `<pre>${escapeHtml(text)}</pre>`

  it.each(Object.entries(NAMES))('%s moves no figure, in HTML, text and subject', async (_kind, name) => {
    const { html, text, subject } = renderReport(hostileDay(name), { context: { title: `${name} 2, daily` } })
    expect(html).toContain(`<bdi>${oneLine(name, 48).slice(1, -1)}</bdi>`)
    expect(await disorderOf(html)).toEqual([])
    for (const plain of [text, subject]) {
      expect(plain).toContain(oneLine(name, 48).slice(0, -1))
      expect(await disorderOf(asText(plain))).toEqual([])
    }
  })

  it('right-to-left moves figures where nothing isolates it, so the search finds them', async () => {
    const sentence = `the longest is ${NAMES.Hebrew}, 77 days`
    expect(await disorderOf(asText(sentence))).toEqual([sentence])
    expect(await disorderOf(asText(sentence.replace(NAMES.Hebrew, isolate)))).toEqual([])
    const { html } = renderReport(hostileDay(NAMES.Hebrew))
    expect(await disorderOf(html.replaceAll(/<\/?bdi>/g, ''))).not.toEqual([])
  })

  it('right-to-left stands in the cells of a file without controls', () => {
    const { rows } = listTopLeads(hostileDay(NAMES.Hebrew), localeContextOf(), { leadUrl: null })
    expect(rows[0]?.[0]).toBe(NAMES.Hebrew)
  })

  it('in a sentence of a catalogue is isolated there', async () => {
    const sentence = wordsIn('en-GB')('agents.outage', {
      name: NAMES.Arabic,
      from: '10:14',
      to: '12:44',
      hours: '2.5',
    })
    expect(await disorderOf(asText(sentence))).toEqual([])
  })
})

/** Tests the measurements of the other tests here: every fault that makes a page hard to read is found. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { CLIENTS } from './clients.ts'
import { type Measured, measure } from './measure.ts'

/** An image of one red pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const FINE = { width: 375, cut: [], overlapping: [], distorted: [] }

describe.skipIf(!hasBrowser)('a look at a page', () => {
  let browser: Browser
  let page: Page
  beforeAll(async () => {
    browser = await openBrowser()
    page = await openPage(browser, { width: 375, scheme: 'light' })
  })
  afterAll(() => browser?.close())

  async function lookAt(body: string): Promise<Measured> {
    await page.setContent(`<!DOCTYPE html><body style="margin:0">${body}</body>`)
    return measure(page)
  }

  it('finds nothing wrong with a paragraph', async () => {
    const { messages, ...rest } = await lookAt('<p style="font-size:14px">All is <b>well</b>.</p>')
    expect(rest).toEqual(FINE)
    expect(messages.map(({ text, size, contrast }) => [text, size, contrast])).toEqual([
      ['All is', 14, 21],
      ['well', 14, 21],
      ['.', 14, 21],
    ])
  })

  it('sees small and faint messages', async () => {
    const { messages } = await lookAt(
      '<p style="font-size:8px;color:#777777;background:#ffffff">fine print</p>',
    )
    expect(messages[0]?.size).toBe(8)
    expect(messages[0]?.contrast).toBeCloseTo(4.48, 2)
  })

  it.each([
    [
      'a page that is wider than the window',
      '<table width="400"><tr><td>wide</td></tr></table>',
      { width: 400 },
    ],
    [
      'a number that leaves its column',
      '<table style="table-layout:fixed;width:200px"><tr><td style="width:30px;white-space:nowrap">1,234,567</td><td></td></tr></table>',
      { cut: ['1,234,567'] },
    ],
    [
      'a text that is cut off',
      '<div style="width:80px;overflow:hidden;white-space:nowrap">a long name indeed</div>',
      { cut: ['a long name indeed'] },
    ],
    [
      'a line that lies on another',
      '<p style="margin:0">one</p><p style="margin:-10px 0 0">two</p>',
      { overlapping: ['one / two'] },
    ],
    [
      'an image that is stretched',
      `<img src="${PIXEL}" alt="a dot" width="40" height="20">`,
      { distorted: ['a dot 2.00'] },
    ],
  ])('sees %s', async (_, body, found) => {
    const { messages: _messages, ...rest } = await lookAt(body)
    expect(rest).toEqual({ ...FINE, ...found })
  })

  it('through the eyes of Outlook misses the padding of a paragraph, and its rounded corners', async () => {
    const word = CLIENTS.find(({ name }) => name === 'Outlook for Windows')
    await lookAt('<p style="padding:9px;border-radius:9px;margin:0;line-height:20px">words</p>')
    await page.evaluate(word?.strip ?? '')
    expect(await page.evaluate('document.querySelector("p").offsetHeight')).toBe(20)
    expect(await page.locator('p').getAttribute('style')).not.toMatch(/padding|radius/)
  })
})

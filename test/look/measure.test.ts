// @long
/** Tests the measurements of the other tests here: every fault that makes a page hard to read is found. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
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

  it('measures the size and the contrast of each piece of text', async () => {
    const body = '<p style="font-size:8px;color:#777777;background:#ffffff">fine <b>print</b></p>'
    const { messages, ...rest } = await lookAt(body)
    expect(rest).toEqual(FINE)
    expect(messages.map(({ text, size, contrast }) => [text, size, Math.round(contrast * 100)])).toEqual([
      ['fine', 8, 448],
      ['print', 8, 448],
    ])
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
})

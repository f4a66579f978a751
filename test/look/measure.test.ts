// @long
/** Tests the measurements of the other tests here: every fault that makes a page hard to read is found. */
import { expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { measure } from './measure.ts'

/** An image of one red pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const FINE = { width: 375, cut: [], split: [], near: [], overlapping: [], distorted: [] }
const PAGES: readonly (readonly [body: string, found: object])[] = [
  ['<p style="font-size:8px;color:#777777;background:#ffffff">fine <b>print</b></p>', {}],
  ['<table width="400"><tr><td>wide</td></tr></table>', { width: 400 }],
  [
    '<table style="table-layout:fixed;width:200px"><tr><td style="width:30px;white-space:nowrap">1,234,567</td><td></td></tr></table>',
    { cut: ['1,234,567'] },
  ],
  [
    '<div style="width:80px;overflow:hidden;white-space:nowrap">a long name indeed</div>',
    { cut: ['a long name indeed'] },
  ],
  ['<p style="margin:0">one</p><p style="margin:-10px 0 0">two</p>', { overlapping: ['one / two'] }],
  ['<p style="margin:0;width:20px;overflow-wrap:anywhere">unbroken</p>', { split: ['unbroken'] }],
  [
    '<table cellspacing="0" cellpadding="0"><tr><td>left</td><td>right</td></tr></table>',
    { near: ['left / right'] },
  ],
  [`<img src="${PIXEL}" alt="a dot" width="40" height="20">`, { distorted: ['a dot 2.00'] }],
]

it.skipIf(!hasBrowser)(
  'a look at a page sees what is wide, cut, broken, near, overlapping, distorted, small or faint',
  async () => {
    await using browser = await openBrowser()
    await using page = await openPage(browser, { width: 375, scheme: 'light' })
    const texts: unknown[] = []
    for (const [body, found] of PAGES) {
      await page.setContent(`<!DOCTYPE html><body style="margin:0">${body}</body>`)
      const { messages, ...rest } = await measure(page)
      expect(rest).toEqual({ ...FINE, ...found })
      texts.push(...messages.map(({ text, size, contrast }) => [text, size, Math.round(contrast * 100)]))
    }
    expect(texts.slice(0, 2)).toEqual([
      ['fine', 8, 448],
      ['print', 8, 448],
    ])
  },
)

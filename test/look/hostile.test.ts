/**
 * Leads with harmful names in mails. A browser builds the same elements as for plain names; `npm test` looks at some
 * each day, `LOOK=full` at all.
 */
import type { Browser, Page } from 'playwright-core'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildMessage } from '../../src/mail/message.ts'
import { listTopLeads } from '../../src/report/blocks/top-leads/view.ts'
import { MESSAGE } from '../support/mail/message.ts'
import { TITLED_PAYLOADS } from '../support/mail/payloads.ts'
import { casesOfToday } from '../support/random.ts'
import { localeContextOf, renderReport } from '../support/report.ts'
import { hostileDay } from '../support/reports/figures.ts'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { withImages } from './clients.ts'
import { hostilePage } from './pages.ts'
import { listElements, watchDeeds } from './support/elements.ts'

/**
 * Characters that would end a line, or hide or reverse a part of it. The space of no width stands only where it
 * keeps a mail program from making a link.
 */
const UNFIT =
  /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|(?<!:\/\/)\u200b(?![.。．｡])/u
/** A text is read without its isolated parts, whose two controls are a pair. */
const apart = (text: string) => text.replace(/\u2068([^\u2066-\u2069]*)\u2069/g, '$1')
const PLAIN = hostilePage('plain')
const parse = async (rendered: typeof PLAIN.rendered) =>
  PostalMime.parse(await buildMessage({ ...MESSAGE, ...rendered }))
const plainMessage = await parse(PLAIN.rendered)

describe.each(TITLED_PAYLOADS)('the name $shown', ({ payload }) => {
  const { rendered } = hostilePage(payload)

  it('cannot break, hide or turn a line of subject or text', () => {
    for (const line of [rendered.subject, ...rendered.text.split('\n')]) {
      expect(apart(line)).not.toMatch(UNFIT)
      expect(line.isWellFormed()).toBe(true)
    }
  })

  it('cannot add to the head of a message, or change what it says', async () => {
    const message = await parse(rendered)
    expect(message.headers.map(({ key }) => key)).toEqual(plainMessage.headers.map(({ key }) => key))
    expect(message).toMatchObject({ to: plainMessage.to, subject: rendered.subject, attachments: [] })
    expect(message.text?.trim()).toBe(rendered.text.trim())
    expect(message.html?.trim()).toBe(rendered.html.trim())
  })
})

it.each(['שלום בע״מ', '٧٧', 'Acme שלום'])('the right-to-left name %s moves no figure beside it', (name) => {
  const { html, text } = renderReport(hostileDay(name))
  expect(html).toContain(`<bdi>${name}</bdi>`)
  expect(text).toContain(`\u2068${name}\u2069`)
  expect(text.replace(/\u2068[^\u2066-\u2069]*\u2069/g, '')).not.toContain(name)
  const { rows } = listTopLeads(hostileDay(name), localeContextOf(), { leadUrl: null })
  expect(rows[0]?.[0]).toBe(name)
})

describe.skipIf(!hasBrowser)('a browser', () => {
  let browser: Browser
  let page: Page
  let takeDeeds: () => readonly string[]
  let plain: readonly string[]
  beforeAll(async () => {
    browser = await openBrowser()
    page = await openPage(browser, { width: 720, scheme: 'light' })
    takeDeeds = watchDeeds(page)
    await page.setContent(withImages(PLAIN))
    plain = await listElements(page)
  })
  afterAll(() => browser?.close())

  it.each(casesOfToday(TITLED_PAYLOADS, 26))('builds and runs nothing from $shown', async ({ payload }) => {
    const mail = hostilePage(payload)
    await page.setContent(withImages(mail))
    expect(await page.title()).toBe(mail.rendered.subject)
    expect(await listElements(page)).toEqual(plain)
    const words: string = await page.evaluate('document.body.innerText')
    expect(words.replace(/[\n\t]/g, ' ')).not.toMatch(UNFIT)
    if (payload.length < 40 && payload.isWellFormed() && !UNFIT.test(payload))
      expect(words.replaceAll('\u200b', '')).toContain(payload)
    expect(takeDeeds()).toEqual([])
  })
})

/**
 * The archive's pages in a browser are readable on any screen, and harmless whatever the names of leads
 * contain.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AboutView, type IndexView, openArchivePages } from '../../src/report/archive/pages.ts'
import { TITLED_PAYLOADS } from '../support/mail/payloads.ts'
import { casesOfToday } from '../support/random.ts'
import { TEMPLATES_FOLDER } from '../support/report.ts'
import { hasBrowser, openBrowser, openPage } from '../support/web/browser.ts'
import { measure } from './measure.ts'
import { hostilePage, PAGES as MAILS, type MailPage, OVERLONG } from './pages.ts'
import { findBarriers } from './support/axe.ts'
import { listElements, watchDeeds } from './support/elements.ts'
import { putFontInto } from './support/font.ts'

const archive = await openArchivePages(TEMPLATES_FOLDER)
const DAY = { href: '../2026-11-19/index.html', dates: '2026-11-19' }
const SQL = `SELECT count(*) AS value FROM lead WHERE created_at >= '2026-11-19T23:00:00.000Z' AND company_country IN ('Germany', 'Norway');`

function aboutOf(name: string): AboutView {
  const figure = {
    title: name,
    meaning: `leads created in the period: ${name}`,
    value: name,
    before: name,
    sql: SQL + name,
    priorSql: SQL + name,
  }
  return {
    facts: [
      { name: 'Period', value: '2026-11-20 (Europe/Berlin)' },
      { name: 'Leads', value: name },
    ],
    files: ['mail.txt', 'figures.json', 'daily-stalled-2026-11-20.csv'],
    blocks: [
      { title: 'Key figures', figures: [figure, { ...figure, value: null, before: null, priorSql: null }] },
    ],
  }
}

function issueOf({ rendered, images }: MailPage, name: string): string {
  const files = [...images].map(([cid, content]) => {
    return { cid, content, name: `${cid}.png`, contentType: 'image/png' }
  })
  const nav = { report: 'daily', current: '2026-11-20', previous: DAY, next: null }
  return archive.issue({ html: rendered.html, files }, nav, aboutOf(name))
}

function indexOf(subject: string): string {
  const line = { subject, about: '2026-11-20, all leads', state: 'sent to 2', tone: 'good' } as const
  const issues: IndexView['months'][number]['issues'] = [
    { ...line, href: 'daily/2026-11-20/index.html' },
    { ...line, href: null, tone: 'bad', state: `not sent: ${subject}` },
  ]
  return archive.index({ summary: '2 issues', months: [{ name: 'November 2026', issues }] })
}

const mail = MAILS[0] ?? OVERLONG
const PAGES = [
  { name: 'an issue', html: issueOf(mail, 'New leads') },
  { name: 'the list of all', html: indexOf(mail.rendered.subject) },
  { name: 'the list of all with long names', html: indexOf('W'.repeat(300)) },
]

describe.skipIf(!hasBrowser)('the archive', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  describe.each([
    { width: 720, scheme: 'light' },
    { width: 375, scheme: 'light' },
    { width: 375, scheme: 'dark' },
  ] as const)('$width px wide, $scheme', (look) => {
    let page: Page
    beforeAll(async () => {
      page = await openPage(browser, look)
      await putFontInto(page)
    })
    afterAll(() => page?.close())

    it.each(PAGES)('can be read, with all details open: $name', async ({ html }) => {
      await page.setContent(html.replaceAll('<details', '<details open'))
      const { messages, ...found } = await measure(page)
      expect(found).toEqual({ width: look.width, cut: [], overlapping: [], distorted: [] })
      expect(messages.filter(({ size, contrast }) => size < 9 || contrast < 4.5)).toEqual([])
      expect(await findBarriers(page)).toEqual([])
    })
  })

  describe('of leads whose names are meant to do harm', () => {
    let page: Page
    let takeDeeds: () => readonly string[]
    const plain = new Map<string, readonly string[]>()
    const pagesOf = (name: string) => ({ issue: issueOf(hostilePage(name), name), index: indexOf(name) })
    beforeAll(async () => {
      page = await openPage(browser, { width: 720, scheme: 'light' })
      takeDeeds = watchDeeds(page)
      for (const [kind, html] of Object.entries(pagesOf('plain'))) {
        await page.setContent(html)
        plain.set(kind, await listElements(page))
      }
    })

    it.each(casesOfToday(TITLED_PAYLOADS, 3))(
      'is built as of any other: $shown (row 62)',
      async ({ payload }) => {
        for (const [kind, html] of Object.entries(pagesOf(payload))) {
          await page.setContent(html)
          expect(await listElements(page)).toEqual(plain.get(kind))
        }
        expect(takeDeeds()).toEqual([])
      },
    )
  })
})

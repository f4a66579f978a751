// @both-stores, in turn
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import {
  type Archive,
  type ArchivedIssue,
  archivedPage,
  archiveIssue,
} from '../../../src/jobs/archive/archive.ts'
import { openArchivePages } from '../../../src/report/archive/pages.ts'
import { folderWith } from '../../support/folder.ts'
import { TEMPLATES_FOLDER } from '../../support/report.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'

const pages = await openArchivePages(TEMPLATES_FOLDER)
const openArchive = (): Archive => ({ folder: folderWith(), pages })

/** An image of one red pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
)

function dayOf(date: number) {
  return periodBetween(`2026-11-${date}`, `2026-11-${date + 1}`, 'Europe/Berlin')
}

function issueOf(date: number, changes: Partial<ArchivedIssue> = {}): ArchivedIssue {
  return {
    ...{ report: 'daily', period: dayOf(date), variant: '', renderedAt: '2026-11-21T05:04:00.000Z' },
    subject: 'Daily leads: 59 new',
    html: '<!DOCTYPE html>\n<html lang="de"><head><meta charset="utf-8"><title>Daily leads</title></head><body class="bg"><p>59 new</p><img src="cid:trend" alt="Trend"></body></html>',
    text: '59 new\n',
    figures: { leads: 59 },
    files: [
      { name: 'trend.png', contentType: 'image/png', content: PICTURE, cid: 'trend' },
      { name: 'daily-stalled.csv', contentType: 'text/csv', content: Buffer.from('id\n1\n'), cid: null },
    ],
    about: {
      facts: [{ name: 'Leads', value: 'all' }],
      blocks: [
        {
          title: 'Key figures',
          figures: [
            {
              ...{ title: 'New leads', meaning: 'leads created', value: '59', before: '50' },
              ...{ sql: "SELECT 1 < 2 AND '</pre>';", priorSql: 'SELECT 50;' },
            },
          ],
        },
      ],
    },
    ...changes,
  }
}

const read = (archive: Archive, issue: ArchivedIssue, file = 'index.html') =>
  readFileSync(join(archive.folder, archivedPage(issue), '..', file), 'utf8')

describe('an issue in the archive', () => {
  test('is a folder with its page, text, figures and attachments', async () => {
    const archive = openArchive()
    const page = await archiveIssue(archive, issueOf(20))
    expect(page).toBe(join(archive.folder, 'daily', '2026-11-20', 'index.html'))
    expect(readdirSync(join(page, '..')).sort()).toEqual([
      ...['daily-stalled.csv', 'figures.json', 'index.html', 'mail.txt'],
    ])
    expect(JSON.parse(read(archive, issueOf(20), 'figures.json'))).toMatchObject({
      ...{ report: 'daily', subject: 'Daily leads: 59 new', figures: { leads: 59 } },
    })
  })

  test('is for its own user alone, with every file of the archive', async () => {
    const archive = openArchive()
    await archiveIssue(archive, issueOf(20))
    await archiveIssue(archive, issueOf(21))
    const modes = readdirSync(archive.folder, { recursive: true }).map(
      (name) => statSync(join(archive.folder, String(name))).mode & 0o077,
    )
    expect(modes.length).toBeGreaterThan(8)
    expect(modes.filter((mode) => mode !== 0)).toEqual([])
  })

  test('lies beside that of other leads, and of longer periods', async () => {
    const archive = openArchive()
    const week = periodBetween('2026-11-16', '2026-11-23', 'Europe/Berlin')
    await archiveIssue(archive, issueOf(20))
    await archiveIssue(archive, issueOf(20, { variant: '{"pipelineIds":["eu"]}' }))
    await archiveIssue(archive, issueOf(20, { variant: '{"pipelineIds":["us"]}' }))
    await archiveIssue(archive, issueOf(20, { period: week }))
    expect(readdirSync(join(archive.folder, 'daily'))).toHaveLength(4)
  })

  test('takes the place of an earlier one', async () => {
    const archive = openArchive()
    await archiveIssue(archive, issueOf(20))
    const page = await archiveIssue(archive, issueOf(20, { text: 'anew\n', files: [] }))
    expect(read(archive, issueOf(20), 'mail.txt')).toBe('anew\n')
    expect(readdirSync(join(page, '..')).sort()).toEqual(['figures.json', 'index.html', 'mail.txt'])
    expect(readdirSync(join(archive.folder, 'daily'))).toEqual(['2026-11-20'])
  })

  test('leaves nothing half-written, and says what is not writable', async () => {
    const archive = openArchive()
    const files = [{ name: 'no/such/folder.csv', contentType: 'text/csv', content: PICTURE, cid: null }]
    await expect(archiveIssue(archive, issueOf(20, { files }))).rejects.toMatchObject({
      code: 'data_unwritable',
      message: expect.stringContaining('2026-11-20'),
    })
    expect(readdirSync(join(archive.folder, 'daily'))).toEqual([])
  })
})

describe('the issues of a report', () => {
  const linksOf = (page: string) => [...page.matchAll(/rel="(prev|next)">([^<]+)</g)].map((link) => link[2])

  test('lead to the one before and the one after, in whatever order they were made', async () => {
    const archive = openArchive()
    for (const date of [18, 20, 19]) await archiveIssue(archive, issueOf(date))
    expect(linksOf(read(archive, issueOf(18)))).toEqual(['2026-11-19 →'])
    expect(linksOf(read(archive, issueOf(19)))).toEqual(['← 2026-11-18', '2026-11-20 →'])
    expect(linksOf(read(archive, issueOf(20)))).toEqual(['← 2026-11-19'])
  })

  test('do not lead to issues about other leads, nor to files of others', async () => {
    const archive = openArchive()
    mkdirSync(join(archive.folder, 'daily', '2026-11-10'), { recursive: true })
    writeFileSync(join(archive.folder, 'daily', '2026-11-11.html'), 'of an earlier version')
    await archiveIssue(archive, issueOf(19, { variant: 'eu' }))
    await archiveIssue(archive, issueOf(20))
    expect(linksOf(read(archive, issueOf(20)))).toEqual([])
  })
})

describe.skipIf(!hasBrowser)('the page of an issue in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  async function open(issue: ArchivedIssue) {
    const archive = openArchive()
    const file = await archiveIssue(archive, issue)
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(`file://${file}`)
    return { page, complaints }
  }

  test('shows the mail with its pictures, and SQL as it can be pasted', async () => {
    const { page, complaints } = await open(issueOf(20))
    expect(await page.locator('body > p').textContent()).toBe('59 new')
    expect(await page.evaluate('document.images[0].naturalWidth')).toBe(1)
    await page.locator('summary').click()
    expect(await page.locator('pre').allTextContents()).toEqual(["SELECT 1 < 2 AND '</pre>';", 'SELECT 50;'])
    expect(complaints).toEqual([])
  })

  test('leads to its files and to the list of all', async () => {
    const { page } = await open(issueOf(20))
    const hrefs = 'Array.from(document.links, (link) => link.getAttribute("href"))'
    expect(await page.evaluate(hrefs)).toEqual([
      ...['../../index.html', 'mail.txt', 'figures.json', 'daily-stalled.csv'],
    ])
  })

  test('runs no script and loads nothing, even if a template let it in', async () => {
    const html = issueOf(20).html.replace(
      '</body>',
      '<script>document.title = "run"</script><img src="http://127.0.0.1:9/x.png" onerror="document.title = 1"></body>',
    )
    const { page, complaints } = await open(issueOf(20, { html }))
    expect(await page.title()).toBe('Daily leads')
    const refused = complaints.filter((text) => text.includes('Content Security Policy'))
    expect(refused.filter((text) => text.includes('script'))).not.toEqual([])
    expect(refused.filter((text) => text.includes('x.png'))).not.toEqual([])
  })
})

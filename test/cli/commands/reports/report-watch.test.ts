import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { runLeadsheet, startLeadsheet } from '../../../support/leadsheet.ts'
import { FRAMES_IN_PROCESS, hasBrowser, openBrowser } from '../../../support/web/browser.ts'

const SETTINGS = `recipients:
  - { address: dana@example.com, locale: de-DE }
reports:
  - name: industries
`
const REPORT = `title: Industries
blocks: [headline, queries]
queries:
  by-industry:
    title: New leads by industry
    sql: SELECT company_industry AS industry, count(*) AS leads FROM lead_now GROUP BY industry
`

describe.skipIf(!hasBrowser)('report NAME --watch', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser(FRAMES_IN_PROCESS)
  })
  afterAll(() => browser.close())

  /**
   * Opens the page of a running `report preview --watch`, and returns a function that edits a file beside its settings.
   */
  async function watchIndustries(): Promise<{
    page: Page
    edit: (file: string, from: string, to: string) => void
  }> {
    const cwd = folderWith({ 'leadsheet.yaml': SETTINGS, 'templates/industries/report.yaml': REPORT })
    const child = startLeadsheet(['report', 'preview', 'industries', '--watch', '--port', '0'], { cwd })
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout?.on('data', (text: Buffer) => {
        const [found] = /http:\S+/.exec(String(text)) ?? []
        if (found) resolve(found)
      })
      child.once('exit', (status) => reject(new Error(`it left with ${status}`)))
    })
    const page = await browser.newPage({ viewport: { width: 1200, height: 800 } })
    onTestFinished(() => page.close())
    await page.goto(url)
    const edit = (file: string, from: string, to: string): void => {
      const text = readFileSync(join(cwd, file), 'utf8')
      expect(text).toContain(from)
      writeFileSync(join(cwd, file), text.replace(from, to))
    }
    return { page, edit }
  }
  const inMail = (page: Page, text: string) => page.frameLocator('#mail').getByText(text)

  test('shows each save: another title, a mistake in the SQL with its line, and how it is cleaned', async () => {
    const { page, edit } = await watchIndustries()
    await inMail(page, 'New leads by industry').waitFor()
    edit('templates/industries/report.yaml', 'New leads by industry', 'Where they work')
    await inMail(page, 'Where they work').waitFor()
    edit('templates/industries/report.yaml', 'lead_now', 'lead_nwo')
    await page.getByRole('alert').waitFor()
    expect(await page.locator('#message').textContent()).toBe(
      'templates/industries/report.yaml:6:10  query by-industry: no such table: lead_nwo',
    )
    edit('templates/industries/report.yaml', 'lead_nwo', 'lead_now')
    await inMail(page, 'Where they work').waitFor()
    expect(await page.getByRole('alert').isVisible()).toBe(false)
  })

  test('shows it as a recipient gets it, in another language, and follows the settings', async () => {
    const { page, edit } = await watchIndustries()
    const subject = () => page.locator('#subject').textContent()
    await expect.poll(subject).toContain('new')
    await page.getByLabel('For').selectOption('dana@example.com')
    await inMail(page, 'dana@example.com').waitFor()
    expect(await subject()).toContain('neu')
    await page.getByLabel('Language').selectOption('English')
    await expect.poll(subject).toContain('new')
    edit('leadsheet.yaml', 'dana', 'ana')
    await page.getByLabel('For').getByText('ana@example.com').waitFor({ state: 'attached' })
  })

  test('says that there are no real data yet', async () => {
    const { page } = await watchIndustries()
    await page.getByLabel('Data').selectOption('real')
    await page.getByRole('alert').waitFor()
    expect(await page.locator('#message').textContent()).toContain('no sync has read all leads yet')
  })
})

test('a report without settings and folder cannot be watched', async () => {
  const { status, stderr } = await runLeadsheet(['report', 'preview', 'nope', '--watch', '--port', '0'], {
    cwd: folderWith(),
  })
  expect(status).not.toBe(0)
  expect(stderr).toContain('There is no report named "nope"')
})

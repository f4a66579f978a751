// @both-stores
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { type ArchivedIssue, archiveIssue } from '../../../src/jobs/archive/archive.ts'
import { folderWith } from '../../support/folder.ts'
import { hasBrowser, openBrowser } from '../../support/web/browser.ts'

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
    report: 'daily',
    period: dayOf(date),
    variant: '',
    html: '<!DOCTYPE html>\n<html lang="de"><head><meta charset="utf-8"><title>Daily leads</title></head><body class="bg"><p>59 new</p><img src="cid:trend" alt="Trend"></body></html>',
    files: [
      { name: 'trend.png', contentType: 'image/png', content: PICTURE, cid: 'trend' },
      { name: 'daily-stalled.csv', contentType: 'text/csv', content: Buffer.from('id\n1\n'), cid: null },
    ],
    ...changes,
  }
}

const NOBODY = 65_534
/** A program that archives the issue of 20 November once more, and prints the error. */
const AGAIN = `
  import { archiveIssue } from ${JSON.stringify(join(import.meta.dirname, '../../../src/jobs/archive/archive.ts'))}
  const issue = ${JSON.stringify(issueOf(20, { files: [] }))}
  await archiveIssue(process.argv[1], issue).catch(({ code, message }) => process.stdout.write(code + ' ' + message))`

describe('an issue in the archive', () => {
  test('is a folder with its page and attachments', async () => {
    const archive = folderWith()
    const page = await archiveIssue(archive, issueOf(20))
    expect(page).toBe(join(archive, 'daily', '2026-11-20', 'index.html'))
    expect(readdirSync(join(page, '..')).sort()).toEqual(['daily-stalled.csv', 'index.html'])
  })

  test('is for its own user alone, with every file of the archive', async () => {
    const archive = folderWith()
    await archiveIssue(archive, issueOf(20))
    await archiveIssue(archive, issueOf(21))
    const modes = readdirSync(archive, { recursive: true }).map(
      (name) => statSync(join(archive, String(name))).mode & 0o077,
    )
    expect(modes.length).toBe(7)
    expect(modes.filter((mode) => mode !== 0)).toEqual([])
  })

  test('lies beside that of other leads, and of longer periods', async () => {
    const archive = folderWith()
    const week = periodBetween('2026-11-16', '2026-11-23', 'Europe/Berlin')
    await archiveIssue(archive, issueOf(20))
    await archiveIssue(archive, issueOf(20, { variant: '{"pipelineIds":["eu"]}' }))
    await archiveIssue(archive, issueOf(20, { variant: '{"pipelineIds":["us"]}' }))
    await archiveIssue(archive, issueOf(20, { period: week }))
    expect(readdirSync(join(archive, 'daily'))).toHaveLength(4)
  })

  test('takes the place of an earlier one', async () => {
    const archive = folderWith()
    await archiveIssue(archive, issueOf(20))
    const html = '<html><head></head><body>anew</body></html>'
    const page = await archiveIssue(archive, issueOf(20, { html, files: [] }))
    expect(readFileSync(page, 'utf8')).toContain('anew')
    expect(readdirSync(join(page, '..'))).toEqual(['index.html'])
    expect(readdirSync(join(archive, 'daily'))).toEqual(['2026-11-20'])
  })

  test('leaves nothing half-written, and says what is not writable', async () => {
    const archive = folderWith()
    const files = [{ name: 'no/such/folder.csv', contentType: 'text/csv', content: PICTURE, cid: null }]
    await expect(archiveIssue(archive, issueOf(20, { files }))).rejects.toMatchObject({
      code: 'data_unwritable',
      message: expect.stringContaining('2026-11-20'),
    })
    expect(readdirSync(join(archive, 'daily'))).toEqual([])
  })

  test('that its user may not delete stays as it is, and the error says so', async () => {
    const archive = folderWith()
    const folder = join(archive, await archiveIssue(archive, issueOf(20)).then(() => 'daily'))
    const isRoot = process.getuid?.() === 0
    // Root may delete everything, so another user tries it then.
    for (const path of [archive, folder]) {
      chmodSync(path, 0o755)
      if (isRoot) chownSync(path, NOBODY, NOBODY)
    }
    const issue = join(folder, '2026-11-20')
    chmodSync(issue, 0o500)
    const { stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', AGAIN, archive], {
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
      encoding: 'utf8',
    })
    chmodSync(issue, 0o700)
    expect([stderr, stdout]).toEqual([
      '',
      `data_unwritable ${join(issue, 'index.html')} cannot be written: EACCES: permission denied`,
    ])
    expect(readdirSync(folder)).toEqual(['2026-11-20'])
    expect(readdirSync(issue)).toHaveLength(2)
  })
})

describe.skipIf(!hasBrowser)('the page of an issue in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  async function open(issue: ArchivedIssue) {
    const archive = folderWith()
    const file = await archiveIssue(archive, issue)
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(`file://${file}`)
    return { page, complaints }
  }

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

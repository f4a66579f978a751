// @both-stores
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { type ArchivedIssue, archiveIssue } from '../../../src/jobs/archive/archive.ts'
import { folderWith } from '../../support/folder.ts'

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

describe('an issue in the archive', () => {
  test('is a folder with its page, which lets nothing run or load, and attachments', async () => {
    const archive = folderWith()
    const page = await archiveIssue(archive, issueOf(20))
    expect(page).toBe(join(archive, 'daily', '2026-11-20', 'index.html'))
    expect(readdirSync(join(page, '..')).sort()).toEqual(['daily-stalled.csv', 'index.html'])
    const html = readFileSync(page, 'utf8')
    await expect(html).toMatchFileSnapshot('golden/page.html')
  })

  test('is for its own user alone, and lies beside that of other leads, and of longer periods', async () => {
    const archive = folderWith()
    const week = periodBetween('2026-11-16', '2026-11-23', 'Europe/Berlin')
    await archiveIssue(archive, issueOf(20))
    await archiveIssue(archive, issueOf(20, { variant: '{"pipelineIds":["eu"]}' }))
    await archiveIssue(archive, issueOf(20, { variant: '{"pipelineIds":["us"]}' }))
    await archiveIssue(archive, issueOf(20, { period: week }))
    expect(readdirSync(join(archive, 'daily'))).toHaveLength(4)
    const modes = readdirSync(archive, { recursive: true }).map(
      (name) => statSync(join(archive, String(name))).mode & 0o077,
    )
    expect(modes).toEqual(Array(13).fill(0))
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
})

// @long
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeAll, expect, test } from 'vitest'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { syncedForFile } from '../../../support/process/synced-installation.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

/** A time in the past of every clock. */
const NOW = '2025-11-21T07:00:00Z'
const SETTINGS = `data_dir: ./data
smtp: { url: file:./outbox }
mail: { from: reports@example.com }
recipients:
  - ana@example.com
  - { address: ben@example.com, locale: de-DE }
`

const synced = syncedForFile(SETTINGS, NOW, 8)

beforeAll(async () => {
  const options = { cwd: synced.folder, env: clockStandingAt('2025-11-21T07:05:00Z') }
  expect(await runWarm(['report', 'send', 'daily'], options)).toMatchObject({ status: 0 })
})

function openSent() {
  const folder = synced.copy()
  return { folder, report: (command: string, ...args: string[]) => reportIn(folder, command, args) }
}

function reportIn(folder: string, command: string, args: readonly string[] = []) {
  return runWarm(['report', command, 'daily', '--at', NOW, ...args], { cwd: folder })
}

test('show writes the mail as it was sent, byte for byte', async () => {
  const { folder } = openSent()
  await checkTranscript(
    join(import.meta.dirname, 'golden/show.txt'),
    { cwd: folder },
    { SENT: synced.folder },
  )
  const [sent = ''] = readdirSync(join(folder, 'data', 'outbox')).filter((name) => name.includes('ben'))
  expect(readFileSync(join(folder, 'ben.eml'))).toEqual(readFileSync(join(folder, 'data', 'outbox', sent)))
  expect(readFileSync(join(folder, 'ana.html'), 'utf8')).toContain('<title>Daily leads, Thu 20 Nov')
})

test('preview makes it anew, also as a test mail, leaves what was sent as it is, and says so', async () => {
  const { folder, report } = openSent()
  const database = new Database(join(folder, 'data', 'leadsheet.db'))
  const kept = () => database.prepare('SELECT html, rendered_at FROM report_issue').all()
  const before = kept()
  database.exec("UPDATE pipeline SET name = 'Renamed since'")
  const shown = await report('preview', '-o', 'now.txt')
  const note =
    /made from the current data\. The issue sent on \d{4}-\d\d-\d\d is unchanged: .*report show daily/
  expect(shown.stderr).toMatch(note)
  expect(readFileSync(join(folder, 'now.txt'), 'utf8')).toContain('Renamed since')
  expect(await report('preview', '--to', 'me@example.com')).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(note),
  })
  const outbox = join(folder, 'data', 'outbox')
  const [test = ''] = readdirSync(outbox).filter((name) => name.includes('me-example.com'))
  expect(readFileSync(join(outbox, test), 'utf8')).toContain('Renamed since')
  expect(kept()).toEqual(before)
  database.close()
})

test.each([
  ['are no JSON', "'damaged'", '1'],
  ['are null', "'null'", '1'],
  ['have another format', 'figures', '99'],
])('an issue whose figures %s is shown and sent as stored', async (_, figures, format) => {
  const { folder, report } = openSent()
  const database = new Database(join(folder, 'data', 'leadsheet.db'))
  database.exec(`UPDATE report_issue SET figures = ${figures}, figures_format = ${format}`)
  database.close()
  expect((await report('show', '--for', 'ana@example.com', '-o', 'sent.html')).status).toBe(0)
  const resent = await report('resend', '--all', '--yes')
  expect([resent.status, resent.stderr]).toEqual([0, expect.not.stringContaining('bug')])
  for (const line of ['status', 'report show', 'snapshot']) {
    const { stderr } = await runWarm(line.split(' '), { cwd: folder })
    expect([line, stderr]).toEqual([line, expect.not.stringContaining('bug in leadsheet')])
  }
})

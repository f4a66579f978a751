// @long
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
mail: { url: file:./outbox, from: reports@example.com }
recipients:
  - ana@example.com
  - { address: ben@example.com, locale: de-DE }
`

const synced = syncedForFile(SETTINGS, NOW, 8)

beforeAll(async () => {
  const options = { cwd: synced.folder, env: clockStandingAt('2025-11-21T07:05:00Z') }
  expect(await runWarm(['report', 'send', 'daily'], options)).toMatchObject({ status: 0 })
})

test('show writes the mail as it was sent, byte for byte', async () => {
  const options = { cwd: synced.copy() }
  await checkTranscript(join(import.meta.dirname, 'golden/show.txt'), options, { SENT: synced.folder })
})

test('preview makes it anew, also as a test mail, leaves what was sent as it is, and says so', async () => {
  const cwd = synced.copy()
  using database = Object.assign(new Database(join(cwd, 'data', 'leadsheet.db')), {
    [Symbol.dispose]: () => void database.close(),
  })
  const kept = () => database.prepare('SELECT html, rendered_at FROM report_issue').all()
  const before = kept()
  database.exec("UPDATE pipeline SET name = 'Renamed since'")
  const options = { cwd, env: clockStandingAt('2025-11-21T08:00:00Z') }
  await checkTranscript(join(import.meta.dirname, 'golden/preview-anew.txt'), options)
  expect(kept()).toEqual(before)
})

test.each([
  ['are no JSON', "'damaged'", '1'],
  ['are null', "'null'", '1'],
  ['have another format', 'figures', '99'],
])('an issue whose figures %s is shown and sent as stored', async (_, figures, format) => {
  const cwd = synced.copy()
  const run = (line: string) => runWarm(line.split(' '), { cwd })
  const database = new Database(join(cwd, 'data', 'leadsheet.db'))
  database.exec(`UPDATE report_issue SET figures = ${figures}, figures_format = ${format}`)
  database.close()
  const issue = `daily --at ${NOW}`
  expect(await run(`report show ${issue} --for ana@example.com -o sent.html`)).toMatchObject({ status: 0 })
  expect(await run(`report resend ${issue} --all --yes`)).toMatchObject({
    status: 0,
    stderr: expect.not.stringContaining('bug'),
  })
  for (const line of ['status', 'report show', 'snapshot'])
    expect([line, (await run(line)).stderr]).toEqual([line, expect.not.stringContaining('bug in leadsheet')])
})

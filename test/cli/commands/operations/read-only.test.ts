/** Commands that only look leave the data directory as it is, to the byte. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startUpstream, type Upstream } from '../../../support/upstream.ts'

const SETTINGS = 'recipients: [ana@example.com]\nmail: { from: r@example.com }\nweb: { listen: none }\n'
const READING = [
  ...['status', 'status --json', 'leads list', 'leads show LEAD', 'figures', 'figures new_leads'],
  ...['schedule', 'alerts list', 'report show', 'outbox list', 'annotate', 'recipients'],
]

/** Makes an installation that has synced once. */
async function installation(upstream: Upstream) {
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS })
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'k-123456' }
  expect((await runWarm(['sync'], { cwd, env })).status).not.toBe(2)
  return { cwd, env }
}

/** Returns the files of the data directory with their bytes and times. */
function stateOf(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const path = join(folder, name)
    const { mtimeMs, size } = statSync(path)
    return { name, mtimeMs, size, bytes: statSync(path).isFile() ? readFileSync(path, 'base64') : '' }
  })
}

it('none of them writes anything', async () => {
  await using upstream = await startUpstream(35)
  const { cwd, env } = await installation(upstream)
  const before = stateOf(join(cwd, 'data'))
  const lead = [...upstream.leads.keys()][0] ?? ''
  for (const command of READING) {
    const run = await runWarm(
      command.split(' ').map((word) => (word === 'LEAD' ? lead : word)),
      { cwd, env },
    )
    expect(run.stderr, command).not.toMatch(/^error/m)
    expect(`${run.stdout}${run.stderr}`, command).not.toBe('')
    expect(stateOf(join(cwd, 'data')), command).toEqual(before)
  }
})

it('status sees what a running process has written last', async () => {
  await using upstream = await startUpstream(35)
  const { cwd, env } = await installation(upstream)
  using database = Object.assign(new Database(join(cwd, 'data/leadsheet.db')), {
    [Symbol.dispose]: () => void database.close(),
  })
  database.exec('DELETE FROM lead_day')
  const { stdout } = await runWarm(['status', '--json'], { cwd, env })
  expect(JSON.parse(stdout).data.leads).toBe(0)
})

it('status neither upgrades an older database nor fills an empty file', async () => {
  await using upstream = await startUpstream(35)
  const { cwd, env } = await installation(upstream)
  const older = folderWith({ 'leadsheet.yaml': SETTINGS, 'data/leadsheet.db': '' })
  const empty = await runWarm(['status', '--json'], { cwd: older, env })
  expect(JSON.parse(empty.stdout).data.leads).toBe(0)
  expect(readdirSync(join(older, 'data'))).toEqual(['leadsheet.db'])
  expect(statSync(join(older, 'data/leadsheet.db')).size).toBe(0)

  writeFileSync(join(older, 'data/leadsheet.db'), readFileSync(join(cwd, 'data/leadsheet.db')))
  const database = new Database(join(older, 'data/leadsheet.db'))
  database.exec('DELETE FROM kysely_migration')
  database.close()
  const before = stateOf(join(older, 'data'))
  const { status, stderr } = await runWarm(['status'], { cwd: older, env })
  expect([status, stderr]).toEqual([
    1,
    expect.stringMatching(/was written by an older leadsheet\nhint: .*leadsheet sync/),
  ])
  expect(stateOf(join(older, 'data'))).toEqual(before)
})

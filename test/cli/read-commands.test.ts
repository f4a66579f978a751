/**
 * Commands that only read write nothing, and go on with a warning if the settings have a mistake that is not
 * about what they need. All other commands refuse such settings, and none begins a database that is lost.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listCommands } from '../support/docs/commands.ts'
import { clockStandingAt } from '../support/process/shifted-clock.ts'
import { checkTranscript } from '../support/process/transcript.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { folderWithDatabase } from '../support/store.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const GOOD = `recipients: [ana@example.com]
mail: { from: r@example.com }
web: { listen: none }
`
/** A name that does not exist, and a wrong value that no reading command needs. */
const MISTAKES = 'colour: green\nretention: { daily_after_days: soon }\n'

/** Each reading command as it is called, with a setting beside data_dir that it needs; null without one. */
const READING: Readonly<Record<string, 'api' | 'time_zone' | null>> = {
  'leads list': null,
  'leads list --remote': 'api',
  'leads show LEAD': null,
  'leads show LEAD --remote': 'api',
  figures: 'time_zone',
  'figures new_leads': 'time_zone',
  annotate: null,
  'pipelines stats pl_01': 'api',
  agents: 'api',
  'webhooks list': 'api',
  'report show daily': null,
  recipients: null,
  outbox: null,
  'query SELECT+1': null,
  status: null,
  health: null,
  alerts: null,
  schedule: 'time_zone',
  'db check': null,
  'db backup copy.db': null,
}

/** Commands that write, send or check the settings. */
const STRICT = [
  ...['sync', 'annotate 2026-11-13 campaign', 'pipelines create --name Robots', 'config check'],
  ...['webhooks register https://example.com/', 'webhooks remove wh_01 --yes', 'report preview daily'],
  'report test --round-trip',
  ...['report new mine', 'report send daily', 'report resend daily --all', 'report approve daily'],
  ...['recipients set paused ana@example.com', 'recipients link --revoke', 'snapshot', 'run', 'probe'],
  ...[
    'outbox resolve --report daily --as lost',
    'outbox bounces',
    'alerts ack 1',
    'db restore copy.db',
    'db prune',
  ],
  'db copy --to copied.db',
]

/** Commands that read no settings file, or, like `doctor`, show its mistakes as a result. */
const WITHOUT = ['demo', 'init', 'service', 'doctor']

const SETTINGS = `api: { url: "http://127.0.0.1:9/", key: k }
mail: { url: "file:./outbox", from: r@example.com }
web: { public_url: "https://reports.example.com" }
recipients: [ana@example.com]
`

let upstream: Upstream
let cwd: string
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  upstream = await startUpstream(35)
  cwd = mkdtempSync(join(tmpdir(), 'leadsheet-reading-'))
  writeFileSync(join(cwd, 'leadsheet.yaml'), GOOD)
  env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'k-123456' }
  expect((await runWarm(['sync'], { cwd, env })).status).not.toBe(2)
})
afterAll(async () => {
  rmSync(cwd, { recursive: true })
  await upstream[Symbol.asyncDispose]()
})

function call(line: string, settings: string) {
  writeFileSync(join(cwd, 'leadsheet.yaml'), settings)
  const [lead = ''] = upstream.leads.keys()
  const args = line.split(' ').map((word) => (word === 'LEAD' ? lead : word.replace('+', ' ')))
  return runWarm(args, { cwd, env })
}

/** Returns the files of the data directory with their bytes and times. */
function stateOf(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const path = join(folder, name)
    const { mtimeMs, size } = statSync(path)
    return { name, mtimeMs, size, bytes: statSync(path).isFile() ? readFileSync(path, 'base64') : '' }
  })
}

it.each(Object.keys(READING))('%s warns of mistakes elsewhere, goes on and writes nothing', async (line) => {
  const before = stateOf(join(cwd, 'data'))
  const { stderr } = await call(line, GOOD + MISTAKES)
  expect(stderr).toMatch(/colour: no such setting.*\(left out\)/)
  expect(stderr).toMatch(/retention.daily_after_days: found .*soon.*\(left out\)/)
  expect(stderr).not.toMatch(/mistakes? in the settings|bug in leadsheet/)
  expect(stateOf(join(cwd, 'data'))).toEqual(before)
})

it('what a reading command needs has no mistakes, in the file or in the environment', async () => {
  const wrong = { api: 'api: { page_size: many }\n', time_zone: 'time_zone: Mars/Olympus\n' }
  const mistyped = { api: 'appi: {}\n', time_zone: 'timezone: Europe/Berlin\n' }
  for (const [line, setting] of Object.entries(READING))
    for (const mistake of setting === null ? [] : [wrong[setting], mistyped[setting]])
      expect([line, mistake, await call(line, GOOD + mistake)]).toMatchObject([
        line,
        mistake,
        { status: 2, stderr: expect.stringMatching(/a mistake in the settings/) },
      ])
  writeFileSync(join(cwd, 'leadsheet.yaml'), GOOD)
  for (const [line, mistake] of [
    ['figures', { LEADSHEET_DATA_DRI: '/srv/leads' }],
    ['agents', { LEADSHEET_API_KYE: 'k-654321' }],
    ['agents', { HTTPS_PROXY: 'not a proxy' }],
  ] as const) {
    const { status, stderr } = await runWarm([line], { cwd, env: { ...env, ...mistake } })
    expect([status, stderr]).toEqual([2, expect.stringMatching(/a mistake in the settings/)])
  }
})

it('all other commands refuse settings with mistakes, and each command is in one of these lists', async () => {
  for (const line of STRICT) {
    const { status, stderr } = await call(line, GOOD + MISTAKES)
    expect([line, status, stderr]).toEqual([line, 2, expect.stringMatching(/2 mistakes in the settings/)])
  }
  const called = [...Object.keys(READING), ...STRICT, ...WITHOUT]
  const missing = (await listCommands()).filter(
    ({ name }) =>
      !called.some(
        (line) => `${line} `.startsWith(`${name} `) || name === `${line} list` || name === `${line} show`,
      ) && !WITHOUT.some((word) => name.startsWith(`${word} `)),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

it('status sees what a running process has written last', async () => {
  using database = Object.assign(new Database(join(cwd, 'data/leadsheet.db')), {
    [Symbol.dispose]: () => void database.close(),
  })
  const before = database.prepare('SELECT * FROM lead_day').all()
  database.exec('BEGIN; DELETE FROM lead_day; COMMIT')
  expect(before).not.toEqual([])
  expect(JSON.parse((await call('status --json', GOOD)).stdout).data.leads).toBe(0)
})

it('nothing upgrades an older database to read it, fills an empty file, or touches what is none of ours', async () => {
  const cwd = await folderWithDatabase({
    'leadsheet.yaml': SETTINGS,
    'nothing/.keep': '',
    'empty/leadsheet.db': '',
    'damaged/leadsheet.db': 'no database, but as long as the header of one'.repeat(9),
    'other/.keep': '',
  })
  new Database(join(cwd, 'data/leadsheet.db')).exec('DELETE FROM kysely_migration').close()
  new Database(join(cwd, 'other/leadsheet.db')).exec('CREATE TABLE song (title TEXT)').close()
  const options = { cwd, env: clockStandingAt('2026-11-21T12:00:00Z') }
  // The words of the doctor depend on the machine.
  for (const folder of ['nothing', 'empty'])
    await runWarm(['doctor'], { cwd, env: { ...options.env, LEADSHEET_DATA_DIR: folder } })
  await checkTranscript(join(import.meta.dirname, 'golden/other-databases.txt'), options)
})

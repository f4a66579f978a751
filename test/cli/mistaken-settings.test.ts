/**
 * Commands that only read go on with a warning if the settings have a mistake that is not about what they
 * need. All other commands refuse such settings.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listCommands } from '../support/docs/commands.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
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
  'report show': null,
  'report show daily': null,
  recipients: null,
  outbox: null,
  'query SELECT+1': null,
  'query SELECT+1 --format csv': null,
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
  ...['webhooks register https://example.com/'],
  ...['webhooks remove wh_01 --yes', 'report preview daily', 'report new mine'],
  ...['report preview daily --to me@example.com', 'report send daily'],
  ...['report resend daily --all', 'report approve daily', 'recipients set paused ana@example.com'],
  ...['recipients set active ana@example.com', 'recipients set unsubscribed ana@example.com'],
  ...['recipients link ana@example.com', 'recipients link --revoke'],
  ...['outbox resolve --report daily --as lost', 'snapshot', 'run'],
  ...['alerts ack 1', 'db restore copy.db', 'db prune'],
  ...['db copy --to copied.db', 'probe'],
]

/** Commands that read no settings file, or, like `doctor`, show its mistakes as a result. */
const WITHOUT = ['demo', 'init', 'service', 'doctor']

let upstream: Upstream
let cwd: string
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  upstream = await startUpstream(35)
  cwd = mkdtempSync(join(tmpdir(), 'leadsheet-reading-'))
  writeFileSync(join(cwd, 'leadsheet.yaml'), GOOD)
  env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'k-123456' }
  expect((await runWarm(['sync'], { cwd, env })).status).not.toBe(2)
  const preview = ['report', 'preview', 'daily', '-o', 'daily.html']
  expect((await runWarm(preview, { cwd, env })).stderr).not.toMatch(/^error/m)
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

it.each(Object.keys(READING))('%s warns of mistakes elsewhere and goes on', async (line) => {
  const { stderr } = await call(line, GOOD + MISTAKES)
  expect(stderr).toMatch(/colour: no such setting.*\(left out\)/)
  expect(stderr).toMatch(/retention.daily_after_days: found .*soon.*\(left out\)/)
  expect(stderr).not.toMatch(/mistakes? in the settings|bug in leadsheet/)
})

const needing = Object.entries(READING).flatMap(([line, setting]) => (setting ? [{ line, setting }] : []))

it.each(needing)('$line refuses a mistake in $setting, which it needs', async ({ line, setting }) => {
  const wrong = { api: 'api: { page_size: many }\n', time_zone: 'time_zone: Mars/Olympus\n' }[setting]
  const mistyped = { api: 'appi: {}\n', time_zone: 'timezone: Europe/Berlin\n' }[setting]
  for (const mistake of [wrong, mistyped]) {
    const { status, stderr } = await call(line, GOOD + mistake)
    expect([status, stderr]).toEqual([2, expect.stringMatching(/a mistake in the settings/)])
  }
})

describe('a mistake about the data or the upstream in the environment', () => {
  it.each([
    ['figures', { LEADSHEET_DATA_DRI: '/srv/leads' }],
    ['agents', { LEADSHEET_API_KYE: 'k-654321' }],
    ['agents', { HTTPS_PROXY: 'not a proxy' }],
  ])('is refused by %s: %o', async (line, wrong) => {
    writeFileSync(join(cwd, 'leadsheet.yaml'), GOOD)
    const { status, stderr } = await runWarm([line], { cwd, env: { ...env, ...wrong } })
    expect([status, stderr]).toEqual([2, expect.stringMatching(/a mistake in the settings/)])
  })
})

it.each(STRICT)('%s refuses settings with mistakes', async (line) => {
  const { status, stderr } = await call(line, GOOD + MISTAKES)
  expect([status, stderr]).toEqual([2, expect.stringMatching(/2 mistakes in the settings/)])
})

it('every command is in one of these lists', async () => {
  const called = [...Object.keys(READING), ...STRICT, ...WITHOUT]
  const missing = (await listCommands()).filter(
    ({ name }) =>
      !called.some(
        (line) => `${line} `.startsWith(`${name} `) || name === `${line} list` || name === `${line} show`,
      ) && !WITHOUT.some((word) => name.startsWith(`${word} `)),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

/**
 * Faults are planted in a healthy installation, one at a time. The doctor finds each of them, and names a
 * remedy.
 */
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { CheckResult } from '../../src/checks/check.ts'
import { examine } from '../../src/cli/commands/operations/doctor.ts'
import { EXIT_STATUS, STATUS_ENDINGS, worstOf } from '../../src/cli/exit-status.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Service } from '../../src/service/open.ts'
import { folderWith } from '../support/folder.ts'
import { openMailServer } from '../support/mail-server.ts'
import { clockAt } from '../support/process/shifted-clock.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { startService } from '../support/service.ts'
import { SILENT } from '../support/syncing.ts'
import { body, startUpstream } from '../support/upstream.ts'

const HOUR_MS = 3_600_000
const SETTINGS = `
data_dir: data
recipients: [ana@example.com]
alerts: { recipients: [ops@example.com] }
smtp: { url: "file:./outbox" }
mail: { from: reports@example.com }
reports: [{ name: daily }]
enrichment: { policy: none }
`

let service: Service
let env: Record<string, string>
/** An installation with a synced database and its snapshot. */
let well: string

beforeAll(async () => {
  well = mkdtempSync(join(tmpdir(), 'leadsheet-well-'))
  writeFileSync(join(well, 'leadsheet.yaml'), SETTINGS, { mode: 0o600 })
  service = await startService(well, new Date(), 3)
  env = {
    LEADSHEET_API_URL: service.url,
    LEADSHEET_API_KEY: await service.createKey({ name: 'test', scope: 'read' }),
    LEADSHEET_WEB_LISTEN: 'none',
  }
  await runWarm(['sync'], { cwd: well, env })
})
afterAll(async () => {
  await service.close()
  rmSync(well, { recursive: true })
})

/** Returns a copy of the healthy installation. */
function installation(settings = SETTINGS): string {
  const cwd = folderWith()
  cpSync(join(well, 'data'), join(cwd, 'data'), { recursive: true })
  writeFileSync(join(cwd, 'leadsheet.yaml'), settings, { mode: 0o600 })
  return cwd
}

interface Diagnosis {
  readonly status: number
  /** All failed checks except that of the data directory's file system, which depends on the machine. */
  readonly wrong: readonly CheckResult[]
}

async function diagnose(cwd: string, change: Readonly<Record<string, string>> = {}): Promise<Diagnosis> {
  const checks: CheckResult[] = []
  const patient = {
    config: async () => loadConfig({ cwd, env: { ...env, ...change } }),
    log: async () => SILENT,
    signal: new AbortController().signal,
  }
  for await (const check of examine(patient, { whole: true })) checks.push(check)
  const told = checks.filter(({ found }) => !found.includes('is gone with the container'))
  return {
    status: EXIT_STATUS[STATUS_ENDINGS[worstOf(told)]].status,
    wrong: told.filter(({ status }) => status !== 'ok'),
  }
}

function exec(cwd: string, statements: string): void {
  const database = new Database(join(cwd, 'data/leadsheet.db'))
  database.exec(statements)
  database.close()
}

function about(what: string, found: RegExp, remedy: RegExp) {
  return { what, found: expect.stringMatching(found), remedy: expect.stringMatching(remedy) }
}

it('an installation that is well has nothing wrong', async () => {
  expect(await diagnose(installation())).toEqual({ status: 0, wrong: [] })
})

it('an upstream that is away', async () => {
  expect(await diagnose(installation(), { LEADSHEET_API_URL: 'http://127.0.0.1:1' })).toMatchObject({
    status: 1,
    wrong: [about('list of leads', /ECONNREFUSED/, /api\.url \(LEADSHEET_API_URL\)/)],
  })
})

it('an upstream that the profile no longer fits', async () => {
  await using upstream = await startUpstream(0)
  upstream.faults.push(body('{"items": [{"id": "1"}]}'))
  expect(await diagnose(installation(), { LEADSHEET_API_URL: upstream.url })).toMatchObject({
    status: 1,
    wrong: [about('list of leads', /has no list of leads/, /leadsheet probe/)],
  })
})

it('a mail server that does not let us in', async () => {
  await using server = await openMailServer({
    onAuth: (_auth, _session, done) => done(new Error('535 no')),
    allowInsecureAuth: true,
  })
  const url = server.url.replace('//', '//dana:hunter22@')
  const { status, wrong } = await diagnose(installation(), { LEADSHEET_SMTP_URL: url })
  expect({ status, wrong }).toMatchObject({
    status: 1,
    wrong: [about('mail', /535/, /user|password|LEADSHEET_SMTP_URL/)],
  })
  expect(JSON.stringify(wrong)).not.toContain('hunter22')
})

it('a mail server without the TLS that is asked for', async () => {
  await using server = await openMailServer()
  const url = server.url.replace('127.0.0.1', '0.0.0.0')
  expect(await diagnose(installation(), { LEADSHEET_SMTP_URL: url })).toMatchObject({
    status: 1,
    wrong: [about('mail', /has no TLS to offer/, /smtps:\/\/, mostly 465/)],
  })
})

it('a data directory that cannot be made', async () => {
  const cwd = installation()
  writeFileSync(join(cwd, 'file'), '')
  expect(await diagnose(cwd, { LEADSHEET_DATA_DIR: 'file/data' })).toMatchObject({
    status: 1,
    wrong: [
      about('data directory', /ENOTDIR|EEXIST/, /LEADSHEET_DATA_DIR/),
      // The folder that receives the mails is inside this path.
      about('mail', /ENOTDIR/, /./),
    ],
  })
})

it('data that are old, and a daemon that is dead', async () => {
  const cwd = installation()
  const old = new Date(Date.now() - 30 * HOUR_MS).toISOString()
  exec(
    cwd,
    `UPDATE sync_run SET started_at = '${old}', finished_at = '${old}', leads_as_of = '${old}';
    INSERT INTO daemon_uptime (began_at, began_after, last_heartbeat_at, host, pid) VALUES ('${old}', 'down', '${old}', 'h', 1)`,
  )
  const { status, wrong } = await diagnose(cwd)
  expect(status).toBe(1)
  expect(wrong).toEqual(
    expect.arrayContaining([
      { status: 'fail', ...about('daemon', /no heartbeat for 30 h/, /start it again/) },
      { status: 'fail', ...about('copy of leads', /for 30 h/, /leadsheet status/) },
    ]),
  )
})

it('a snapshot that is not there, or damaged', async () => {
  const cwd = installation()
  const file = join(cwd, 'data/snapshot.db')
  rmSync(file)
  const missing = { status: 'warn', ...about('snapshot', /There is no snapshot/, /leadsheet snapshot/) }
  expect(await diagnose(cwd)).toMatchObject({ status: 3, wrong: [missing] })
  writeFileSync(file, 'no database')
  expect(await diagnose(cwd)).toMatchObject({ status: 3, wrong: [missing] })
})

it('a clock that is wrong by that of the upstream, as the program itself says and leaves', async () => {
  const cwd = installation()
  const hour = new Date(Date.now() + HOUR_MS).toISOString()
  const { status, stdout } = await runWarm(['doctor', '--json'], {
    cwd,
    env: { ...env, ...clockAt(hour) },
  })
  expect(status).toBe(3)
  expect(JSON.parse(stdout).data.checks).toContainEqual({
    status: 'warn',
    ...about('clock', /Our clock is (60|59) minutes ahead of that of the upstream/, /NTP/),
  })
})

it('a secret in a file that everybody can read', async () => {
  const cwd = installation()
  writeFileSync(join(cwd, 'key'), env.LEADSHEET_API_KEY ?? '')
  chmodSync(join(cwd, 'key'), 0o644)
  const { wrong } = await diagnose(cwd, { LEADSHEET_API_KEY: '', LEADSHEET_API_KEY_FILE: 'key' })
  expect(wrong).toContainEqual({
    status: 'warn',
    ...about('settings', /every user of this machine can read .*key; chmod 600 it/, /config check/),
  })
})

it('a dashboard that could be reached from outside without a token', async () => {
  const { status, wrong } = await diagnose(installation(), { LEADSHEET_WEB_LISTEN: '0.0.0.0:0' })
  expect([status, wrong]).toMatchObject([
    3,
    [about('dashboard', /can be reached from outside without a token/, /web\.token_file/)],
  ])
})

it('a port that another program has', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : 0
  expect(await diagnose(installation(), { LEADSHEET_WEB_LISTEN: `127.0.0.1:${port}` })).toMatchObject({
    status: 1,
    wrong: [about('dashboard', /something listens there already/, /another web\.listen/)],
  })
})

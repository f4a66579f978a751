/** Faults are planted in a healthy installation, one at a time. The doctor finds each, and names a remedy. */
import { appendFileSync, chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { CheckResult } from '../../../../src/checks/check.ts'
import { examine } from '../../../../src/cli/commands/operations/doctor.ts'
import { createAskDns } from '../../../../src/cli/deliverability/spf.ts'
import { loadConfig } from '../../../../src/config/load.ts'
import type { Service } from '../../../../src/service/open.ts'
import { folderWith } from '../../../support/folder.ts'
import { USER, withUser } from '../../../support/mail/token-login.ts'
import { openMailServer, openScriptedServer } from '../../../support/mail-server.ts'
import { openDnsServer, parseRecord } from '../../../support/network/dns-server.ts'
import { listen } from '../../../support/network/http-server.ts'
import { CLIENT, startTokenServer } from '../../../support/network/token-server.ts'
import { clockAt } from '../../../support/process/shifted-clock.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'
import { STORE_VERSIONS } from '../../../support/store.ts'
import { SILENT } from '../../../support/syncing.ts'
import { body, startUpstream } from '../../../support/upstream.ts'

const HOUR_MS = 3_600_000
const SETTINGS = `
data_dir: data
recipients: [ana@example.com]
alerts: { recipients: [ops@example.com] }
mail: { url: "file:./outbox", from: reports@example.com }
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
  const key = await service.createKey({ name: 'test', scope: 'read' })
  env = { LEADSHEET_API_URL: service.url, LEADSHEET_API_KEY: key, LEADSHEET_WEB_LISTEN: 'none' }
  expect(await runWarm(['sync'], { cwd: well, env })).toMatchObject({ status: 0 })
})
afterAll(async () => {
  await service.close()
  rmSync(well, { recursive: true })
})

/** Returns a copy of the healthy installation. */
function installation(files: Readonly<Record<string, string>> = {}): string {
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS, ...files })
  cpSync(join(well, 'data'), join(cwd, 'data'), { recursive: true })
  return cwd
}

/** Returns the failed checks but that of the data directory's file system, which depends on the machine. */
async function diagnose(cwd: string, change: Readonly<Record<string, string>> = {}): Promise<CheckResult[]> {
  const patient = {
    config: async () => loadConfig({ cwd, env: { ...env, ...change } }),
    log: async () => SILENT,
    signal: new AbortController().signal,
  }
  await using dns = await openDnsServer(() => DNS)
  const checks = await Array.fromAsync(examine(patient, { whole: true, ask: createAskDns([dns.server]) }))
  return checks.filter(
    ({ status, found }) => status !== 'ok' && !found.includes('is gone with the container'),
  )
}

function exec(cwd: string, statements: string): void {
  const database = new Database(join(cwd, 'data/leadsheet.db'))
  database.unsafeMode()
  database.exec(statements)
  database.close()
}

const DNS = [parseRecord('acme.test TXT "v=spf1 +all"')]

const OLD = new Date(Date.now() - 30 * HOUR_MS).toISOString()

function untilEnd<Server extends AsyncDisposable>(server: Server): Server {
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** A change of an installation; it may return changes to the environment. */
const FAULTS: Readonly<Record<string, (cwd: string) => unknown>> = {
  'nothing is wrong': () => ({}),
  'an upstream that is away': () => ({ LEADSHEET_API_URL: 'http://127.0.0.1:1' }),
  'an upstream that the profile no longer fits': async () => {
    const upstream = untilEnd(await startUpstream(0))
    upstream.faults.push(body('{"items": [{"id": "1"}]}'))
    return { LEADSHEET_API_URL: upstream.url }
  },
  'a key that no header can carry': () => ({ LEADSHEET_API_KEY: 'test\u2013key' }),
  'a key and a mail server of files': (cwd) => {
    const settings = `api: { key_file: key }\n${SETTINGS.replace('url: "file:./outbox"', 'url_file: mail-url')}`
    writeFileSync(join(cwd, 'leadsheet.yaml'), settings)
    writeFileSync(join(cwd, 'mail-url'), 'smtp://127.0.0.1:9', { mode: 0o600 })
    writeFileSync(join(cwd, 'key'), 'wrong-key', { mode: 0o644 })
    return { LEADSHEET_API_KEY: '' }
  },
  'mistakes in the settings': (cwd) =>
    writeFileSync(join(cwd, 'leadsheet.yaml'), 'time_zone: Berlin\nlog: x\n'),
  'a group that there is not': (cwd) =>
    appendFileSync(join(cwd, 'leadsheet.yaml'), 'snapshot: { group: nobodys-group }\n'),
  'a data directory that cannot be made': (cwd) => {
    writeFileSync(join(cwd, 'file'), '')
    return { LEADSHEET_DATA_DIR: 'file/data' }
  },
  'data that are old, and a daemon that is dead': (cwd) =>
    exec(
      cwd,
      `UPDATE sync_run SET started_at = '${OLD}', finished_at = '${OLD}', leads_as_of = '${OLD}';
      INSERT INTO daemon_uptime (began_at, began_after, last_heartbeat_at, host, pid) VALUES ('${OLD}', 'down', '${OLD}', 'h', 1)`,
    ),
  'a snapshot that is not there': (cwd) => rmSync(join(cwd, 'data/snapshot.db')),
  'a snapshot that is damaged': (cwd) => writeFileSync(join(cwd, 'data/snapshot.db'), 'no database'),
  'a database that everybody can read': (cwd) => chmodSync(join(cwd, 'data/leadsheet.db'), 0o644),
  'rules of the store that do not hold': (cwd) =>
    exec(
      cwd,
      `${STORE_VERSIONS}; UPDATE lead SET status = 'other' WHERE no <= 5; INSERT INTO sync_scan_page VALUES (0, 1, '[]')`,
    ),
  'a database whose index is not as its table': (cwd) =>
    exec(
      cwd,
      `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'created_at', 'updated_at') WHERE name = 'lead_by_creation'`,
    ),
  'a file that is no database': (cwd) => writeFileSync(join(cwd, 'data/leadsheet.db'), 'no database'),
  'an alert that is open': (cwd) =>
    exec(
      cwd,
      `INSERT INTO alert (check_id, subject, state, seen, message, hint, first_seen_at, opened_at, announced)
      VALUES ('clock_wrong', '', 'open', 3, 'It is wrong.', 'look at it', '${OLD}', '${OLD}', 'open')`,
    ),
  'a mail server that does not let us in': async () => {
    const server = untilEnd(
      await openMailServer({
        onAuth: (_auth, _session, done) => done(new Error('535 no')),
        allowInsecureAuth: true,
      }),
    )
    return { LEADSHEET_MAIL_URL: server.url.replace('//', '//dana:hunter22@') }
  },
  'a login for mail that gives no token': (cwd) => openMailLogin(cwd, 'another-secret', '250 2.1.0 Ok'),
  'a mail server that does not take the token': (cwd) =>
    openMailLogin(cwd, CLIENT.secret, '535 5.7.3 Authentication unsuccessful'),
  'a mail server without the TLS that is asked for': async () => {
    const server = untilEnd(await openMailServer())
    return { LEADSHEET_MAIL_URL: server.url.replace('127.0.0.1', '0.0.0.0') }
  },
  'a sender that nobody can trust': async () => {
    const server = untilEnd(await openScriptedServer({}))
    return { LEADSHEET_MAIL_URL: server.url, LEADSHEET_FROM: 'reports@acme.test' }
  },
  'a dashboard that could be reached from outside without a token': () => ({
    LEADSHEET_WEB_LISTEN: '0.0.0.0:0',
  }),
  'a port that another program has': async () => {
    const other = createServer()
    onTestFinished(() => void other.close())
    return { LEADSHEET_WEB_LISTEN: `127.0.0.1:${await listen(other)}` }
  },
}

/** Lets the installation log in to a mail server with tokens. */
async function openMailLogin(cwd: string, secret: string, AUTH: string) {
  const tokens = untilEnd(await startTokenServer())
  const server = untilEnd(await openScriptedServer({ AUTH }))
  const oauth = `{ token_url: "${tokens.url}", client_id: ${CLIENT.id}, client_secret: ${secret} }`
  const mail = `mail: { url: "${withUser(server.url)}", from: ${USER}, oauth: ${oauth} }`
  writeFileSync(join(cwd, 'leadsheet.yaml'), SETTINGS.replace(/mail: .*/, mail), { mode: 0o600 })
}

it('each fault is found, with what it is and what to do', async () => {
  const told: string[] = []
  for (const [fault, plant] of Object.entries(FAULTS)) {
    const cwd = installation()
    const change = await plant(cwd)
    const wrong = await diagnose(cwd, typeof change === 'object' && change !== null ? { ...change } : {})
    const lines = wrong.map(
      ({ what, status, found, remedy }) => `  ${status} ${what}: ${found}\n    -> ${remedy}\n`,
    )
    told.push(`${fault}\n${lines.join('')}`.replaceAll(cwd, 'FOLDER'))
  }
  const text = told
    .join('\n')
    .replaceAll(join(import.meta.dirname, '../../../..'), 'PROGRAM')
    .replaceAll(/\d{4}-\d\d-\d\d[ T][\d:.]+(?:Z| UTC)/g, 'TIME')
    .replaceAll(/(?<=:)\d{4,5}\b/g, 'PORT')
    .replaceAll(/not so for 5, such as .*/g, 'not so for 5, such as LEADS')
    .replaceAll(/not so for \d+, such as row .*/g, 'not so for ROWS')
  await expect(text).toMatchFileSnapshot('golden/faults.txt')
  expect(text).not.toContain('hunter22')
})

it('the command shows them, and the warning about a clock that is wrong by that of the upstream', async () => {
  const ahead = clockAt(new Date(Date.now() + HOUR_MS).toISOString())
  const { status, stdout } = await runWarm(['doctor'], { cwd: installation(), env: { ...env, ...ahead } })
  expect(status).toBe(3)
  expect(stdout).toMatch(/^warn +clock +Our clock is (60|59) minutes ahead of that of the upstream/m)
  expect(stdout).toMatch(/NTP/)
})

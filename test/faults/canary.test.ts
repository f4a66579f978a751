// @long
/** An installation with a secret of each kind and many faults. No output and no file contains a secret. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { secretsOf } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'
import { finished, runScript, startLeadsheet } from '../support/leadsheet.ts'
import {
  CANARIES,
  canariesBelow,
  canariesIn,
  filesBelow,
  QUOTED,
  smtpUrl,
  USER,
} from '../support/mail/canaries.ts'
import { openScriptedServer } from '../support/mail-server.ts'
import { openReceiver, type Receiver } from '../support/network/receiver.ts'
import { REGISTERED } from '../support/network/webhook-receiver.ts'
import { readAddress, untilSaid } from '../support/process/daemon-address.ts'
import { body, type Fault, startUpstream, type Upstream } from '../support/upstream.ts'

const { key, password, webhook, ping, token, dkim, events, registered } = CANARIES

/** An upstream that refuses the key, and quotes the secrets that it knows. */
const refuse = body(JSON.stringify({ detail: `not a key: ${QUOTED.key} ${QUOTED.events}` }), undefined, 401)

/** Makes an installation with all secrets, some in the environment and some in files. */
function installation(upstream: Upstream, smtpPort: number, receiver: Receiver) {
  const { origin } = new URL(receiver.url)
  const cwd = folderWith({
    'settings/leadsheet.yaml': SETTINGS,
    'settings/token': token,
    'settings/dkim.pem': dkim,
    'settings/ping': `${origin}/ping/${ping}`,
    'settings/events': `an-older-one-of-them\n${events}\n`,
    'data/webhook.json': JSON.stringify({ ...REGISTERED, secret: registered }),
  })
  const env = {
    LEADSHEET_CONFIG: join('settings', 'leadsheet.yaml'),
    LEADSHEET_API_URL: upstream.url,
    LEADSHEET_API_KEY: key,
    LEADSHEET_MAIL_URL: smtpUrl(smtpPort),
    LEADSHEET_ALERT_WEBHOOK_URL: `${origin}/hook/${webhook}`,
  }
  return { cwd, env }
}

const SETTINGS = `
data_dir: ../data
log_level: debug
recipients: [ana@example.com]
mail: { from: ${USER}, dkim: { domain: example.com, selector: leadsheet, key_file: dkim.pem } }
alerts: { recipients: [ops@example.com], heartbeat: { url_file: ping } }
web: { listen: 127.0.0.1:0, token_file: token, public_url: "https://reports.example.com" }
events: { secret_file: events }
reports: [{ name: daily, schedule: "0 7 * * *" }]
`

const WELL = [
  ...['sync --json', 'report send daily', 'config check --json', `sync --api-key=${key}`],
  ...['snapshot', 'db backup data/backup.db'],
]
const ILL = [
  ...[
    'sync --json',
    'agents',
    'leads show x --remote',
    'probe',
    'doctor --json',
    'doctor --test-alert --json',
  ],
  ...['webhooks list', 'webhooks register --self'],
  ...[
    'report preview daily --to ana@example.com',
    'status --json',
    'outbox list --json',
    'alerts list --json',
  ],
]

describe('no secret is anywhere', () => {
  it('in what the program says, shows and leaves behind, however it fares', async () => {
    await using upstream = await startUpstream(20)
    await using mail = await openScriptedServer({ AUTH: `535 5.7.8 ${QUOTED.password}` })
    await using receiver = await openReceiver()
    receiver.answer = (response) => response.writeHead(500).end(`${webhook} ${ping}`)
    const { cwd, env } = installation(upstream, mail.port, receiver)
    const config = loadConfig({ cwd, env, file: env.LEADSHEET_CONFIG })
    expect(secretsOf(config)).toEqual(
      expect.arrayContaining([key, password, token, dkim.trim(), webhook, ping, events]),
    )
    const several = join(import.meta.dirname, '../support/process/several-commands.ts')

    const well = await runScript([several, ...WELL], { cwd, env })
    upstream.faults.push(...Array<Fault>(200).fill(refuse))
    const ill = await runScript([several, ...ILL], { cwd, env })
    // This proves that each server has quoted its secret.
    expect(ill.stdout).toMatch(/not a key: \[redacted\]/)
    expect(well.stderr + well.stdout).toMatch(/did not let us in.*: 535 5\.7\.8 \[redacted\]/)
    expect(well.stderr + well.stdout).toContain('no secret is taken from the command line')
    expect(ill.stdout).toMatch(/"alert webhook",\s*"status": ?"fail"/)

    const daemon = startLeadsheet(['run'], {
      cwd,
      env: { ...env, LEADSHEET_WEB_LISTEN: '127.0.0.1:0', NODE_OPTIONS: bugOnSignal(Object.keys(env)) },
    })
    const ended = finished(daemon)
    const refused = untilSaid(daemon.stderr, /not a key: \[redacted\]/)
    const url = await readAddress(daemon.stderr)
    await refused
    const pages = await readPages(url)
    daemon.kill('SIGUSR2')
    const { status, stderr: log } = await ended
    expect(status).toBe(1)
    expect(log).toMatch(/this is a bug in leadsheet: Error: it holds .*\[redacted\]/)

    const said = { well: well.stdout + well.stderr, ill: ill.stdout + ill.stderr, ...pages, daemon: log }
    const found = Object.entries(said).flatMap(([where, text]) =>
      canariesIn(Buffer.from(text)).map((what) => `${where}: ${what}`),
    )
    // The one place where a secret is meant to be.
    const kept = 'webhook.json: registered plain'
    expect([...found, ...canariesBelow(join(cwd, 'data'))]).toEqual([kept])
    // This proves that the folder has files to search.
    expect(filesBelow(join(cwd, 'data'))).toEqual(
      expect.arrayContaining(['leadsheet.db', 'snapshot.db', 'backup.db']),
    )
    expect(readFileSync(join(cwd, 'data/leadsheet.db')).includes('[redacted]')).toBe(true)
  })

  it('is found by this test in each form that it looks for', () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const forms = [
      key,
      base64(key),
      base64(`\0${USER}\0${key}`),
      base64(`ab${key}`),
      Buffer.from(key).toString('hex'),
    ]
    for (const form of forms) expect(canariesIn(Buffer.from(`x${form}x`))).toHaveLength(1)
    expect(canariesIn(Buffer.from(dkim))).toEqual(['dkim'])
    expect(canariesIn(Buffer.from('[redacted]'))).toEqual([])
  })
})

/** Reads pages with the token, and the public ones without it. */
async function readPages(url: string): Promise<Record<string, string>> {
  const read = async (path: string, headers: Record<string, string>): Promise<string> =>
    (await fetch(url + path, { headers: { accept: 'text/html', ...headers } })).text()
  const pages: Record<string, string> = {}
  for (const path of ['/', '/archive', '/archive/1', '/agents', '/metrics', '/readyz', '/no']) {
    pages[path] = await read(path, { authorization: `Bearer ${token}` })
  }
  pages['to others'] = await read('/', { authorization: 'Bearer wrong', cookie: 'leadsheet=1.2.3' })
  expect(pages['/']).toContain('[redacted]')
  expect(pages['/metrics']).toMatch(/^leadsheet_/m)
  return pages
}

/**
 * Returns an environment that makes the program fail with all secrets in the message of an unexpected error.
 */
function bugOnSignal(variables: readonly string[]): string {
  const words = `'it holds '+${variables.map((name) => `process.env.${name}`).join('+')}`
  const script = `process.on('SIGUSR2',()=>{throw(new(Error)(${words},{cause:process.env}))})`
  return `--import=data:text/javascript,${encodeURIComponent(script)}`
}

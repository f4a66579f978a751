/**
 * Secrets that can be told anywhere, and all that can go wrong with those who hold them: wherever something is written
 * or shown, none of them is in it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { secretsOf } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import { errorText, LeadsheetError } from '../../src/errors.ts'
import { openLog } from '../../src/log.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { openPoster } from '../../src/notify/post.ts'
import { openSource } from '../../src/source/open.ts'
import { CANARIES, canariesBelow, canariesIn, filesBelow } from '../support/canaries.ts'
import { folderWith } from '../support/folder.ts'
import { finished, runScript, startLeadsheet } from '../support/leadsheet.ts'
import { LETTER } from '../support/letter.ts'
import { openScriptedServer, type Step } from '../support/mail-server.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { bytes, type Fault, startUpstream, type Upstream } from '../support/upstream.ts'

const { key, password, webhook, ping, token, dkim, changed } = CANARIES
const USER = 'reports@example.com'
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** What far sides quote, each in another way. */
const KEY_QUOTED = `${key} | Bearer ${key} | ${base64(`${key}:`)} | ${base64(`user:${key}`)} | ${encodeURIComponent(key)} | ${JSON.stringify(key)}`
const PASSWORD_QUOTED = `${password} ${base64(password)} ${base64(`\0${USER}\0${password}`)} ${encodeURIComponent(password)}`

function answer(status: number, type: string, text: string, headers: Record<string, string> = {}): Fault {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': type, ...headers }).end(text)
    return true
  }
}

const JSON_TYPE = 'application/json'
const problem = (status: number): Fault =>
  answer(status, 'application/problem+json', JSON.stringify({ detail: `not a key: ${KEY_QUOTED}` }))

const OF_UPSTREAM: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries([400, 401, 403, 404, 409, 422, 429, 500, 503].map((code) => [code, problem(code)])),
  'a page of HTML with 401': answer(401, 'text/html', `<p>${KEY_QUOTED}</p>`),
  'a text with 500': answer(500, 'text/plain', KEY_QUOTED),
  'a long text, cut in the midst': answer(400, 'text/plain', `${'x'.repeat(192)} ${KEY_QUOTED}`),
  'a page of HTML with 200': answer(200, 'text/html', `<p>${KEY_QUOTED}</p>`),
  'a text with 200': answer(200, 'text/plain', KEY_QUOTED),
  'JSON that is broken': answer(200, JSON_TYPE, `{"data":["${key}`),
  'JSON of another shape': answer(200, JSON_TYPE, JSON.stringify({ [key]: KEY_QUOTED })),
  'an error with 200': answer(200, JSON_TYPE, JSON.stringify({ error: { said: KEY_QUOTED } })),
  'a redirect': answer(302, 'text/plain', '', { location: `/sign-in?key=${encodeURIComponent(key)}` }),
  'a redirect elsewhere': answer(301, 'text/plain', '', { location: `https://evil.example/${base64(key)}` }),
  'no HTTP': bytes(`HTTP/9 ${key}\r\n\r\n`),
  'a cut answer': bytes(`HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${key}`, 'reset'),
  'no answer': () => true,
}

const OF_MAIL: Readonly<Record<string, Partial<Record<Step, string>>>> = {
  'a greeting': { greeting: `554 ${PASSWORD_QUOTED}` },
  'a login with 535': { AUTH: `535 5.7.8 ${PASSWORD_QUOTED}` },
  'a login with 454': { AUTH: `454 ${PASSWORD_QUOTED}` },
  'a login, with a long answer': { AUTH: `535 ${'x'.repeat(285)} ${PASSWORD_QUOTED}` },
  'a sender': { MAIL: `550 ${PASSWORD_QUOTED}` },
  'a recipient': { RCPT: `550 ${PASSWORD_QUOTED}` },
  'a message': { DATA: `554 ${PASSWORD_QUOTED}` },
  'a body': { body: `554 ${PASSWORD_QUOTED}` },
  'a body, for now': { body: `451 ${PASSWORD_QUOTED}` },
}

const OF_SETTINGS: Readonly<Record<string, string>> = {
  'a list for a text': `api: { key: [${changed}] }`,
  'a text for a group': `api: ${changed}`,
  'an alias': `api: { key: *${changed} }`,
  'a quote without its end': `web: { token: "${changed} }`,
  'half a variable': `mail: { url: "smtp://u:\${${changed}@h" }`,
  'no variable': `mail: { url: "smtp://u:\${${changed}!}@h" }`,
  'no URL': `operators: { webhook: { url: "${changed}" } }`,
  'open HTTP': `operators: { ping: { url: "http://example.com/${changed}" } }`,
  'no PEM': `mail: { dkim: { domain: a.b, selector: c, key: "${changed}" } }`,
  'too short': `web: { token: "${changed}, short" }`,
}

/** What a person or the database would be told, and what is logged of it, with all causes. */
async function listen(secrets: readonly string[]) {
  const said: string[] = []
  const log = await openLog({
    ...{ level: 'debug', pretty: false, color: false, secrets },
    write: (line) => said.push(line),
  })
  const hear = async (kind: string, deed: () => Promise<unknown>): Promise<void> => {
    const thrown = await deed().then(
      () => null,
      (error: unknown) => error,
    )
    expect(thrown, kind).toBeInstanceOf(LeadsheetError)
    said.push(errorText(thrown), (thrown as LeadsheetError).hint ?? '')
    log.error({ err: thrown, kind }, errorText(thrown))
  }
  return { said, log, hear }
}

describe('no secret is in what is told and logged', () => {
  it('of an upstream that quotes the key (row 66)', async () => {
    const { said, log, hear } = await listen([key])
    await using upstream = await startUpstream(0)
    for (const [kind, fault] of Object.entries(OF_UPSTREAM)) {
      upstream.faults.splice(0, Number.POSITIVE_INFINITY, fault, fault)
      const source = openSource({
        ...{ baseUrl: upstream.url, apiKey: key, maxWaitMs: 0, log },
        ...{ backoff: { attempts: 2, baseMs: 0, maxMs: 0 }, deadlines: { attemptMs: 300 } },
      })
      await hear(kind, () => source.listLeads({}, null, 10))
      await source.close()
    }
    expect(canariesIn(Buffer.from(said.join('\n')))).toEqual([])
  })

  it('of a mail server that quotes the password (row 66)', async () => {
    const { said, log, hear } = await listen([password])
    for (const [kind, script] of Object.entries(OF_MAIL)) {
      await using server = await openScriptedServer(script)
      const url = smtpUrl(server.port)
      await using transport = openTransport(url, { log })
      await hear(kind, () => transport.send(LETTER, { signal: new AbortController().signal }))
    }
    expect(canariesIn(Buffer.from(said.join('\n')))).toEqual([])
  })

  it('of settings with mistakes (row 66)', async () => {
    const { said, hear } = await listen([])
    for (const [kind, yaml] of Object.entries(OF_SETTINGS)) {
      const cwd = folderWith({ 'leadsheet.yaml': yaml })
      await hear(kind, async () => loadConfig({ cwd, env: {} }))
    }
    expect(canariesIn(Buffer.from(said.join('\n')))).toEqual([])
  })

  it('of a webhook and a dead-man switch that do not take what they are sent (row 66)', async () => {
    await using receiver = await openReceiver()
    await using poster = openPoster()
    const { origin } = new URL(receiver.url)
    const said: string[] = []
    for (const url of [`${origin}/hook/${webhook}`, `${origin}/ping/${ping}`, `http://127.0.0.1:1/${ping}`]) {
      for (const status of [302, 404, 500]) {
        receiver.answer = (response) => response.writeHead(status, { location: url }).end(url)
        const outcome = await poster.post(new URL(url), 'text/plain', '', new AbortController().signal)
        expect(outcome.isTaken).toBe(false)
        said.push(outcome.said)
      }
    }
    expect(canariesIn(Buffer.from(said.join('\n')))).toEqual([])
  })
})

/** With every secret that there is, some in the environment and some in files of their own. */
function installation(upstream: Upstream, smtpPort: number, receiver: Receiver) {
  const { origin } = new URL(receiver.url)
  const cwd = folderWith({
    'settings/leadsheet.yaml': SETTINGS,
    'settings/token': token,
    'settings/dkim.pem': dkim,
    'settings/ping': `${origin}/ping/${ping}`,
  })
  const env = {
    LEADSHEET_CONFIG: join('settings', 'leadsheet.yaml'),
    LEADSHEET_API_URL: upstream.url,
    LEADSHEET_API_KEY: key,
    LEADSHEET_SMTP_URL: smtpUrl(smtpPort),
    LEADSHEET_WEBHOOK_URL: `${origin}/hook/${webhook}`,
  }
  return { cwd, env }
}

const SETTINGS = `
data_dir: ../data
log_level: debug
recipients: [ana@example.com]
mail: { from: ${USER}, dkim: { domain: example.com, selector: leadsheet, key_file: dkim.pem } }
operators: { recipients: [ops@example.com], ping: { url_file: ping } }
web: { listen: 127.0.0.1:0, token_file: token }
reports: [{ name: daily, schedule: "0 7 * * *" }]
`

const WELL = [
  ...[
    ['sync', '--json'],
    ['report', 'daily', '--send'],
    ['config', 'check', '--json'],
  ],
  ...[
    ['export', 'lead', '--out', 'data/lead.csv'],
    ['backup', 'data/backup.db'],
  ],
  ...[['sync', `--api-key=${key}`]],
]
const ILL = [
  ...[['sync', '--json'], ['agents'], ['leads', 'show', 'x'], ['probe'], ['doctor', '--json']],
  ...[
    ['notices', 'test', '--json'],
    ['report', 'daily', '--test-to', 'ana@example.com'],
  ],
  ...[
    ['status', '--json'],
    ['deliveries', '--json'],
    ['notices', '--json'],
  ],
]

describe('no secret is anywhere', () => {
  it('in what the program says, shows and leaves behind, however it fares (row 66)', async () => {
    await using upstream = await startUpstream(20)
    await using mail = await openScriptedServer({ AUTH: `535 5.7.8 ${PASSWORD_QUOTED}` })
    await using receiver = await openReceiver()
    receiver.answer = (response) => response.writeHead(500).end(`${webhook} ${ping}`)
    const { cwd, env } = installation(upstream, mail.port, receiver)
    const config = loadConfig({ cwd, env, file: env.LEADSHEET_CONFIG })
    expect(secretsOf(config)).toEqual(
      expect.arrayContaining([key, password, token, dkim.trim(), webhook, ping]),
    )
    const several = join(import.meta.dirname, '../support/several-commands.ts')
    const said: Record<string, string> = {}

    const well = await runScript([several, JSON.stringify(WELL)], { cwd, env })
    upstream.faults.push(...Array<Fault>(200).fill(problem(401)))
    const ill = await runScript([several, JSON.stringify(ILL)], { cwd, env })
    Object.assign(said, { well: well.stdout + well.stderr, ill: ill.stdout + ill.stderr })
    // Each has really been told what must not be passed on.
    expect(ill.stdout).toMatch(/not a key: \[redacted\]/)
    expect(said.well).toMatch(/did not let us in.*: 535 5\.7\.8 \[redacted\]/)
    expect(said.well).toContain('no secret is taken from the command line')
    expect(ill.stdout).toMatch(/"channel": ?"webhook"[^}]*"taken": ?false/)

    const daemon = startLeadsheet(['run'], {
      cwd,
      env: { ...env, LEADSHEET_WEB_LISTEN: '127.0.0.1:0', NODE_OPTIONS: bugOnSignal(Object.keys(env)) },
    })
    let log = ''
    daemon.stderr?.on('data', (chunk) => {
      log += chunk
    })
    const ended = finished(daemon)
    const logged = (text: RegExp) => expect.poll(() => log, { timeout: 20_000 }).toMatch(text)
    await logged(/"listen":"http:/)
    await logged(/not a key: \[redacted\]/)
    const url = /"listen":"(http:[^"]*)"/.exec(log)?.[1] ?? ''
    Object.assign(said, await readPages(url))
    writeFileSync(join(cwd, env.LEADSHEET_CONFIG), `${SETTINGS}api: { page_size: 0, key: ${changed} }\n`)
    daemon.kill('SIGHUP')
    await logged(/the settings of before stay in force/)
    daemon.kill('SIGUSR2')
    const { status } = await ended
    expect(status).toBe(1)
    expect(log).toMatch(/this is a bug in leadsheet: Error: it holds .*\[redacted\]/)
    said.daemon = log

    const found = Object.entries(said).flatMap(([where, text]) =>
      canariesIn(Buffer.from(text)).map((what) => `${where}: ${what}`),
    )
    expect([...found, ...canariesBelow(join(cwd, 'data'))]).toEqual([])
    // They are looked for where there is something.
    expect(filesBelow(join(cwd, 'data'))).toEqual(
      expect.arrayContaining(['leadsheet.db', 'snapshot.db', 'backup.db', 'lead.csv']),
    )
    expect(readFileSync(join(cwd, 'data/leadsheet.db')).includes('[redacted]')).toBe(true)
  })

  it('is found by this test in each form that it looks for', () => {
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

/** Pages as a machine with the token gets them, and what others are told. */
async function readPages(url: string): Promise<Record<string, string>> {
  const read = async (path: string, headers: Record<string, string>): Promise<string> =>
    (await fetch(url + path, { headers: { accept: 'text/html', ...headers } })).text()
  const pages: Record<string, string> = {}
  for (const path of ['/', '/archive', '/archive/1', '/pipelines', '/agents', '/metrics', '/readyz', '/no']) {
    pages[path] = await read(path, { authorization: `Bearer ${token}` })
  }
  pages['to others'] = await read('/', { authorization: 'Bearer wrong', cookie: 'leadsheet=1.2.3' })
  expect(pages['/']).toContain('[redacted]')
  expect(pages['/metrics']).toMatch(/^leadsheet_/m)
  return pages
}

function smtpUrl(port: number): string {
  const url = new URL(`smtp://127.0.0.1:${port}`)
  return Object.assign(url, { username: encodeURIComponent(USER), password: encodeURIComponent(password) })
    .href
}

/** For the environment of the program: a bug that nobody waits for, with all secrets in its words. */
function bugOnSignal(variables: readonly string[]): string {
  const words = `'it holds '+${variables.map((name) => `process.env.${name}`).join('+')}`
  const script = `process.on('SIGUSR2',()=>{throw(new(Error)(${words},{cause:process.env}))})`
  return `--import=data:text/javascript,${encodeURIComponent(script)}`
}

/** The questions, answered from a list, and the probe of the service, which is real. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { openKeysOf } from '../../../src/app/configured-login.ts'
import { completeAnswers, readGiven, type TryAccess } from '../../../src/cli/init/answers.ts'
import { findProfile } from '../../../src/cli/init/find-profile.ts'
import { OAUTH, oauthOf } from '../../../src/cli/init/login-answers.ts'
import type { TryMail } from '../../../src/cli/init/mail-answers.ts'
import type { Prompter, Question } from '../../../src/cli/terminal/prompter.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { fixedKey } from '../../../src/upstream/client/key-source.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { folderWith } from '../../support/folder.ts'
import { CLIENT, startTokenServer } from '../../support/network/token-server.ts'
import { startService } from '../../support/service.ts'
import { CONTACTS } from '../../support/source/contacts.ts'
import { KEY, startForeign } from '../../support/source/foreign.ts'
import { SILENT } from '../../support/syncing.ts'

/** The answers to each question, by its beginning, in the order of the attempts. */
type Answers = Readonly<Record<string, readonly string[]>>

/** An address without a server. */
const NOWHERE = 'http://127.0.0.1:9'

const USUAL: Answers = {
  'Address of the service': [NOWHERE],
  'API key': ['k-123456'],
  'Mail server': ['file:./outbox'],
  Sender: [''],
  'Addresses for the report': ['ana@example.com'],
  'Addresses for alerts': ['none'],
  'Time zone': ['Europe/Berlin'],
  When: [''],
  'Where the dashboard': ['none'],
}

const untried: TryAccess = async () => ({ isRefused: false, probed: null })

async function ask(
  answers: Answers,
  tryAccess?: (say: Prompter['say']) => TryAccess,
  tryMail: TryMail = async () => true,
) {
  const screen: string[] = []
  const queues = new Map(Object.entries({ ...USUAL, ...answers }).map(([text, list]) => [text, [...list]]))
  const next = (text: string): string => {
    const key = [...queues.keys()].find((begin) => text.startsWith(begin))
    const answer = queues.get(key ?? '')?.shift()
    if (answer === undefined) throw new Error(`nobody answers ${text}; so far:\n${screen.join('\n')}`)
    return answer
  }
  const question = async ({ text, standard, fault = () => null }: Question): Promise<string> => {
    const answer = next(text) || (standard ?? '')
    screen.push(`${text} [${standard ?? ''}]: ${answer}`)
    const wrong = await fault(answer)
    if (wrong === null) return answer
    screen.push(wrong)
    return question({ text, standard, fault })
  }
  const prompter: Prompter = {
    say: (...lines) => void screen.push(...lines),
    ask: question,
    askHidden: async (text) => next(text),
    confirm: async () => false,
  }
  const given = readGiven({}, loadConfig({ file: null, env: {} }))
  const found = await completeAnswers(given, prompter, {
    access: tryAccess?.(prompter.say) ?? untried,
    mail: tryMail,
  })
  const { signal } = new AbortController()
  return {
    answers: found,
    async probe() {
      const service = { url: found.apiUrl.value, openKeys: () => fixedKey(found.key.value), isProbed: true }
      const { probed } = await findProfile(service, { log: SILENT, signal, say: prompter.say })
      return { probed, screen: screen.join('\n') }
    },
    screen: screen.join('\n'),
  }
}

test('a service that works otherwise is probed, and what was found out is kept', async () => {
  await using foreign = await startForeign(CONTACTS)
  const asked = await ask({ 'Address of the service': [`${foreign.url}/crm`], 'API key': [KEY] })
  const { screen, probed } = await asked.probe()
  expect(screen).toContain('looking for pages')
  expect(parseProfile(parse(probed ?? ''), 'profile.yaml').endpoints.leads).toBe('/contacts')
  expect(probed).not.toContain(KEY)
})

test('neither the reference service nor one that does not answer is probed', async () => {
  await using service = await startService(folderWith(), new Date('2026-11-21T16:00:00Z'), 2)
  const key = await service.createKey({ name: 'init', scope: 'read' })
  const reference = await ask({ 'Address of the service': [service.url], 'API key': [key] })
  for (const asked of [reference, await ask({})]) {
    const { screen, probed } = await asked.probe()
    expect(screen).not.toContain('looking for')
    expect(probed).toBeNull()
  }
})

test('a key that the service does not take is told once, and no option that init does not have', async () => {
  await using service = await startService(folderWith(), new Date('2026-11-21T16:00:00Z'), 2)
  const asked = await ask({ 'Address of the service': [service.url], 'API key': ['wrong-key'] })
  const { screen, probed } = await asked.probe()
  expect(probed).toBeNull()
  expect(screen.match(/not found out: .*/g)).toEqual([expect.stringMatching(/^not found out: auth: .* 401/)])
  expect(screen).not.toContain('--auth')
  expect(screen).toMatch(/if address and key are right, `npx leadsheet probe --help` has options that help/)
})

test('a service on the internet is not asked without encryption', async () => {
  const { screen } = await ask({ 'Address of the service': ['http://leads.example.com', NOWHERE] })
  expect(screen).toMatch(
    /http:\/\/ would send the API key unencrypted[\s\S]*Address of the service .*: http:\/\/127/,
  )
})

test('a mail server gets the user and the password as they were typed, and its user is the sender', async () => {
  const password = ' p ä#:ss@/%41'
  const { answers, screen } = await ask({
    'Mail server': ['smtp://127.0.0.1:9'],
    'Addresses for alerts': [''],
    User: ['dana@example.org'],
    Password: [password],
  })
  const { username, password: written, host } = new URL(answers.mailUrl.value)
  expect([decodeURIComponent(username), decodeURIComponent(written), host]).toEqual([
    'dana@example.org',
    password,
    '127.0.0.1:9',
  ])
  expect(screen).not.toMatch(/p ä|p%20/)
  expect(answers.from.value).toBe('Lead reports <dana@example.org>')
  expect(answers.alertRecipients.value).toBe('ana@example.com')
})

test('a login by OAuth is asked for as its grant needs it, until it is right, is tried, and once corrected', async () => {
  await using tokens = await startTokenServer()
  const first = tokens.consent()
  const config = { ...loadConfig({ file: null, env: {} }), dataDir: folderWith() }
  const { signal } = new AbortController()
  const wrong = 'another-secret'
  const { answers, screen } = await ask(
    {
      'API key': [OAUTH],
      'Token URL': ['http://id.example.com/token', tokens.url, '', ''],
      Grant: ['password', 'refresh_token', '', ''],
      'Client id': [CLIENT.id, '', ''],
      'Client secret (': [wrong, '', CLIENT.secret],
      'How id and secret': ['', 'body', ''],
      'Refresh token': ['', first, ''],
      Scope: ['', 'leads.read', ''],
    },
    (say) => async (access) => {
      const api = { ...config.api, oauth: oauthOf('api', access.login) }
      const openKeys = () => openKeysOf({ ...config, api }, SILENT)
      return findProfile({ url: NOWHERE, openKeys, isProbed: false }, { log: SILENT, signal, say })
    },
  )
  expect(answers.login).toEqual({
    token_url: tokens.url,
    grant: 'refresh_token',
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    client_auth: 'body',
    refresh_token: first,
    scope: 'leads.read',
  })
  expect(answers.key.value).toBe('')
  expect(screen).toMatch(/http:\/\/ would send secrets unencrypted/)
  expect(screen).toContain('api.oauth.refresh_token: expected a value, with the grant refresh_token')
  expect(screen.match(/no access token.*\n.*/g)).toEqual([
    expect.stringMatching(
      / 401: invalid_client\n +Check api\.oauth\.client_id and api\.oauth\.client_secret, and/,
    ),
  ])
  expect(screen).not.toMatch(new RegExp(`${wrong}|${CLIENT.secret}|${first}`))
  const { grant, clientAuth, refreshToken } = oauthOf('api', answers.login) ?? {}
  expect([grant, clientAuth, refreshToken?.reveal()]).toEqual(['refresh_token', 'body', first])
})

test('a login with a private key reads its file', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const cwd = folderWith({
    'google.json': JSON.stringify({ private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }),
  })
  const { answers, screen } = await ask({
    'API key': [OAUTH],
    'Token URL': ['https://oauth2.googleapis.com/token'],
    Grant: ['jwt_bearer'],
    'File with the private key': ['nowhere.pem', join(cwd, 'google.json')],
    Issuer: ['leadsheet@project.iam.gserviceaccount.com'],
    Subject: [''],
    Audience: [''],
    Scope: ['https://www.googleapis.com/auth/spreadsheets.readonly'],
  })
  expect(screen).toContain('cannot read it: ENOENT')
  expect(oauthOf('api', answers.login)).toMatchObject({
    issuer: 'leadsheet@project.iam.gserviceaccount.com',
    subject: null,
  })
  expect(oauthOf('api', answers.login)?.privateKey?.reveal()).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
})

test('a mail server gets a login by OAuth in place of a password, as its provider has it', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const cwd = folderWith({
    'google.json': JSON.stringify({
      client_email: 'leadsheet@project.iam.gserviceaccount.com',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    }),
  })
  const mailbox = 'reports@example.com'
  const tried: (string | undefined)[] = []
  const tryMail: TryMail = async ({ url, login }) => {
    tried.push(url, login?.scope)
    return true
  }
  const usual = { 'Address of the mailbox': ['reports', mailbox], 'How id': [''], Scope: [''] }
  const entra = {
    'Directory (tenant)': ['a b', 'contoso.example'],
    'Client id': ['app'],
    'Client secret (': ['s3cret'],
  }
  const asked = [
    await ask(
      { ...usual, ...entra, 'Mail server': ['microsoft'], Way: ['imap', ''], 'Token URL': [''], Grant: [''] },
      undefined,
      tryMail,
    ),
    await ask(
      { ...usual, ...entra, 'Mail server': ['microsoft'], Way: ['smtp'], 'Token URL': [''], Grant: [''] },
      undefined,
      tryMail,
    ),
    await ask(
      {
        ...usual,
        'Mail server': ['google'],
        Way: ['smtp'],
        'Token URL': [''],
        Grant: [''],
        'File with the private key': [join(cwd, 'google.json')],
        Issuer: [''],
        Subject: [''],
        Audience: [''],
      },
      undefined,
      tryMail,
    ),
  ]
  expect(tried).toEqual([
    'graph:',
    'https://graph.microsoft.com/.default',
    'smtp://reports%40example.com@smtp.office365.com:587',
    'https://outlook.office365.com/.default',
    'smtp://reports%40example.com@smtp.gmail.com:587',
    'https://mail.google.com/',
  ])
  const [graph, exchange, gmail] = asked.map(({ answers }) => answers.mailLogin)
  expect(graph).toEqual({
    token_url: 'https://login.microsoftonline.com/contoso.example/oauth2/v2.0/token',
    grant: 'client_credentials',
    client_id: 'app',
    client_secret: 's3cret',
    client_auth: 'body',
    scope: 'https://graph.microsoft.com/.default',
  })
  expect(exchange).toEqual({ ...graph, scope: 'https://outlook.office365.com/.default' })
  expect(gmail).toMatchObject({
    token_url: 'https://oauth2.googleapis.com/token',
    issuer: 'leadsheet@project.iam.gserviceaccount.com',
    subject: mailbox,
  })
  for (const { answers, screen } of asked) {
    expect(answers.from.value).toBe(`Lead reports <${mailbox}>`)
    expect(screen).toContain('docs/how-to/send-mail.md')
    expect(screen).not.toContain('s3cret')
  }
})

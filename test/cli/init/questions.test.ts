/** The questions, answered from a list, and the probe of the service, which is real. */
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { openKeysOf } from '../../../src/app/configured-login.ts'
import { completeAnswers, readGiven } from '../../../src/cli/init/answers.ts'
import { findProfile } from '../../../src/cli/init/find-profile.ts'
import { OAUTH, oauthOf } from '../../../src/cli/init/login-answers.ts'
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

const { signal } = new AbortController()

/** @param known what stands for words of the answers */
async function ask(answers: Answers, known: Readonly<Record<string, string>> = {}) {
  const screen: string[] = []
  const queues = new Map(Object.entries({ ...USUAL, ...answers }).map(([text, list]) => [text, [...list]]))
  const next = (text: string): string => {
    const key = [...queues.keys()].find((begin) => text.startsWith(begin))
    const answer = queues.get(key ?? '')?.shift()
    if (answer === undefined) throw new Error(`nobody answers ${text}; so far:\n${screen.join('\n')}`)
    return known[answer] ?? answer
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
    // Only the token URL of the test answers.
    access: async ({ login }) => {
      if (!login || login.token_url !== known['TOKEN_URL']) return { isRefused: false, probed: null }
      const config = { ...loadConfig({ file: null, env: {} }), dataDir: folderWith() }
      const api = { ...config.api, oauth: oauthOf('api', login) }
      const openKeys = () => openKeysOf({ ...config, api }, SILENT)
      return findProfile(
        { url: NOWHERE, openKeys, isProbed: false },
        { log: SILENT, signal, say: prompter.say },
      )
    },
    mail: async ({ url, login }) => {
      screen.push(`tried: ${url} ${login?.scope}`)
      return true
    },
  })
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

const MAILBOX = {
  'Address of the mailbox': ['reports', 'reports@example.com'],
  'Token URL': [''],
  Grant: [''],
}
const ENTRA = {
  ...MAILBOX,
  'Mail server': ['microsoft'],
  'Directory (tenant)': ['a b', 'contoso.example'],
  'Client id': ['app'],
  'Client secret (': ['s3cret'],
  'How id': [''],
  Scope: [''],
}
const OF_KEY = { 'File with the private key': ['nowhere.pem', 'KEY_FILE'], Subject: [''], Audience: [''] }

/** `TOKEN_URL`, `REFRESH` and `KEY_FILE` stand for what a test opens. */
const STORIES: Readonly<Record<string, Answers>> = {
  'a service on the internet is not asked without encryption': {
    'Address of the service': ['http://leads.example.com', NOWHERE],
  },
  'a mail server gets the user and the password as they were typed, and its user is the sender': {
    'Mail server': ['smtp://127.0.0.1:9'],
    'Addresses for alerts': [''],
    User: ['dana@example.org'],
    Password: [' p ä#:ss@/%41'],
  },
  'a login by OAuth is asked for as its grant needs it, until it is right, is tried, and once corrected': {
    'API key': [OAUTH],
    'Token URL': ['http://id.example.com/token', 'TOKEN_URL', '', ''],
    Grant: ['password', 'refresh_token', '', ''],
    'Client id': [CLIENT.id, '', ''],
    'Client secret (': ['another-secret', '', CLIENT.secret],
    'How id and secret': ['', 'body', ''],
    'Refresh token': ['', 'REFRESH', ''],
    Scope: ['', 'leads.read', ''],
  },
  'a login with a private key reads its file': {
    ...OF_KEY,
    'API key': [OAUTH],
    'Token URL': ['https://oauth2.googleapis.com/token'],
    Grant: ['jwt_bearer'],
    Issuer: ['me@p.iam.gserviceaccount.com'],
    Scope: ['https://www.googleapis.com/auth/spreadsheets.readonly'],
  },
  'a mailbox of Microsoft gets a login for Graph': { ...ENTRA, Way: ['imap', ''] },
  'a mailbox of Microsoft gets a login for SMTP': { ...ENTRA, Way: ['smtp'] },
  'a mailbox of Google gets the login of a service account': {
    ...OF_KEY,
    ...MAILBOX,
    'Mail server': ['google'],
    Way: ['smtp'],
    Issuer: [''],
    Scope: [''],
  },
}

test('what is asked, what is said of wrong answers, and what becomes of the answers', async () => {
  await using tokens = await startTokenServer()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const private_key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const files = {
    'google.json': JSON.stringify({ client_email: 'me@p.iam.gserviceaccount.com', private_key }),
  }
  const cwd = folderWith(files)
  const known = { TOKEN_URL: tokens.url, REFRESH: tokens.consent(), KEY_FILE: join(cwd, 'google.json') }
  const secrets = new RegExp(`another-secret|s3cret|p ä|p%20|PRIVATE KEY|${CLIENT.secret}|${known.REFRESH}`)
  const told: string[] = []
  for (const [title, answers] of Object.entries(STORIES)) {
    const asked = await ask(answers, known)
    expect(asked.screen).not.toMatch(secrets)
    const { mailUrl, from, alertRecipients, key, login, mailLogin } = asked.answers
    const values = [mailUrl, from, alertRecipients, key].map(({ value }) => value)
    const isKeyRead = [oauthOf('api', login), oauthOf('mail', mailLogin)].map(
      (one) => one?.privateKey?.reveal() === private_key,
    )
    told.push(title, asked.screen, inspect([...values, login, mailLogin, ...isKeyRead], { depth: 9 }), '')
  }
  const text = Object.entries(known).reduce(
    (all, [name, value]) => all.replaceAll(value, name),
    told.join('\n'),
  )
  await expect(text).toMatchFileSnapshot('golden/questions.txt')
})

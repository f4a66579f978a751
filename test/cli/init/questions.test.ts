/** The five questions, answered from a list, and the test at their end. The service is real. */
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { completeAnswers, readGiven } from '../../../src/cli/init/answers.ts'
import { tryAnswers } from '../../../src/cli/init/trials.ts'
import type { Prompter, Question } from '../../../src/cli/terminal/prompter.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { CONTACTS } from '../../support/source/contacts.ts'
import { KEY, startForeign } from '../../support/source/foreign.ts'
import { SILENT } from '../../support/syncing.ts'
import { startUpstream } from '../../support/upstream.ts'

const NOW = new Date('2026-11-21T16:00:00Z')

/** The answers to each question, by its beginning, in the order of the attempts. */
type Answers = Readonly<Record<string, readonly string[]>>

/** An address without a server. */
const NOWHERE = 'http://127.0.0.1:9'

const USUAL: Answers = {
  'Its address': [NOWHERE],
  'API key': ['k-123456'],
  Address: ['file:./outbox', 'ana@example.com', 'none'],
  Sender: [''],
  'Time zone': ['Europe/Berlin'],
  When: [''],
  'Where it listens': ['none'],
}

async function ask(answers: Answers, env: Readonly<Record<string, string>> = {}) {
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
  const given = readGiven({}, loadConfig({ file: null, env }))
  const found = await completeAnswers(given, prompter, NOW)
  const { signal } = new AbortController()
  return {
    answers: found,
    /** Tries the answers, as a person sees it. */
    async test() {
      const tried = await tryAnswers(found, prompter.say, { log: SILENT, signal })
      const lines = tried.checks.map((check) => `${check.status} ${check.what}: ${check.found}`)
      return { ...tried, screen: [...screen, ...lines].join('\n') }
    },
    screen: screen.join('\n'),
  }
}

test('a service with thousands of leads is told of with commas', async () => {
  await using upstream = await startUpstream(1_200)
  const asked = await ask({ 'Its address': [upstream.url], 'API key': [KEY] })
  expect((await asked.test()).screen).toContain('ok list of leads: 100 of 1,200 records on the first page')
})

test('a service that works otherwise is probed, and what was found out is tried and kept', async () => {
  await using foreign = await startForeign(CONTACTS)
  const asked = await ask({ 'Its address': [`${foreign.url}/crm`], 'API key': [KEY] })
  const { screen, probed, profile } = await asked.test()
  expect(screen).toMatch(/looking for pages[\s\S]*ok list of leads: /)
  expect(parseProfile(parse(probed ?? ''), 'profile.yaml').endpoints.leads).toBe('/contacts')
  expect(probed).not.toContain(KEY)
  expect(profile?.origin).toBe('profile.yaml')
})

test('a service that does not answer is not probed', async () => {
  const { screen, probed } = await (await ask({})).test()
  expect(screen).toContain('fail service: ')
  expect(screen).not.toContain('looking for')
  expect(probed).toBeNull()
})

test('a service on the internet is not asked without encryption', async () => {
  const { screen } = await ask({ 'Its address': ['http://leads.example.com', NOWHERE] })
  expect(screen).toMatch(/http:\/\/ would send the API key unencrypted[\s\S]*Its address .*: http:\/\/127/)
})

test('a mail server gets the user and the password as they were typed, and its user is the sender', async () => {
  const password = ' p ä#:ss@/%41'
  const { answers, screen } = await ask({
    Address: ['smtp://127.0.0.1:9', 'ana@example.com', ''],
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

test('the mails may go into a folder, from a local address', async () => {
  const { answers } = await ask({})
  expect(answers.mailUrl.value).toBe('file:./outbox')
  expect(answers.from.value).toBe('Lead reports <leadsheet@localhost>')
})

test('the next three times are shown in the zone that was answered', async () => {
  const { screen } = await ask({ When: ['every wekday at 07:00', 'every weekday at 07:00'] })
  expect(screen).toContain('did you mean weekday?')
  expect(screen).toContain(
    'That is Mon 2026-11-23 07:00 +01:00, Tue 2026-11-24 07:00 +01:00, Wed 2026-11-25 07:00 +01:00 …',
  )
})

test('the dashboard is told when its port is taken, and has a token where there is one', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await new Promise((resolve) => taken.once('listening', resolve))
  const address = taken.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const asked = await ask({ 'Where it listens': [`127.0.0.1:${port}`] })
  expect((await asked.test()).screen).toContain(
    `warn dashboard: cannot listen at 127.0.0.1:${port}: something listens there already`,
  )
  expect(asked.answers.token.value).toMatch(/^[\w-]{32}$/)
  expect((await ask({})).answers.token.value).toBe('')
})

test('what is given already is told, and not asked for', async () => {
  const env = { LEADSHEET_RECIPIENTS: 'cleo@example.com' }
  const { answers, screen } = await ask({ Address: ['file:./outbox', 'none'] }, env)
  expect(screen).toContain('cleo@example.com (LEADSHEET_RECIPIENTS)')
  expect([answers.recipients.variable, answers.alertRecipients.value]).toEqual([
    'LEADSHEET_RECIPIENTS',
    'none',
  ])
})

/** The five questions, answered from a list. The service, the mail server and the port are real. */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import type { CheckResult } from '../../../src/checks/check.ts'
import type { Given } from '../../../src/cli/init/answers.ts'
import { readGiven } from '../../../src/cli/init/answers.ts'
import { askAll } from '../../../src/cli/init/questions.ts'
import type { Prompter, Question } from '../../../src/cli/terminal/prompter.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { folderWith } from '../../support/folder.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { startService } from '../../support/service.ts'
import { CONTACTS } from '../../support/source/contacts.ts'
import { KEY, startForeign } from '../../support/source/foreign.ts'
import { SILENT } from '../../support/syncing.ts'
import { startUpstream } from '../../support/upstream.ts'

const NOW = new Date('2026-11-21T16:00:00Z')

/** The answers to each question, by its beginning, in the order of the attempts. */
type Answers = Readonly<Record<string, readonly (string | (() => string))[]>>

/** An address without a server. */
const NOWHERE = 'http://127.0.0.1:9'

/** Answers that keep a service although it does not answer. */
const USUAL: Answers = {
  'Its address': [NOWHERE],
  'API key': ['k-123456'],
  'Once more': ['keep'],
  Address: ['file:./outbox', 'ana@example.com', 'none'],
  Sender: [''],
  'Time zone': ['Europe/Berlin'],
  When: [''],
  'Where it listens': ['none'],
  'Send a test mail': ['n'],
}

async function ask(answers: Answers, given: Given = {}) {
  const screen: string[] = []
  const queues = new Map(Object.entries({ ...USUAL, ...answers }).map(([text, list]) => [text, [...list]]))
  const next = (text: string): string => {
    const key = [...queues.keys()].find((begin) => text.startsWith(begin))
    const listed = queues.get(key ?? '')?.shift()
    const answer = typeof listed === 'function' ? listed() : listed
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
    confirm: async (text) => next(text) === 'y',
    choose: async (text, [first, ...others]) => {
      const word = next(text)
      return [first, ...others].find((each) => each === word) ?? first
    },
  }
  const { signal } = new AbortController()
  const tell = ({ status, what, found, remedy }: CheckResult): void =>
    void screen.push(`${status} ${what}: ${found}`, remedy ?? '')
  const asked = await askAll({ prompter, given, tell, log: SILENT, signal, now: NOW }, null)
  return { ...asked, screen: screen.join('\n') }
}

describe('the service', () => {
  test('is tried at once, and asked for again where the key is refused', async () => {
    await using service = await startService(folderWith(), NOW, 2)
    const key = await service.createKey({ name: 'init', scope: 'read' })
    const { answers, screen } = await ask({
      'Its address': [service.url, ''],
      'API key': ['not-the-key', ` ${key} `],
      'Once more': ['again'],
    })
    expect(screen).toMatch(/fail service: .*does not accept the API key[\s\S]*ok list of leads: /)
    expect(screen).not.toContain('not-the-key')
    expect([answers.apiUrl.value, answers.key.value, answers.profile.value]).toEqual([service.url, key, null])
  })

  test('is tried with the files of the options as they were corrected meanwhile', async () => {
    await using foreign = await startForeign(CONTACTS)
    const profile = {
      name: 'crm',
      endpoints: { leads: '/contacts', pipelines: 'none', stats: 'none', agents: 'none', webhooks: 'none' },
      auth: { header: 'X-Api-Key', value: '{key}' },
      paging: { kind: 'page', param: 'page' },
      envelope: { leads: 'contacts' },
      mapping: { lead: { id: 'id', status: 'status' } },
    }
    const folder = folderWith({ key: 'not-the-key', 'profile.yaml': stringify({ ...profile, paging: {} }) })
    const files = { keyFile: join(folder, 'key'), profile: join(folder, 'profile.yaml') }
    const correct = (name: keyof typeof files, text: string) => () => {
      writeFileSync(files[name], text)
      return 'again'
    }
    const { answers, screen } = await ask(
      {
        'Its address': [`${foreign.url}/crm`, '', ''],
        'Once more': [correct('profile', 'paging: ['), correct('keyFile', KEY)],
        'Read it again': [correct('profile', stringify(profile))],
      },
      readGiven(files, loadConfig({ file: null, env: {} })),
    )
    expect(screen).toMatch(
      /The profile has mistakes[\s\S]*--profile: .* is not valid YAML[\s\S]*does not accept the API key[\s\S]*Check the key in .*key,[\s\S]*ok list of leads/,
    )
    expect([answers.key.value, answers.key.file]).toEqual([KEY, files.keyFile])
    expect(answers.profile.value?.problem).toBeNull()
  })

  test('is tried with the file of an environment variable as it was corrected meanwhile', async () => {
    await using service = await startService(folderWith(), NOW, 2)
    const key = await service.createKey({ name: 'init', scope: 'read' })
    const file = join(folderWith({ key: 'not-the-key' }), 'key')
    vi.stubEnv('LEADSHEET_API_KEY_FILE', file)
    onTestFinished(() => void vi.unstubAllEnvs())
    const correct = (): string => {
      writeFileSync(file, key)
      return 'again'
    }
    const { answers, screen } = await ask(
      { 'Its address': [service.url, ''], 'Once more': [correct] },
      readGiven({}, loadConfig({ file: null })),
    )
    expect(screen).toMatch(/does not accept the API key[\s\S]*ok list of leads: /)
    expect(answers.key).toEqual({ value: key, variable: 'LEADSHEET_API_KEY_FILE', file: null })
  })

  test('is tried with the key that was typed before, if only the address was wrong', async () => {
    await using service = await startService(folderWith(), NOW, 2)
    const key = await service.createKey({ name: 'init', scope: 'read' })
    const { answers } = await ask({
      'Its address': [NOWHERE, service.url],
      'API key': [key, ''],
      'Once more': ['again'],
    })
    expect(answers.key.value).toBe(key)
  })

  test('with thousands of leads is told of with commas, as all that comes after', async () => {
    await using upstream = await startUpstream(1_200)
    const { screen } = await ask({ 'Its address': [upstream.url], 'API key': [KEY] })
    expect(screen).toContain('ok list of leads: 100 of 1,200 records on the first page')
  })

  test('that works otherwise is probed, and what was found out is tried and kept', async () => {
    await using foreign = await startForeign(CONTACTS)
    const { answers, probed, screen } = await ask({
      'Its address': [`${foreign.url}/crm`],
      'API key': [KEY],
      'Once more': ['probe'],
    })
    expect(screen).toMatch(/fail service: [\s\S]*looking for pages[\s\S]*ok list of leads: /)
    expect(parseProfile(parse(probed ?? ''), 'profile.yaml').endpoints.leads).toBe('/contacts')
    expect(probed).not.toContain(KEY)
    expect(answers.profile.value?.origin).toBe('profile.yaml')
  })

  test('that does not answer is not probed, and kept if that is wanted', async () => {
    const { answers, screen } = await ask({})
    expect(screen).toContain('fail service: ')
    expect(screen).not.toContain('probe')
    expect(answers.apiUrl.value).toBe(NOWHERE)
  })

  test('on the internet is not asked without encryption', async () => {
    const { screen } = await ask({ 'Its address': ['http://leads.example.com', NOWHERE] })
    expect(screen).toMatch(/http:\/\/ would send the API key unencrypted[\s\S]*Its address .*: http:\/\/127/)
  })
})

describe('the mail server', () => {
  const PASSWORD = ' p ä#:ss@/%41'

  test('is tried with user and password as they were typed, and asked for again where it refuses them', async () => {
    const logins: unknown[] = []
    await using server = await openMailServer({
      allowInsecureAuth: true,
      authOptional: false,
      onAuth: ({ username, password }, _session, done) => {
        logins.push([username, password])
        const refused = Object.assign(new Error('wrong password'), { responseCode: 535 })
        done(password === PASSWORD ? null : refused, { user: username })
      },
    })
    const { answers, screen } = await ask({
      Address: [server.url, '', 'ana@example.com', ''],
      User: ['dana@example.org', 'dana@example.org'],
      Password: ['wrong', PASSWORD],
      Sender: ['', ''],
      'Once more': ['keep', 'again'],
    })
    expect(logins).toEqual([
      ['dana@example.org', 'wrong'],
      ['dana@example.org', PASSWORD],
    ])
    expect(screen).toMatch(/fail mail: .*did not let us in[\s\S]*ok mail: /)
    expect(screen).not.toMatch(/p ä|p%20/)
    expect(answers.from.value).toBe('Lead reports <dana@example.org>')
    expect(answers.alertRecipients.value).toEqual(['ana@example.com'])
  })

  test('is tried with the login that was typed before, if only the address was wrong', async () => {
    const { answers } = await ask({
      Address: ['smtp://127.0.0.1:9', 'smtp://127.0.0.2:9', 'ana@example.com', 'none'],
      User: ['dana', ''],
      Password: [PASSWORD, ''],
      Sender: ['reports@example.com', ''],
      'Once more': ['keep', 'again', 'keep'],
    })
    expect(answers.mailUrl.value).toBe(`smtp://dana:${encodeURIComponent(PASSWORD)}@127.0.0.2:9`)
  })

  test('is offered again without the login that was typed with it, and so is the sender', async () => {
    const { answers, screen } = await ask({
      Address: ['smtp://dana:p@ss%2Fw@127.0.0.1:9?insecure=true', 'file:./outbox', 'ana@example.com', 'none'],
      Sender: ['reports@example.com', ''],
      'Once more': ['keep', 'again'],
    })
    expect(screen).toContain('[smtp://127.0.0.1:9?insecure=true]: file:./outbox')
    expect(answers.mailUrl.value).toBe('file:./outbox')
    expect(answers.from.value).toBe('reports@example.com')
  })

  test('may be a folder, which is not made before the first mail', async () => {
    const { answers } = await ask({})
    expect(answers.mailUrl.value).toBe('file:./outbox')
    expect(answers.from.value).toBe('Lead reports <leadsheet@localhost>')
  })
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
  const { answers, screen } = await ask({
    'Where it listens': [`127.0.0.1:${port}`, '127.0.0.1:0'],
    'Once more': ['keep', 'again'],
  })
  expect(screen).toContain(
    `warn dashboard: cannot listen at 127.0.0.1:${port}: something listens there already`,
  )
  expect(answers.token.value).toMatch(/^[\w-]{32}$/)
  expect((await ask({})).answers.token.value).toBeNull()
})

test('what is given already is told, and not asked for', async () => {
  const given = { value: ['cleo@example.com'], variable: 'LEADSHEET_RECIPIENTS', file: null }
  const { answers, screen } = await ask({ Address: ['file:./outbox', 'none'] }, { recipients: given })
  expect(screen).toContain('cleo@example.com (LEADSHEET_RECIPIENTS)')
  expect([answers.recipients, answers.alertRecipients.value]).toEqual([given, []])
})

/** The starter file for new settings is read as every command reads it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Config, effectiveSettings } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Entry, FirstSettings } from '../../src/config/starter-file.ts'
import { reportFor, settingsText } from '../../src/config/starter-file.ts'
import { folderWith } from '../support/folder.ts'
import { checkExamples } from '../support/process/transcript.ts'

const value = (text: string): Entry => ({ value: text })

type Answers = Readonly<Record<string, Entry | Entry<readonly string[]>>>

/** The settings in the order of the file, by their names. */
const USUAL = {
  'api.url': value('https://leads.example.com/api/v1'),
  'api.key_file': value('./secrets/api-key'),
  time_zone: value('Europe/Berlin'),
  'mail.url': value('smtp://mail.example.com:587'),
  'mail.from': value('Lead reports <reports@example.com>'),
  'alerts.recipients': { value: ['ops@example.com'] },
  'web.listen': value('127.0.0.1:8080'),
  'web.token_file': value('./secrets/web-token'),
  recipients: { value: ['ana@example.com', 'ben@example.com'] },
} satisfies Answers
const REPORT = { name: 'daily', schedule: 'every weekday at 07:00', period: 'working_day' }

function firstSettings(answers: Answers, report: FirstSettings['report'] = REPORT): FirstSettings {
  const entries = Object.entries(answers).map(([name, entry]) => [name.split('.'), entry] as const)
  return { today: '2026-11-21', entries, report }
}

const SECRETS = {
  'secrets/api-key': 'k-123456\n',
  'secrets/mail-url': 'smtp://reports%40example.com:p%20%C3%A4%23%3A%2F%25@mail.example.com:587\n',
  'secrets/web-token': 'a-token-that-is-long-enough\n',
}

function load(answers: Answers, env: Environment = {}, report = REPORT) {
  const text = settingsText(firstSettings(answers, report))
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': text, ...SECRETS }), env })
}

const GIVEN: Answers = {
  ...USUAL,
  'api.url': { variable: 'LEADSHEET_API_URL' },
  'api.key_file': { variable: 'LEADSHEET_API_KEY' },
  recipients: { variable: 'LEADSHEET_RECIPIENTS' },
  'alerts.recipients': { value: [] },
  holidays: { value: ['DE'], comment: 'Of the country: # "x".' },
}
const OUTSIDE = {
  LEADSHEET_API_URL: 'https://other.example.com',
  LEADSHEET_API_KEY: 'k-from-outside',
  LEADSHEET_RECIPIENTS: 'cleo@example.com',
}

test.each([
  ['answered', USUAL, {}],
  ['given-by-the-environment', GIVEN, OUTSIDE],
])('the file says what is in force, and nothing is warned of: %s', async (name, answers, env) => {
  const config = load(answers, env)
  expect(config.warnings).toEqual([])
  expect(config.api.key?.reveal()).toBe(env === OUTSIDE ? OUTSIDE.LEADSHEET_API_KEY : 'k-123456')
  const inForce = effectiveSettings(config)
    .filter(({ source }) => !/^(default|not set)$/.test(source))
    .map(
      ({ setting, value, source }) => `${setting} = ${JSON.stringify(value)}, ${source.replace(/^.*\//, '')}`,
    )
  const text = settingsText(firstSettings(answers)).replace(/\S+(?=leadsheet\.example\.yaml)/, '')
  await expect(`${text}\n${inForce.join('\n')}\n`).toMatchFileSnapshot(`golden/starter-${name}.txt`)
})

test.each<[string, (config: Config) => unknown, ...string[]]>([
  [
    'api.url',
    ({ api }) => api.url,
    'https://leads.example.com/api?list=a&b=c#d: "e"',
    "https://leads.example.com/it's%20${HOME}/$${x}",
    'https://leads.example.com/наводка-ß-🙂',
  ],
  [
    'mail.from',
    ({ mail }) => mail.from,
    "Berichte: 'Ä#1' <reports@example.com>",
    "# O'Brien & Söhne, {a: b} [c] | % @ ` ! * <reports@example.com>",
    '- - ? : ${NAME} \\ <reports@example.com>',
    'yes <reports@example.com>',
  ],
])('%s comes back as it was', (name, read, ...texts) => {
  for (const text of texts) expect(read(load({ ...USUAL, [name]: value(text) }))).toBe(text)
})

test('a schedule comes back as it was', () => {
  for (const schedule of ['*/15 * * * *', 'first Monday of the month at 08:00'])
    expect(load(USUAL, {}, { ...REPORT, schedule }).reports[0]?.schedule).toBe(schedule)
})

test('a mail server with a password is in its file alone, with every character of it', () => {
  const { 'mail.url': _url, ...others } = USUAL
  const first = { ...others, 'mail.url_file': value('./secrets/mail-url') }
  const url = new URL(load(first).mail.url?.reveal() ?? '')
  expect(decodeURIComponent(url.password)).toBe('p ä#:/%')
  expect(settingsText(firstSettings(first))).not.toContain('%C3')
})

const NOW = new Date('2026-11-21T16:00:00Z')

test('no day is left out or in two issues of the report that a schedule proposes', () =>
  checkExamples(join(import.meta.dirname, 'golden/first-report.txt'), (input) => {
    const [expression = '', ...holidays] = input.split(' with the holidays of ')
    const { name, period } = reportFor({ expression, timeZone: 'Europe/Berlin', holidays }, NOW)
    return [`${name}, ${period}`]
  }))

/** The starter file for new settings is read as every command reads it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Config } from '../../src/config/config.ts'
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
  'smtp.url': value('smtp://mail.example.com:587'),
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
  'secrets/smtp-url': 'smtp://reports%40example.com:p%20%C3%A4%23%3A%2F%25@mail.example.com:587\n',
  'secrets/web-token': 'a-token-that-is-long-enough\n',
}

function load(answers: Answers, env: Readonly<Record<string, string>> = {}, report = REPORT) {
  const text = settingsText(firstSettings(answers, report))
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': text, ...SECRETS }), env })
}

test('what was answered is in force, the rest as it is by itself, and nothing is warned of', () => {
  const { warnings, sources, ...config } = load(USUAL)
  expect(warnings).toEqual([])
  expect(config).toMatchObject({
    timeZone: 'Europe/Berlin',
    mail: { from: 'Lead reports <reports@example.com>' },
    recipients: ['ana@example.com', 'ben@example.com'],
    alerts: { recipients: ['ops@example.com'] },
    reports: [{ name: 'daily', schedule: 'every weekday at 07:00', period: 'working_day' }],
    web: { listen: { host: '127.0.0.1', port: 8080 } },
  })
  expect(config.api.key?.reveal()).toBe('k-123456')
  expect(config.web.token?.reveal()).toBe('a-token-that-is-long-enough')
  expect(Object.keys(sources).sort()).toEqual([
    ...['alerts.recipients', 'api.key', 'api.key_file', 'api.url', 'mail.from', 'recipients'],
    ...['reports[0].name', 'reports[0].period', 'reports[0].schedule', 'smtp.url', 'time_zone'],
    ...['web.listen', 'web.token', 'web.token_file'],
  ])
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
  const { 'smtp.url': _url, ...others } = USUAL
  const first = { ...others, 'smtp.url_file': value('./secrets/smtp-url') }
  const url = new URL(load(first).smtp.url?.reveal() ?? '')
  expect(decodeURIComponent(url.password)).toBe('p ä#:/%')
  expect(settingsText(firstSettings(first))).not.toContain('%C3')
})

test('what the environment gives is a comment that says so, and no setting of the file', () => {
  const given = (variable: string): Entry<never> => ({ variable })
  const first = {
    ...USUAL,
    'api.url': given('LEADSHEET_API_URL'),
    'api.key_file': given('LEADSHEET_API_KEY'),
    recipients: given('LEADSHEET_RECIPIENTS'),
    'alerts.recipients': { value: [] },
  }
  const config = load(first, {
    LEADSHEET_API_URL: 'https://other.example.com',
    LEADSHEET_API_KEY: 'k-from-outside',
    LEADSHEET_RECIPIENTS: 'cleo@example.com',
  })
  expect(settingsText(firstSettings(first))).toMatch(/^# api.key_file: LEADSHEET_API_KEY gives it$/m)
  expect(settingsText(firstSettings(first))).toMatch(/^# \/.*\/leadsheet\.example\.yaml explains them /m)
  expect(config.sources).toMatchObject({
    'api.url': 'environment LEADSHEET_API_URL',
    recipients: 'environment LEADSHEET_RECIPIENTS',
  })
  expect([config.recipients, config.alerts.recipients, config.warnings]).toEqual([
    ['cleo@example.com'],
    [],
    [],
  ])
})

test('a comment stands above its value, and changes nothing', () => {
  const holidays = { value: ['DE'], comment: 'Of the country: # "x".' }
  const text = settingsText(firstSettings({ ...USUAL, holidays }))
  expect(text).toContain('holidays:\n  # Of the country: # "x".\n  - DE\n')
  expect(load({ ...USUAL, holidays }).holidays).toEqual(['DE'])
})

const NOW = new Date('2026-11-21T16:00:00Z')

test('no day is left out or in two issues of the report that a schedule proposes', () =>
  checkExamples(join(import.meta.dirname, 'golden/first-report.txt'), (input) => {
    const [expression = '', ...holidays] = input.split(' with the holidays of ')
    const { name, period } = reportFor({ expression, timeZone: 'Europe/Berlin', holidays }, NOW)
    return [`${name}, ${period}`]
  }))

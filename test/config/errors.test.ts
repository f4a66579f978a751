/**
 * Every mistake that an operator can make in the settings, with the lines of the error about it; `vitest -u` renews
 * them.
 */
import { describe, expect, test } from 'vitest'
import type { Environment } from '../../src/config/environment.ts'
import { settingFault } from '../../src/config/errors.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { SettingPath } from '../../src/config/setting-path.ts'
import { nearest } from '../../src/config/setting-path.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { folderWith } from '../support/folder.ts'

/** Returns the lines of the error after the first; none without an error. */
function mistakesOf(
  yaml: string | null,
  env: Environment = {},
  files: Readonly<Record<string, string>> = {},
): string[] {
  const cwd = folderWith({ ...(yaml !== null && { 'leadsheet.yaml': yaml }), ...files })
  return failure(() => loadConfig({ cwd, env }))
    .message.replaceAll(cwd, '.')
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
}

function failure(run: () => unknown): LeadsheetError {
  try {
    run()
  } catch (error) {
    if (error instanceof LeadsheetError && error.code === 'config_invalid') return error
    throw error
  }
  throw new Error('expected a mistake to be found')
}

/** YAML of settings with one mistake each. */
const IN_FILE: Readonly<Record<string, readonly string[]>> = {
  settings: [
    'api:\n  page_sise: 5',
    'tiem_zone: UTC',
    'reports:\n  - { name: daily, zone: UTC }',
    'api: { page_size: 0 }',
    'api: { page_size: 2.5 }',
    'api: { page_size: "9" }',
    'api: yes please',
    'sync: daily',
    'api: { url: leads.example.com }',
    'api: { url: "ftp://h" }',
    'api: { url: "https://u:hunter2@h" }',
    'api: { url: "http://leads.example.com/api" }',
    'api: { url: "http://8.8.8.8:81" }',
    'api: { url: "http://[2001:db8::1]" }',
    'api: { key: "hunter2\\r\\nX-Other: 1" }',
    'api: { key: "hunter2\\nk-67890" }',
    'api: { key: "hunter2\\u200b345" }',
    'api: { key: "hunter2\\u00a0345" }',
    'api: { key: "hunter2\\0" }',
    'api: { key: 5 }',
    'api: { key: a, key_file: b }',
    'api: { key_file: nowhere }',
    'api: { key_file: empty }',
    'log_level: loud',
    'time_zone: Europe/Berln',
    'time_zone: "+01:00"',
    'smtp: { url: "http://hunter2" }',
    'smtp: { url: "file://host/x" }',
    'smtp: { url: "smtp://u:5%hunter2@h" }',
    'smtp: { url: "file:./100%" }',
    'smtp: { url: "smtp:" }',
    'sync: { schedule: "* * * *" }',
    'sync: { schedule: "61 * * * *" }',
    'sync: { full_schedule: "0 7 1 * 1" }',
    'sync: { full_schedule: "0 0 31 2 *" }',
    'lead_url: https://crm.example.com',
    'lead_url: "https://crm.example.com/{lead}/{id}"',
    'lead_url: "javascript:{id}"',
  ],
  web: [
    'web: { listen: 8080 }',
    'web: { listen: localhost }',
    'web: { listen: "127.0.0.1:80800" }',
    'web: { public_url: http://reports.example.com }',
    'web: { public_url: https://example.com/reports }',
    'web: { public_url: reports.example.com }',
    'web: { listen: none, public_url: "https://reports.example.com" }',
    'web: { allowed_hosts: ["leadsheet:8080"] }',
    'web: { allowed_hosts: ["*"] }',
    'web: { allowed_hosts: [a, a] }',
    'web: { trusted_proxies: [everybody] }',
    'web: { trusted_proxies: [10.0.0.0/33] }',
    'web: { trusted_proxies: [10.0.0.0/8/8] }',
    'web: { trusted_proxies: ["fd00::/129"] }',
    'web: { token: hunter2 }',
    ...['webhook', 'heartbeat'].flatMap((channel) => [
      `alerts: { ${channel}: { url: "http://example.com/hunter2" } }`,
      `alerts: { ${channel}: { url: "http://10.0.0.7/hunter2" } }`,
      `alerts: { ${channel}: { url: "ftp://example.com/hunter2" } }`,
      `alerts: { ${channel}: { url: "https://me:hunter2@example.com/x" } }`,
      `alerts: { ${channel}: { url: "hunter2" } }`,
    ]),
  ],
  addresses: [
    'mail: { from: "Ana <ana>" }',
    'mail: { from: "a@b.c\\nBcc: x@y.z" }',
    'mail: { from: "Lea\\u200Bd reports <a@b.c>" }',
    'mail: { from: "😀 \\u202Ex <a@b.c>" }',
    'mail: { from: "\\"A\\u00ADb\\" <a@b.c>" }',
    'mail: { from: "a@exam\\u200Bple.com" }',
    'mail: { from: "A <a\\u00A0@b.c>" }',
    'mail: { from: "A <a\\U000E0041@b.c>" }',
    'mail: { reply_to: "a\\uFEFFb@b.c" }',
    'recipients: ana@example.com',
    'recipients: [ana]',
    'recipients: [7]',
    'recipients: [a@b.c, a@b.c]',
    'recipients: [a@b.c, "A <a@b.c>"]',
    'recipients: [{ address: a@b.c }, A@b.c]',
    'recipients: [a@b.c, { address: a@b.c }]',
    'recipients: [a@b.c, "a\\u3164b@b.c"]',
    'recipients: [{ address: "a\\u00ADb@b.c" }]',
    'recipients: [{ address: a@b.c, name: "A\\u200B" }]',
    'recipients: [{ address: a@b.c, name: "A <b>" }]',
    'recipients: [{ adress: a@b.c }]',
    'recipients: [{ address: a@b.c, locale: fr-FR }]',
    'recipients: [{ address: a@b.c, locale: "de DE" }]',
    'recipients: [{ address: a@b.c, owner: [] }]',
    'recipients: [{ address: a@b.c, owner: 7 }]',
    'recipients: [{ address: a@b.c, owner: "" }]',
    'recipients: [{ address: a@b.c, blocks: [kpi] }]',
    'recipients: [{ address: a@b.c, blocks: [] }]',
    'recipients: [{ address: a@b.c, attachments: [stalled.pdf] }]',
    'recipients: [{ address: a@b.c, attachments: [staled.csv] }]',
    'alerts: { recipients: ["a\\u200D@b.c"] }',
  ],
  reports: [
    'reports: [{ title: x }]',
    'reports: [{ name: ../x }]',
    'reports: [{ name: a }, { name: a }]',
    'reports: [{ name: a, schedule: every wekday at 07:00 }]',
    'reports: [{ name: a, send_when: sometimes }]',
    'reports: [{ name: a, send_when: { if: x } }]',
    'reports: [{ name: a, period: fortnight }]',
    'reports: [{ name: a, filter: { land: [x] } }]',
    'reports: [{ name: a, filter: { company_contry: [x] } }]',
    'reports: [{ name: a, filter: { source: web } }]',
    'reports: [{ name: a, filter: { source: [] } }]',
    'reports: [{ name: a, filter: { score: 60 } }]',
    'reports: [{ name: a, filter: { score: {} } }]',
    'reports: [{ name: a, filter: { score: { min: 9, max: 1 } } }]',
    'holidays: DE-BAY',
    'holidays: [AT-?]',
    'holidays: [DE, US-TEX]',
    'holidays: [GB-XYZ]',
    'holidays: [PL-MZ]',
    'holidays: [UK-SCT]',
    'holidays: Germany',
    'holidays: [Untied States]',
    'holidays: [Bavaria]',
    'holidays: [2026-02-30]',
    'holidays: [1.5.2026]',
    'holidays: [20261225]',
    'holidays: [{ 2026-12-24: 5 }]',
    'holidays: [{ 2026-12-24: a, 2026-12-31: b }]',
    'holidays: [DE, de]',
  ],
}

const IN_ENVIRONMENT: readonly Environment[] = [
  { LEADSHEET_API_KY: 'hunter2' },
  { LEADSHEET_DATABSE_URL: 'hunter2' },
  { LEADSHEET_COLOUR_OF_THE_SKY: 'hunter2' },
  { LEADSHEET_LOG_LEVEL: 'loud' },
  { LEADSHEET_RECIPIENTS: 'ana@example.com,bo' },
  { LEADSHEET_API_KEY: 'k', LEADSHEET_API_KEY_FILE: 'f' },
  { LEADSHEET_SMTP_URL_FILE: 'nowhere' },
  { LEADSHEET_HOLIDAYS: 'US,DE-BAY' },
]

/** Writes characters that a reviewer would not see as their numbers. */
function visible(text: string): string {
  return text.replace(/[^ -~\n]/gu, (character) => `<U+${character.codePointAt(0)?.toString(16)}>`)
}

test.each(Object.keys(IN_FILE))(
  'a mistake in the file is told by its place, value and remedy: %s',
  async (group) => {
    const told = (IN_FILE[group] ?? []).map((yaml) => {
      const mistakes = mistakesOf(yaml, {}, { empty: '\n' })
      expect(mistakes.join()).not.toContain('hunter')
      return `${yaml}\n${mistakes.map((each) => `    ${each}\n`).join('')}`
    })
    await expect(visible(told.join('\n'))).toMatchFileSnapshot(`golden/mistakes-${group}.txt`)
  },
)

test('a mistake in the environment is told by its variable', async () => {
  const told = IN_ENVIRONMENT.map((env) => {
    const mistakes = mistakesOf(null, env)
    expect(mistakes.join()).not.toContain('hunter')
    return `${Object.keys(env).join(', ')}\n${mistakes.map((each) => `    ${each}\n`).join('')}`
  })
  await expect(told.join('\n')).toMatchFileSnapshot('golden/mistakes-environment.txt')
})

describe('several mistakes', () => {
  test('are told at once, whether in the file, the environment or YAML groups that fail as a whole', () => {
    const yaml =
      'api: { page_size: 0 }\nreports: [{ title: x }, { name: a }, { name: a }]\nrecipients: [nobody]'
    expect(mistakesOf(yaml, { LEADSHEET_LOG_LEVEL: 'loud', LEADSHEET_X: '1' })).toHaveLength(6)
  })
})

describe('a file that cannot be read as settings', () => {
  test('names line and column of every YAML error', () => {
    expect(mistakesOf('api:\n\turl: x\nb: [1\n')).toEqual([
      expect.stringMatching(/^leadsheet\.yaml:2:1 {2}Tabs are not allowed as indentation/),
      expect.stringMatching(/^leadsheet\.yaml:\d+:\d+ {2}Flow sequence/),
    ])
  })

  test.each([
    ['a: 1\na: 2', /:2:1 {2}Map keys must be unique/],
    ['a: *nowhere', /:1:1 {2}Unresolved alias/],
    ['- a', /:1:1 {2}expected settings, each as "name: value"/],
  ])('%j', (yaml, line) => {
    expect(mistakesOf(yaml)).toEqual([expect.stringMatching(line)])
  })

  test('is named when it does not exist', () => {
    const cwd = folderWith()
    expect(failure(() => loadConfig({ cwd, env: {}, file: 'no.yaml' })).message).toBe(
      `cannot read the settings file ${cwd}/no.yaml: there is no such file`,
    )
  })
})

test.each([
  'api: { key: [hunter2] }\nmail: smtp://u:hunter2@h',
  'api: { key: *hunter2 }',
  'api: { key: "hunter2 }',
  'api: { key: %hunter2 }',
  'web: { token: hunter2 }',
  'smtp: { url: "smtp://u:%hunter2@h" }',
  'mail: { dkim: { domain: a.b, selector: c, key: hunter2 } }',
  'alerts: { webhook: { url: "ftp://h/hunter2" }, heartbeat: "https://h/hunter2" }',
])('a value that may hold a secret is never in the message: %j', (yaml) => {
  expect(mistakesOf(yaml).join()).toMatch(/^leadsheet\.yaml:/)
  expect(mistakesOf(yaml).join()).not.toContain('hunter2')
})

test.each<[SettingPath, string, string]>([
  [['api', 'url'], 'LEADSHEET_API_URL', 'ftp://leads.example.com'],
  [['smtp', 'url'], 'LEADSHEET_SMTP_URL', 'smtp//mail.example.com'],
  [['mail', 'from'], 'LEADSHEET_FROM', 'Lead reports'],
  [['time_zone'], 'LEADSHEET_TIME_ZONE', 'Europe/Belin'],
  [['web', 'listen'], 'LEADSHEET_WEB_LISTEN', '8080'],
])('of %j it says what the settings would', (path, variable, value) => {
  const fault = settingFault(path, value)
  expect(fault).toMatch(/^expected /)
  expect(toldOf({ [variable]: value })).toContain(fault)
})

test('of an item of a list it says what is wrong with it', () => {
  expect(settingFault(['alerts', 'recipients'], ['ana@example.com', 'ben'])).toBe(
    'expected an e-mail address, or Name <address>; this is neither',
  )
})

test('what will do has none, whatever else the settings would need', () => {
  expect(settingFault(['mail', 'from'], 'Lead reports <reports@example.com>')).toBeNull()
  expect(settingFault(['sync', 'schedule'], 'every weekday at 07:00')).toBeNull()
})

function toldOf(env: Readonly<Record<string, string>>): string {
  try {
    loadConfig({ file: null, env })
    return ''
  } catch (thrown) {
    return thrown instanceof LeadsheetError ? thrown.message : ''
  }
}

const NAMES = ['page_size', 'run_minutes', 'url', 'key', 'key_file']

test.each([
  ['page_sise', 'page_size'],
  ['pagesize', 'page_size'],
  ['KEY', 'key'],
  ['keyfile', 'key_file'],
  ['run_minute', 'run_minutes'],
  ['ur', 'url'],
  ['ulr', 'url'],
  ['token', null],
])('%s was meant to be %s', (name, meant) => {
  expect(nearest(name, NAMES)).toBe(meant)
})

/** Every mistake that an operator can make in the settings, with the line of the error about it. */
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

const SCHEDULE =
  'expected cron of five fields (minute hour day month weekday), or words such as "every weekday at 07:00"'
const MAILBOX = 'expected an e-mail address, or Name <address>'
const NEITHER = `${MAILBOX}; this is neither`

describe('a mistake in the file', () => {
  test.each([
    ['api:\n  page_sise: 5', '2:3  api.page_sise: no such setting; did you mean page_size?'],
    ['tiem_zone: UTC', '1:1  tiem_zone: no such setting; did you mean time_zone?'],
    [
      'reports:\n  - { name: daily, zone: UTC }',
      '2:20  reports[0].zone: no such setting; known here: name, template, title, schedule, time_zone, catch_up, period, send_when, wait_minutes, on_stale_data, recipients, filter, locale, blocks, attachments, stalled_days, top_score',
    ],
    ['api: { page_size: 0 }', '1:19  api.page_size: found 0, expected a whole number from 1 to 1000'],
    ['api: { page_size: 2.5 }', '1:19  api.page_size: found 2.5, expected a whole number from 1 to 1000'],
    ['api: { page_size: "9" }', '1:19  api.page_size: found "9", expected a whole number from 1 to 1000'],
    [
      'web: { listen: 8080 }',
      '1:16  web.listen: found 8080, expected an address and a port, such as 127.0.0.1:8080, or none',
    ],
    [
      'web: { listen: localhost }',
      '1:16  web.listen: found "localhost", expected an address and a port, such as 127.0.0.1:8080, or none; it is written otherwise',
    ],
    [
      'web: { listen: "127.0.0.1:80800" }',
      '1:16  web.listen: found "127.0.0.1:80800", expected an address and a port, such as 127.0.0.1:8080, or none; there is no such address',
    ],
    [
      'web: { public_url: http://reports.example.com }',
      '1:20  web.public_url: found "http://reports.example.com", expected an https:// address without a path; http:// is only for this machine',
    ],
    [
      'web: { public_url: https://example.com/reports }',
      '1:20  web.public_url: found "https://example.com/reports", expected an https:// address without a path; nothing may come after the host',
    ],
    [
      'web: { public_url: reports.example.com }',
      '1:20  web.public_url: found "reports.example.com", expected an https:// address without a path; it must begin with https://',
    ],
    ['api: yes please', '1:6  api: expected a group of settings, indented below the name'],
    ['sync: daily', '1:7  sync: found "daily", expected a group of settings, indented below the name'],
    [
      'api: { url: leads.example.com }',
      '1:13  api.url: found "leads.example.com", expected a URL with http:// or https://; it is no URL',
    ],
    [
      'api: { url: "ftp://h" }',
      '1:13  api.url: found "ftp://h", expected a URL with http:// or https://; the protocol is ftp:',
    ],
    ...['http://leads.example.com/api', 'http://8.8.8.8:81', 'http://[2001:db8::1]'].map((url) => [
      `api: { url: "${url}" }`,
      `1:13  api.url: found "${url}", expected a URL with http:// or https://; http:// would send the API key unencrypted over the internet to ${new URL(url).host}`,
    ]),
    ...[
      ['k-12345\\r\\nX-Other: 1', 'a line break after 7 characters'],
      ['k-12345\\nk-67890', 'a line break after 7 characters'],
      ['k-12\\u200b345', 'the invisible character U+200B after 4 characters'],
      ['k-12\\u00a0345', 'the invisible character U+00A0 after 4 characters'],
      ['k-1\\0', 'the invisible character U+0000 after 3 characters'],
    ].map(([key, what]) => [
      `api: { key: "${key}" }`,
      `1:13  api.key: expected the API key; there is ${what}`,
    ]),
    [
      'api: { url: "https://u:p@h" }',
      '1:13  api.url: found "https://[redacted]@h", expected a URL with http:// or https://; it must not hold a user or password',
    ],
    ['api: { key: 5 }', '1:13  api.key: expected the API key'],
    ['log_level: loud', '1:12  log_level: found "loud", expected debug, info, warn, error or silent'],
    [
      'time_zone: Europe/Berln',
      '1:12  time_zone: found "Europe/Berln", expected a time zone of the IANA database, such as Europe/Berlin; did you mean Europe/Berlin?',
    ],
    [
      'time_zone: "+01:00"',
      '1:12  time_zone: found "+01:00", expected a time zone of the IANA database, such as Europe/Berlin; there is no zone of that name',
    ],
    [
      'smtp: { url: "http://secret" }',
      '1:14  smtp.url: expected a URL with smtp://, smtps:// or file:; the protocol is another',
    ],
    [
      'smtp: { url: "file://host/x" }',
      '1:14  smtp.url: expected a URL with smtp://, smtps:// or file:; a file: URL must not name a host',
    ],
    [
      'smtp: { url: "smtp://u:5%@h" }',
      '1:14  smtp.url: expected a URL with smtp://, smtps:// or file:; a % of its own is written %25',
    ],
    [
      'smtp: { url: "file:./100%" }',
      '1:14  smtp.url: expected a URL with smtp://, smtps:// or file:; a % of its own is written %25',
    ],
    [
      'smtp: { url: "smtp:" }',
      '1:14  smtp.url: expected a URL with smtp://, smtps:// or file:; the host is missing',
    ],
    [
      'mail: { from: "Ana <ana>" }',
      '1:15  mail.from: found "Ana <ana>", expected an e-mail address, or Name <address>; this is neither',
    ],
    [
      'mail: { from: "a@b.c\\nBcc: x@y.z" }',
      '1:15  mail.from: found "a@b.c\\nBcc: x@y.z", expected an e-mail address, or Name <address>; U+000A a control character at position 6 of mail.from',
    ],
    [
      'recipients: ana@example.com',
      '1:13  recipients: found "ana@example.com", expected a list of e-mail addresses',
    ],
    ['recipients: [ana]', `1:14  recipients[0]: found "ana", ${NEITHER}`],
    ['recipients: [a@b.c, a@b.c]', '1:21  recipients[1]: found "a@b.c", expected each only once'],
    [
      'sync: { schedule: "* * * *" }',
      `1:19  sync.schedule: found "* * * *", ${SCHEDULE}; it has not five fields`,
    ],
    [
      'sync: { schedule: "61 * * * *" }',
      `1:19  sync.schedule: found "61 * * * *", ${SCHEDULE}; "61" cannot be read as its minute (0 to 59)`,
    ],
    [
      'sync: { full_schedule: "0 7 1 * 1" }',
      `1:24  sync.full_schedule: found "0 7 1 * 1", ${SCHEDULE}; it restricts both day of month and weekday, which some crons read as "and", others as "or"; restrict one`,
    ],
    [
      'reports: [{ name: a, schedule: every wekday at 07:00 }]',
      `1:32  reports[0].schedule: found "every wekday at 07:00", ${SCHEDULE}; "wekday" is none of its words; did you mean weekday?`,
    ],
    [
      'sync: { full_schedule: "0 0 31 2 *" }',
      `1:24  sync.full_schedule: found "0 0 31 2 *", ${SCHEDULE}; that day never comes`,
    ],
    [
      'reports: [{ title: x }]',
      '1:11  reports[0].name: not set, expected lower-case letters, digits and single hyphens, such as daily or weekly-emea',
    ],
    [
      'reports: [{ name: ../x }]',
      '1:19  reports[0].name: found "../x", expected lower-case letters, digits and single hyphens, such as daily or weekly-emea',
    ],
    ['reports: [{ name: a }, { name: a }]', '1:32  reports[1].name: found "a", expected each only once'],
    ['api: { key: a, key_file: b }', '1:26  api.key_file: api.key is set too; give only one of them'],
    ['api: { key_file: nowhere }', '1:18  api.key_file: cannot read ./nowhere: there is no such file'],
  ])('%j', (yaml, line) => {
    expect(mistakesOf(yaml)).toEqual([`leadsheet.yaml:${line}`])
  })

  test('an empty key file', () => {
    expect(mistakesOf('api: { key_file: k }', {}, { k: '\n' })).toEqual([
      'leadsheet.yaml:1:18  api.key_file: ./k is empty',
    ])
  })
})

describe('a character in an address that nobody sees', () => {
  test.each([
    [
      'mail: { from: "Lea\u200Bd reports <a@b.c>" }',
      'U+200B an invisible character at position 4 of mail.from',
    ],
    ['mail: { from: "😀 \u202Ex <a@b.c>" }', 'U+202E an invisible character at position 3 of mail.from'],
    ['mail: { from: "\\"A\u00ADb\\" <a@b.c>" }', 'U+00AD an invisible character at position 3 of mail.from'],
    ['mail: { from: a@exam\u200Bple.com }', 'U+200B an invisible character at position 7 of mail.from'],
    ['mail: { from: "A <a\u00A0@b.c>" }', 'U+00A0 an invisible character at position 5 of mail.from'],
    ['mail: { reply_to: a\uFEFFb@b.c }', 'U+FEFF an invisible character at position 2 of mail.reply_to'],
    ['mail: { reply_to: "a\u2060@b.c" }', 'U+2060 an invisible character at position 2 of mail.reply_to'],
    ['recipients: [a@b.c, "a\u3164b@b.c"]', 'U+3164 an invisible character at position 2 of recipients[1]'],
    ['recipients: [{ address: a\u00ADb@b.c }]', 'U+00AD an invisible character at position 2 of address'],
    ['recipients: [{ address: a@b.c, name: "A\u200B" }]', 'U+200B an invisible character at position 2'],
    [
      'alerts: { recipients: ["a\u200D@b.c"] }',
      'U+200D an invisible character at position 2 of alerts.recipients[0]',
    ],
    ['mail: { from: "A <a\u{E0041}@b.c>" }', 'U+E0041 an invisible character at position 5 of mail.from'],
  ])('is named: %j', (yaml, named) => {
    expect(mistakesOf(yaml)).toEqual([expect.stringMatching(RegExp(`; ${RegExp.escape(named)}$`))])
  })
})

describe('a mistake in the environment', () => {
  test.each([
    [{ LEADSHEET_API_KY: 'x' }, 'LEADSHEET_API_KY: no such setting; did you mean LEADSHEET_API_KEY?'],
    [{ LEADSHEET_COLOUR_OF_THE_SKY: 'x' }, 'LEADSHEET_COLOUR_OF_THE_SKY: no such setting'],
    [
      { LEADSHEET_LOG_LEVEL: 'loud' },
      'LEADSHEET_LOG_LEVEL: found "loud", expected debug, info, warn, error or silent',
    ],
    [{ LEADSHEET_RECIPIENTS: 'ana@example.com,bo' }, `LEADSHEET_RECIPIENTS: found "bo", ${NEITHER}`],
    [
      { LEADSHEET_API_KEY: 'k', LEADSHEET_API_KEY_FILE: 'f' },
      'LEADSHEET_API_KEY_FILE: LEADSHEET_API_KEY is set too; give only one of them',
    ],
    [
      { LEADSHEET_SMTP_URL_FILE: 'nowhere' },
      'LEADSHEET_SMTP_URL_FILE: cannot read ./nowhere: there is no such file',
    ],
  ])('%j', (env, line) => {
    expect(mistakesOf(null, env)).toEqual([`environment  ${line}`])
  })
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
  expect(settingFault(['alerts', 'recipients'], ['ana@example.com', 'ben'])).toBe(NEITHER)
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

import { expect, test } from 'vitest'
import { effectiveSettings, requireApi, requireDaemon, requireMail } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

function load(env: Environment, yaml = '') {
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml }), env })
}

const API = { LEADSHEET_API_URL: 'https://leads.example.com', LEADSHEET_API_KEY: 'k-123456' }
const MAIL = { LEADSHEET_SMTP_URL: 'smtp://u:hunter2@mail.example.com:587', LEADSHEET_FROM: 'r@example.com' }

test('what is set is handed out', () => {
  const config = load({ ...API, ...MAIL, LEADSHEET_RECIPIENTS: 'ana@example.com' })
  const { api, mail } = requireDaemon(config)
  expect([api.url, api.key?.reveal(), mail?.url.reveal(), mail?.from]).toEqual([
    ...Object.values(API),
    ...Object.values(MAIL),
  ])
})

test('what is not set is named, as in the file and as a variable', () => {
  expect(() => requireApi(load({ LEADSHEET_API_URL: API.LEADSHEET_API_URL }))).toThrow(
    'api.key (LEADSHEET_API_KEY or LEADSHEET_API_KEY_FILE) is not set',
  )
  expect(() => requireMail(load({}))).toThrow(
    'smtp.url (LEADSHEET_SMTP_URL or LEADSHEET_SMTP_URL_FILE) and mail.from (LEADSHEET_FROM) are not set',
  )
})

test('the daemon names all that it lacks at once', () => {
  expect(() => requireDaemon(load(API))).toThrow(
    'smtp.url (LEADSHEET_SMTP_URL or LEADSHEET_SMTP_URL_FILE), mail.from (LEADSHEET_FROM), and recipients (LEADSHEET_RECIPIENTS) are not set',
  )
})

test('the daemon needs no mail where there are no reports, and no operators to be mailed', () => {
  expect(requireDaemon(load(API, 'reports: []')).mail).toBeNull()
  const operators = 'reports: []\nalerts: { recipients: [ops@example.com] }'
  expect(() => requireDaemon(load(API, operators))).toThrow('smtp.url')
  expect(requireDaemon(load({ ...API, ...MAIL }, operators)).mail?.from).toBe('r@example.com')
})

test('the overview tells where each setting came from, and hides who logs in', () => {
  const settings = effectiveSettings(
    load(
      { ...API, ...MAIL },
      'recipients: [ana@example.com]\nreports: [{ name: daily }]\nweb: { listen: "[::1]:9000" }',
    ),
  )
  expect(settings).toEqual(
    expect.arrayContaining([
      { setting: 'api.key', value: '[redacted]', source: 'environment LEADSHEET_API_KEY' },
      { setting: 'api.page_size', value: 500, source: 'default' },
      {
        setting: 'smtp.url',
        value: 'smtp://[redacted]@mail.example.com:587',
        source: 'environment LEADSHEET_SMTP_URL',
      },
      { setting: 'mail.reply_to', value: null, source: 'not set' },
      { setting: 'recipients', value: ['ana@example.com'], source: 'leadsheet.yaml:1:13' },
      { setting: 'web.listen', value: '[::1]:9000', source: 'leadsheet.yaml:3:16' },
      { setting: 'reports[0].name', value: 'daily', source: 'leadsheet.yaml:2:19' },
      { setting: 'reports[0].recipients', value: ['ana@example.com'], source: 'as recipients' },
    ]),
  )
})

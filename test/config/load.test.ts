/** The settings that a file and the environment make, and warnings of what is unwise. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { inspect, isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { placeOf } from '../../src/app/alert-settings.ts'
import { storePlaceOf } from '../../src/app/installation.ts'
import { type Config, effectiveSettings, requireDaemon, secretsOf } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import { dashboardAccess } from '../../src/config/schema-web.ts'
import { Secret } from '../../src/config/secrets.ts'
import { folderWith } from '../support/folder.ts'
import { DKIM_KEY } from '../support/mail/dkim.ts'
import { checkExamples } from '../support/process/transcript.ts'
import { inputOf } from './example.ts'

const KEY = DKIM_KEY.privateKey
/** The files that examples name. */
const FILES = {
  'other.yaml': 'time_zone: Europe/Rome',
  'mine.yaml': 'name: mine',
  'broken.yaml': 'a: [',
  'empty.yaml': '',
  key: 'k-123456\n',
  hook: 'https://hooks.example.com/services/T0/B0/s3cr3t\n',
  secrets: 'whsec_bmV3\r\n\n  whsec_b2xk\n',
  'database-url': 'postgres://app:pw@db.example.com/leads\n',
  'dkim.pem': KEY,
}
/** Every secret of the examples. */
const SECRETS = /k-123456|s3cr3t|1f2e3d4c|hunter2|whsec_\w|0123456789|BEGIN PRIVATE/
const STANDARD = loadConfig({ env: {}, file: null, cwd: '/srv' })

function load(yaml: string, env: Environment = {}, files: Readonly<Record<string, string>> = {}): Config {
  return loadConfig({ cwd: folderWith({ 'leadsheet.yaml': yaml, ...files }), env })
}

/** Shows secrets, because a golden file must show whether they are read. */
function plain(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal()
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]))
}

/** Lists what is otherwise than without settings, as `api.page_size = 100`. */
function differences(value: unknown, standard: unknown, path = ''): string[] {
  if (isDeepStrictEqual(value, standard)) return []
  const isTree = typeof value === 'object' && value !== null && (!Array.isArray(value) || path === 'reports')
  if (!isTree || (standard === null && path !== '')) return [`${path} = ${JSON.stringify(value)}`]
  return Object.entries(value).flatMap(([name, part]) => {
    const usual = Reflect.get(Object(standard), path === 'reports' ? '0' : name)
    return differences(part, usual, path === '' ? name : `${path}.${name}`)
  })
}

function readExample(input: string): string[] {
  const { env, yaml } = inputOf(input)
  const cwd = folderWith({ ...FILES, 'leadsheet.yaml': yaml })
  const config = loadConfig({ cwd, env })
  const { file: _file, sources, dataDir, templatesDir, ...settings } = config
  const { dataDir: _dataDir, templatesDir: _templatesDir, file: _none, ...standard } = STANDARD
  const own = { ...settings, dataDir, templatesDir }
  const usual = { ...standard, dataDir: join(cwd, 'data'), templatesDir: join(cwd, 'templates'), sources: {} }
  const { listen, ...web } = config.web
  const doors = listen && dashboardAccess({ ...web, listen, hasToken: web.token !== null })
  const shown = effectiveSettings(config).filter(({ source }) => source.includes('leadsheet.yaml:'))
  expect(JSON.stringify([config, effectiveSettings(config)]) + inspect(config, { depth: 9 })).not.toMatch(
    SECRETS,
  )
  return [
    ...differences(plain(own), plain(usual)),
    ...(config.databaseUrl === null ? [] : [`store: ${JSON.stringify(storePlaceOf(config))}`]),
    ...(doors === 'look' ? [] : [`the dashboard is for ${doors}`]),
    ...secretsOf(config).map((secret) => `not in the log: ${secret}`),
    ...Object.entries(sources).map(([name, source]) => `${name} is given by ${source}`),
    ...shown.map(({ setting, value }) => `shown: ${setting}: ${JSON.stringify(value)}`),
  ].map((line) =>
    line
      .replaceAll(cwd, '.')
      .replaceAll(JSON.stringify(KEY.trim()).slice(1, -1), 'KEY')
      .replaceAll(KEY.trim(), 'KEY'),
  )
}

test.each(['settings', 'web', 'recipients', 'secrets', 'environment'])('settings are read: %s', (group) =>
  checkExamples(join(import.meta.dirname, `golden/read-${group}.txt`), readExample),
)

test('without a file and without variables every setting has its default, frozen to its leaves', async () => {
  const text = JSON.stringify(plain(STANDARD), null, 2)
  await expect(`${text}\n`).toMatchFileSnapshot('golden/defaults.json')
  const parts = [STANDARD, STANDARD.api, STANDARD.reports, STANDARD.reports[0]]
  expect(parts.every(Object.isFrozen)).toBe(true)
})

test('the settings file is the one that LEADSHEET_CONFIG or --config names, and paths begin at its folder', () => {
  const cwd = folderWith({
    'leadsheet.yaml': 'time_zone: Europe/Paris',
    'other.yaml': 'time_zone: Europe/Rome',
    'deploy/x.yaml': 'data_dir: ../state\nmail: { url: "file:./out box" }\napi: { profile: mine.yaml }',
    'deploy/mine.yaml': 'name: mine',
    'deploy/y.yaml': 'time_zone: UTC',
  })
  const env = { LEADSHEET_CONFIG: 'other.yaml' }
  expect([loadConfig({ cwd, env: {} }).timeZone, loadConfig({ cwd, env }).timeZone]).toEqual([
    'Europe/Paris',
    'Europe/Rome',
  ])
  const named = loadConfig({ cwd, env, file: 'deploy/x.yaml' })
  expect(named).toMatchObject({ file: `${cwd}/deploy/x.yaml`, dataDir: `${cwd}/state` })
  expect(named.mail.url?.reveal()).toBe(`file://${cwd}/state/out%20box`)
  expect(named.api.profile).toMatchObject({ data: { name: 'mine' }, origin: 'deploy/mine.yaml' })
  expect(loadConfig({ cwd, env: {}, file: 'deploy/y.yaml' }).dataDir).toBe(`${cwd}/data`)
  const given = { LEADSHEET_DATA_DIR: 'state', LEADSHEET_MAIL_URL: 'file:outbox' }
  const { dataDir, mail } = loadConfig({ cwd, file: 'deploy/y.yaml', env: given })
  expect([dataDir, mail.url?.reveal()]).toEqual([`${cwd}/state`, `file://${cwd}/state/outbox`])
})

test('a settings file that another user may read names that user and not init', () => {
  const file = join(folderWith({ 'leadsheet.yaml': '' }), 'leadsheet.yaml')
  chmodSync(file, 0)
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.('nobody')
  try {
    expect(() => loadConfig({ file, env: {} })).toThrow(
      expect.objectContaining({
        message: `cannot read the settings file ${file}: EACCES: permission denied`,
        hint: expect.stringMatching(
          /^Run the command as the user who may read it, such as by `sudo -u leadsheet`;/,
        ),
      }),
    )
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

test('secrets in files that every user of the machine can read are warned of, and only those', () => {
  const warningsOf = (yaml: string) => {
    const cwd = folderWith({ 'leadsheet.yaml': yaml, key: 'k-123456' })
    for (const name of ['leadsheet.yaml', 'key']) chmodSync(join(cwd, name), 0o644)
    return loadConfig({ cwd, env: {} }).warnings.map((warning) => warning.replaceAll(cwd, '.'))
  }
  expect(warningsOf('api: { key_file: key }\nmail: { url: "smtp://u:p@h" }')).toEqual([
    'leadsheet.yaml:1:18  api.key_file: every user of this machine can read ./key; chmod 600 it',
    'leadsheet.yaml:2:14  mail.url: every user of this machine can read ./leadsheet.yaml; chmod 600 it',
  ])
  expect(warningsOf('database_url: postgres://app:pw@db.example.com/leads')).toHaveLength(1)
  for (const yaml of [
    'mail: { url: "file:./outbox" }',
    'mail: { url: "smtp://mail.example.com:25" }',
    'database_url: postgres://app@db.example.com/leads',
  ])
    expect(warningsOf(yaml).filter((warning) => warning.includes('can read'))).toEqual([])
})

const API = { LEADSHEET_API_URL: 'https://leads.example.com', LEADSHEET_API_KEY: 'k-123456' }
const MAIL = { LEADSHEET_MAIL_URL: 'smtp://mail.example.com', LEADSHEET_FROM: 'r@example.com' }

test('what the daemon needs is no mail where there are no reports, and no operators to be mailed', () => {
  requireDaemon(load('reports: []', API), true)
  const operators = 'reports: []\nalerts: { recipients: [ops@example.com] }'
  expect(() => requireDaemon(load(operators, API), true)).toThrow('mail.url')
  requireDaemon(load(operators, { ...API, ...MAIL }), true)
})

test('the place of an installation is told without the password of its store', () => {
  const config = load('', {
    LEADSHEET_DATABASE_URL: 'postgres://app:pw@db.example.com:5433/leads?schema=sales',
  })
  expect(placeOf(config)).toMatch(/, postgres:\/\/app@db\.example\.com:5433\/leads\?schema=sales$/)
})

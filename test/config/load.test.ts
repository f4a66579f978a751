import { chmodSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { effectiveSettings, secretsOf } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import { loadConfig } from '../../src/config/load.ts'
import { folderWith } from '../support/folder.ts'

const EVERYTHING = { pipelineIds: null, conditions: [] }

/** Loads `leadsheet.yaml` from a new folder. */
function load(yaml: string, env: Environment = {}, files: Readonly<Record<string, string>> = {}) {
  const cwd = folderWith({ 'leadsheet.yaml': yaml, ...files })
  return { cwd, config: loadConfig({ cwd, env }) }
}

describe('without a file and without variables', () => {
  test('every setting has its default, and api and mail are not set', () => {
    const cwd = folderWith()
    const config = loadConfig({ cwd, env: {} })
    expect(config).toEqual({
      file: null,
      keyFile: null,
      mistakes: [],
      proxy: { http: null, https: null, except: [] },
      api: { url: null, key: null, profile: null, pageSize: 500, runMinutes: 15 },
      dataDir: `${cwd}/data`,
      databaseUrl: null,
      timeZone: 'UTC',
      logLevel: 'info',
      smtp: { url: null },
      mail: {
        from: null,
        replyTo: null,
        maxMb: 20,
        perMinute: 120,
        suppressAfterBounces: 5,
        dkim: null,
      },
      web: {
        listen: { host: '127.0.0.1', port: 8080 },
        publicUrl: null,
        token: null,
        allowedHosts: [],
        trustedProxies: [],
      },
      alerts: { recipients: [], webhook: null, heartbeat: null },
      events: { secret: null },
      recipients: [],
      locale: 'en-GB',
      leadUrl: null,
      holidays: [],
      weekStarts: 'monday',
      goals: [],
      fiscalYearStarts: 1,
      templatesDir: `${cwd}/templates`,
      sync: { schedule: '*/15 * * * *', fullSchedule: '30 3 * * *', pipelines: [] },
      enrichment: { perRun: 10_000 },
      snapshot: { when: 'after_sync', group: null },
      retention: { dailyAfterDays: 365 },
      reports: [
        {
          name: 'daily',
          template: 'daily',
          title: null,
          timeZone: 'UTC',
          schedule: 'every weekday at 07:00',
          catchUp: 'latest',
          period: 'working_day',
          sendWhen: null,
          blocks: null,
          locale: 'en-GB',
          attachments: [],
          waitMinutes: 30,
          onStaleData: 'send',
          filter: EVERYTHING,
          stalledDays: 7,
          topScore: 80,
          recipients: [],
        },
      ],
      warnings: [],
      sources: {},
    })
  })

  test('the result is frozen to its leaves', () => {
    const config = loadConfig({ cwd: folderWith(), env: {} })
    expect([config, config.api, config.reports, config.reports[0]].every(Object.isFrozen)).toBe(true)
  })
})

describe('the settings file', () => {
  test('is leadsheet.yaml of the working directory, or what LEADSHEET_CONFIG or --config names', () => {
    const cwd = folderWith({
      'leadsheet.yaml': 'time_zone: Europe/Paris',
      'other.yaml': 'time_zone: Europe/Rome',
      'third.yaml': 'time_zone: Europe/Oslo',
    })
    const env = { LEADSHEET_CONFIG: 'other.yaml' }
    expect(loadConfig({ cwd, env: {} }).timeZone).toBe('Europe/Paris')
    expect(loadConfig({ cwd, env }).timeZone).toBe('Europe/Rome')
    expect(loadConfig({ cwd, env, file: 'third.yaml' })).toMatchObject({
      timeZone: 'Europe/Oslo',
      file: `${cwd}/third.yaml`,
    })
  })

  test('may be empty, and so may its groups', () => {
    expect(load('').config.api.pageSize).toBe(500)
    expect(load('api:\nmail:\n  #from: x\nsync: {}\n').config.mail.from).toBeNull()
  })

  test.each([
    ['', 'changed', 'default'],
    ['enrichment: { policy: none }', 'none', 'leadsheet.yaml:1:23'],
  ])('is told in the overview with the policy of details: %j', (yaml, value, source) => {
    const settings = effectiveSettings(load(yaml).config)
    expect(settings.find(({ setting }) => setting === 'enrichment.policy')).toMatchObject({ value, source })
  })

  test('gives reports the time zone and the recipients that they do not name', () => {
    const { config } = load(`
time_zone: Europe/Berlin
recipients: [ana@example.com]
reports:
  - name: daily
  - name: emea
    template: daily
    time_zone: Europe/London
    recipients: [bo@example.com]
`)
    expect(config.reports).toMatchObject([
      { template: 'daily', timeZone: 'Europe/Berlin', recipients: [{ address: 'ana@example.com' }] },
      { template: 'daily', timeZone: 'Europe/London', recipients: [{ address: 'bo@example.com' }] },
    ])
  })

  test('counts relative paths from its own folder, but the folder of mails from the data directory', () => {
    const cwd = folderWith({ 'deploy/x.yaml': 'data_dir: ../state\nsmtp: { url: "file:./out box" }' })
    const config = loadConfig({ cwd, env: {}, file: 'deploy/x.yaml' })
    expect(config.dataDir).toBe(`${cwd}/state`)
    expect(config.smtp.url?.reveal()).toBe(`file://${cwd}/state/out%20box`)
  })
})

test('the default data directory is in the working directory, wherever the settings file is', () => {
  const cwd = folderWith({ 'deploy/x.yaml': 'time_zone: UTC' })
  expect(loadConfig({ cwd, env: {}, file: 'deploy/x.yaml' }).dataDir).toBe(`${cwd}/data`)
})

test('a settings file that another user may read names that user and not init', () => {
  const cwd = folderWith({ 'leadsheet.yaml': '' })
  const file = `${cwd}/leadsheet.yaml`
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

describe('the environment', () => {
  test('wins over the file', () => {
    const { config } = load('time_zone: Europe/Paris\nrecipients: [old@example.com]', {
      LEADSHEET_TIME_ZONE: 'Asia/Tokyo',
      LEADSHEET_RECIPIENTS: 'ana@example.com, bo@example.com,',
    })
    expect(config).toMatchObject({
      timeZone: 'Asia/Tokyo',
      recipients: ['ana@example.com', 'bo@example.com'],
      sources: {
        time_zone: 'environment LEADSHEET_TIME_ZONE',
        recipients: 'environment LEADSHEET_RECIPIENTS',
      },
    })
  })

  test('does not count where a variable is empty', () => {
    expect(load('time_zone: Europe/Paris', { LEADSHEET_TIME_ZONE: ' ' }).config.timeZone).toBe('Europe/Paris')
  })

  test('counts relative paths from the working directory', () => {
    const cwd = folderWith({ 'deploy/x.yaml': '' })
    const env = { LEADSHEET_DATA_DIR: 'state', LEADSHEET_SMTP_URL: 'file:outbox' }
    const config = loadConfig({ cwd, file: 'deploy/x.yaml', env })
    expect([config.dataDir, config.smtp.url?.reveal()]).toEqual([
      `${cwd}/state`,
      `file://${cwd}/state/outbox`,
    ])
  })

  test('may hold what Kubernetes sets beside a service called leadsheet', () => {
    const env = {
      LEADSHEET_SERVICE_HOST: '10.0.0.1',
      LEADSHEET_SERVICE_PORT_HTTP: '80',
      LEADSHEET_PORT: 'tcp://10.0.0.1:80',
      LEADSHEET_PORT_80_TCP_ADDR: '10.0.0.1',
    }
    expect(() => loadConfig({ cwd: folderWith(), env })).not.toThrow()
  })
})

describe('secrets', () => {
  test('are read from the file that key_file names, without the line break at its end', () => {
    const { config } = load('api: { key_file: ./key }', {}, { key: 'k-123456\n' })
    expect(config.api.key?.reveal()).toBe('k-123456')
    expect(config.warnings).toEqual([])
  })

  test('a key in the environment replaces a key_file of the settings file', () => {
    const { config } = load('api: { key_file: ./nowhere }', { LEADSHEET_API_KEY: 'from-env' })
    expect(config.api.key?.reveal()).toBe('from-env')
  })

  test('are not shown by printing, serializing or inspecting the configuration', () => {
    const { config } = load('smtp: { url: "smtp://u:hunter2@mail.example.com" }', {
      LEADSHEET_API_KEY: 'k-123456',
    })
    const shown = `${config.api.key} ${JSON.stringify(config)} ${inspect(config, { depth: 9, showHidden: true })}`
    expect(shown).not.toMatch(/k-123456|hunter2/)
    expect(shown).toContain('[redacted]')
  })

  test('are listed for the log, the password as it is written and as it is meant', () => {
    const { config } = load('smtp: { url: "smtp://u:a%40b@mail.example.com" }', {
      LEADSHEET_API_KEY: 'k-123456',
    })
    expect(secretsOf(config)).toEqual(['k-123456', 'a%40b', 'a@b'])
  })

  test('in a file that everyone can read are a warning', () => {
    const cwd = folderWith({ key: 'k-123456', 'leadsheet.yaml': 'smtp: { url: "smtp://u:p@h" }' })
    chmodSync(`${cwd}/key`, 0o644)
    chmodSync(`${cwd}/leadsheet.yaml`, 0o644)
    const { warnings } = loadConfig({ cwd, env: { LEADSHEET_API_KEY_FILE: 'key' } })
    expect(warnings).toEqual([
      `environment  LEADSHEET_API_KEY_FILE: every user of this machine can read ${cwd}/key; chmod 600 it`,
      `leadsheet.yaml:1:14  smtp.url: every user of this machine can read ${cwd}/leadsheet.yaml; chmod 600 it`,
    ])
  })

  test.each(['file:./outbox', 'smtp://mail.example.com:25'])(
    'are none in %s, which has no password',
    (url) => {
      const cwd = folderWith({ 'leadsheet.yaml': `smtp: { url: "${url}" }` })
      chmodSync(`${cwd}/leadsheet.yaml`, 0o644)
      expect(loadConfig({ cwd, env: {} }).warnings).toEqual([])
    },
  )

  test('sent over plain http to another machine are a warning', () => {
    const warned = load('api: { url: "http://leads.internal" }').config.warnings
    expect(warned).toEqual([expect.stringContaining('the API key travels unencrypted to leads.internal')])
    expect(load('api: { url: "http://127.0.0.1:8484" }').config.warnings).toEqual([])
  })
})

// @long
/** `leadsheet init`: its questions on a terminal, and its options without one. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { folderWith } from '../../support/folder.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { clockAt } from '../../support/process/shifted-clock.ts'
import { HAS_TERMINAL, typeTo } from '../../support/process/typed.ts'
import { runWarm } from '../../support/process/warm-leadsheet.ts'
import { startService } from '../../support/service.ts'

const NOW = new Date('2026-11-21T16:00:00Z')
const PASSWORD = 'p ä#:ss@/%'

describe.runIf(HAS_TERMINAL)('on a terminal (script of util-linux)', () => {
  test('answers make settings that work, a test alert comes, and no secret was ever shown', async () => {
    await using service = await startService(folderWith(), NOW, 2)
    const key = await service.createKey({ name: 'init', scope: 'read' })
    await using mail = await openMailServer({
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        done(password === PASSWORD ? null : new Error('wrong password'), { user: username }),
    })
    const cwd = folderWith()
    // A Saturday.
    const typing = typeTo(['init'], { cwd, env: clockAt('2026-11-21T12:00:00Z') })
    await typing.answer('Address of the service', `\x15${service.url}\r`)
    await typing.answer('API key', `${key}\r`)
    await typing.answer('Mail server', `${mail.url}\r`)
    await typing.answer('User', 'reports@example.com\r')
    await typing.answer('Password', `${PASSWORD}\r`)
    await typing.answer('Sender', '\r')
    await typing.answer('Addresses for the report', 'ana@example.com, ben\r')
    await typing.answer('expected an e-mail address', 'ana@example.com, ben@example.com\r')
    await typing.answer('Addresses for alerts', '\r')
    await typing.answer('Time zone', '\x15Europe/Berlin\r')
    await typing.answer('When', '\r')
    await typing.answer('Where the dashboard listens', '127.0.0.1:0\r')
    await typing.answer('Send a test alert', '\r')
    const { screen, status } = await typing.finished()

    expect(status).toBe(0)
    expect(screen).toContain('About ten questions; then leadsheet.yaml is written, and all of it is tested.')
    expect(screen).toMatch(/^ok {4}list of leads /m)
    expect(screen).toMatch(/^ok {4}alert mail +ana@example\.com: 250 /m)
    expect(screen).toMatch(
      /Next\s+npx leadsheet doctor .*\n.*sync .*\n.*report preview daily --to ana@example\.com.*\n.*first report Mon/,
    )
    for (const secret of [key, PASSWORD, encodeURIComponent(PASSWORD)]) expect(screen).not.toContain(secret)
    expect(mail.received[0]?.mail).toMatchObject({
      subject: expect.stringContaining('1 alert: a test'),
      from: { address: 'reports@example.com', name: 'Lead reports' },
    })
    const config = loadConfig({ cwd, env: {} })
    expect(config.warnings).toEqual([])
    expect(config.api.key?.reveal()).toBe(key)
    expect(decodeURIComponent(new URL(config.smtp.url?.reveal() ?? '').password)).toBe(PASSWORD)
    expect(config.recipients).toEqual(['ana@example.com', 'ben@example.com'])
    const settings = readFileSync(join(cwd, 'leadsheet.yaml'), 'utf8')
    for (const secret of [key, encodeURIComponent(PASSWORD)]) expect(settings).not.toContain(secret)
    const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    expect(files.map(({ name }) => name).sort()).toEqual([
      'api-key',
      'leadsheet.yaml',
      'smtp-url',
      'web-token',
    ])
    for (const { parentPath, name } of files)
      expect(statSync(join(parentPath, name)).mode & 0o777, name).toBe(0o600)
  })

  test('Ctrl-C leaves nothing behind', async () => {
    const cwd = folderWith()
    const typing = typeTo(['init'], {
      cwd,
      env: { LEADSHEET_API_URL: 'http://127.0.0.1:9', LEADSHEET_API_KEY: 'k-1234' },
    })
    await typing.answer('Mail server', 'file:./outbox\r')
    await typing.answer('Sender', '\x03')
    const { screen, status } = await typing.finished()
    expect([status, readdirSync(cwd)]).toEqual([130, []])
    expect(screen).not.toContain('Address of the service')
    expect(screen).toMatch(/Nothing was written\.\s*$/)
  })
})

describe('without a terminal', () => {
  const OPTIONS = [
    ...['init', '--api-url', 'http://127.0.0.1:9', '--smtp-url', 'file:./outbox', '--listen', 'none'],
    ...['--from', 'Lead reports <reports@example.com>', '--recipients', 'ana@example.com'],
  ]

  test('options say it all, and the result says what does not answer', async () => {
    const cwd = folderWith({ key: 'k-123456\n' })
    const args = [...OPTIONS, '--key-file', 'key', '--time-zone', 'UTC', '--test-alert', '--json']
    const { status, stdout } = await runWarm(args, { cwd })
    const { files, holidays, checks, next } = JSON.parse(stdout).data
    expect(status).toBe(3)
    expect([files, holidays]).toEqual([[{ path: join(cwd, 'leadsheet.yaml'), what: 'the settings' }], []])
    expect(checks.map(({ what, status }: { what: string; status: string }) => [what, status])).toEqual([
      ...['settings', 'node', 'profile'].map((what) => [what, 'ok']),
      ['list of leads', 'fail'],
      ...['reports', 'mail', 'unsubscribing', 'dashboard', 'alert mail'].map((what) => [what, 'ok']),
    ])
    expect(next[0].command).toContain('doctor')
    expect(readdirSync(join(cwd, 'data', 'outbox'))).toHaveLength(1)
    const config = loadConfig({ cwd, env: {} })
    expect([config.api.key?.reveal(), config.alerts.recipients]).toEqual(['k-123456', ['ana@example.com']])
  })

  test.each([
    ['pipeline_id: queue', false],
    ['status: status', true],
  ])('a profile with %s ends with a line about the name of the pipeline: %s', async (line, isTold) => {
    const profile = `name: x\nendpoints: { leads: /v2/deals }\npaging: { kind: none }\nmapping: { lead: { id: id, ${line} } }\n`
    const cwd = folderWith({ key: 'k-123456\n', 'profile.yaml': profile })
    const { stdout } = await runWarm([...OPTIONS, '--key-file', 'key', '--profile', 'profile.yaml'], { cwd })
    const told =
      /both names stay in reports later:\n {2}pipeline_id: \{ default: Deals \} {3}# below mapping\.lead in profile\.yaml\s*$/
    expect(told.test(stdout)).toBe(isTold)
  })

  test('settings that are there stay as they are', async () => {
    const cwd = folderWith({ 'leadsheet.yaml': 'log_level: debug\n', key: 'k-123456\n' })
    const { status, stderr } = await runWarm([...OPTIONS, '--key-file', 'key'], { cwd })
    expect([status, existsSync(join(cwd, 'secrets'))]).toEqual([2, false])
    expect(stderr).toContain('leadsheet.yaml is there already\nhint: Edit it and run ')
    expect(readFileSync(join(cwd, 'leadsheet.yaml'), 'utf8')).toBe('log_level: debug\n')
  })

  test('a key that is there is used by the option that the hint names, or if the environment names it', async () => {
    const cwd = folderWith({ 'secrets/api-key': 'k-123456\n' })
    const refused = await runWarm(OPTIONS, { cwd })
    expect(refused.status).toBe(2)
    expect(refused.stderr).toMatch(
      /secrets\/api-key is there already\nhint: --key-file \.\/secrets\/api-key uses it as it is, or move/,
    )
    const env = { LEADSHEET_API_KEY_FILE: './secrets/api-key' }
    for (const [args, change] of [
      [['--key-file', './secrets/api-key'], {}],
      [[], { env }],
    ] as const) {
      // The service does not answer, which is told, and the settings are written.
      const { status } = await runWarm([...OPTIONS, ...args], { cwd, ...change })
      expect([status, existsSync(join(cwd, 'leadsheet.yaml'))]).toEqual([3, true])
      rmSync(join(cwd, 'leadsheet.yaml'))
      rmSync(join(cwd, 'secrets', 'web-token'), { force: true })
    }
  })
})

// @long
/** `leadsheet init`: its questions on a terminal, and its options without one. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { folderWith } from '../../support/folder.ts'
import { onlyTokens, USER, withUser } from '../../support/mail/token-login.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { CLIENT, startTokenServer } from '../../support/network/token-server.ts'
import { clockAt, clockStandingAt } from '../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../support/process/transcript.ts'
import { HAS_TERMINAL, typeTo } from '../../support/process/typed.ts'
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
    expect(screen).toContain(
      'About ten questions, and more for a login by OAuth; then leadsheet.yaml is written, and all of it is tested.',
    )
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
    expect(decodeURIComponent(new URL(config.mail.url?.reveal() ?? '').password)).toBe(PASSWORD)
    expect(config.recipients).toEqual(['ana@example.com', 'ben@example.com'])
    const settings = readFileSync(join(cwd, 'leadsheet.yaml'), 'utf8')
    for (const secret of [key, encodeURIComponent(PASSWORD)]) expect(settings).not.toContain(secret)
    const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    expect(files.map(({ name }) => name).sort()).toEqual([
      'api-key',
      'leadsheet.yaml',
      'mail-url',
      'web-token',
    ])
    for (const { parentPath, name } of files)
      expect(statSync(join(parentPath, name)).mode & 0o777, name).toBe(0o600)
    expect(statSync(join(cwd, 'secrets')).mode & 0o777).toBe(0o700)
  })

  test('a login by OAuth for mail is tried at once, corrected once, and its secret gets a file of its own', async () => {
    await using tokens = await startTokenServer()
    await using mail = await openMailServer(onlyTokens(tokens))
    const cwd = folderWith()
    const env = { LEADSHEET_API_URL: 'http://127.0.0.1:9', LEADSHEET_API_KEY: 'k-1234' }
    const typing = typeTo(['init'], { cwd, env })
    const answerLogin = async (secret: string, isFirst: boolean) => {
      await typing.answer('Token URL', isFirst ? `${tokens.url}\r` : '\r')
      await typing.answer('Grant', '\r')
      await typing.answer('Client id', isFirst ? `${CLIENT.id}\r` : '\r')
      await typing.answer('Client secret (', `${secret}\r`)
      for (const question of ['How id and secret', 'Scope']) await typing.answer(question, '\r')
    }
    await typing.answer('Mail server', `\x15${mail.url}\r`)
    await typing.answer('User', `${USER}\r`)
    await typing.answer('Password', 'oauth\r')
    await answerLogin('another-secret', true)
    await typing.answer('401: invalid_client', '')
    await answerLogin(CLIENT.secret, false)
    await typing.answer(`Sender of the report [Lead reports <${USER}>]`, '\r')
    await typing.answer('Addresses for the report', 'ana@example.com\r')
    for (const question of ['Addresses for alerts', 'Time zone', 'When']) await typing.answer(question, '\r')
    await typing.answer('Where the dashboard listens', '\x15none\r')
    await typing.answer('Send a test alert', '\r')
    const { screen } = await typing.finished()

    expect(screen).toMatch(/Check mail\.oauth\.client_id and mail\.oauth\.client_secret, and whether/)
    expect(screen).toMatch(/^ok {4}mail login +client_credentials at http:\S+\/token, token lasts until /m)
    expect(screen).toMatch(/^ok {4}mail +smtp:\S+ lets us in/m)
    expect(screen).toMatch(/^ok {4}alert mail +ana@example\.com: 250 /m)
    for (const secret of ['another-secret', CLIENT.secret, ...tokens.good])
      expect(screen).not.toContain(secret)
    expect(mail.received[0]?.from).toBe(USER)
    const file = join(cwd, 'secrets/mail-client-secret')
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([`${CLIENT.secret}\n`, 0o600])
    const settings = readFileSync(join(cwd, 'leadsheet.yaml'), 'utf8')
    expect(settings).toContain(`url: ${withUser(mail.url)}`)
    expect(settings).toContain('client_secret_file: ./secrets/mail-client-secret')
    expect(settings).not.toContain(CLIENT.secret)
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

test('without a terminal options say it all, the result says what does not answer, and what is there stays', async () => {
  const profile = (lead: string) =>
    `name: x\nendpoints: { leads: /v2/deals }\npaging: { kind: none }\nmapping: { lead: { id: id, ${lead} } }\n`
  const cwd = folderWith({
    key: 'k-123456\n',
    'piped.yaml': profile('pipeline_id: queue'),
    'plain.yaml': profile('status: status'),
  })
  const known = {
    NODE: `${process.versions.node}, zone data ${process.versions['tz']}`,
    ANSWERS:
      "--api-url http://127.0.0.1:9 --mail-url file:./outbox --listen none --from 'Lead reports <reports@example.com>' --recipients ana@example.com",
  }
  const env = clockStandingAt('2026-11-21T12:00:00Z')
  await checkTranscript(join(import.meta.dirname, 'golden/init.txt'), { cwd, env }, known)
})

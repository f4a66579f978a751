/** Nobody between the program and a mail server can read the user or the password. */
import { connect, createServer, type Socket } from 'node:net'
import { setDefaultCACertificates } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { SmtpTimeouts } from '../../src/mail/smtp.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { attempt } from '../support/mail/attempt.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/mail/certificate.ts'
import {
  type Answer,
  openMailServer,
  openScriptedServer,
  refusal,
  type Step,
} from '../support/mail-server.ts'
import { listen } from '../support/network/http-server.ts'
import { SILENT } from '../support/syncing.ts'

const USER = 'dana'
const PASSWORD = 'hunter22'
/** The credentials as text, and in the encodings of the login methods. */
const CREDENTIALS = [PASSWORD, USER, `\0${USER}\0${PASSWORD}`].flatMap((text) => [
  text,
  Buffer.from(text).toString('base64'),
])

/** In latin1, each byte stays the same. */
const asItIs = (text: string) => text

/**
 * Listens between the program and a server, and may change what either says. Its address is 0.0.0.0, which
 * does not count as this machine, so TLS is required.
 */
async function openTap(port: number, { said = asItIs, sent = asItIs } = {}) {
  const chunks: Buffer[] = []
  const sockets = new Set<Socket>()
  const tap = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      server.write(sent(chunk.toString('latin1')), 'latin1')
    })
    server.on('data', (chunk) => client.write(said(chunk.toString('latin1')), 'latin1'))
    client.on('close', () => server.destroy())
    server.on('close', () => client.end())
  })
  return {
    url: `smtp://${USER}:${PASSWORD}@0.0.0.0:${await listen(tap)}`,
    /** Returns everything that the client sent. */
    sent: () => Buffer.concat(chunks).toString('latin1'),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      tap.close()
    },
  }
}

async function send(url: string, timeouts: Partial<SmtpTimeouts> = {}) {
  await using transport = openTransport(url, { log: SILENT, timeouts })
  return attempt(transport)
}

/** Opens a server that accepts mail only from Dana, and only over TLS; `trusted` are the authorities of the program. */
async function openSecureServer(trusted: readonly string[] = [CERTIFICATE]) {
  setDefaultCACertificates(trusted)
  const logins: string[] = []
  const server = await openMailServer({
    key: CERTIFICATE_KEY,
    cert: CERTIFICATE,
    disabledCommands: [],
    authOptional: false,
    onAuth: ({ username, password }, _session, done) => {
      logins.push(`${username} ${password}`)
      const isRight = username === USER && password === PASSWORD
      if (isRight) done(null, { user: username })
      else done(refusal(535, 'wrong'))
    },
  })
  return Object.assign(server, { logins })
}

const stripped = (said: string) => said.replace(/^250([- ])STARTTLS\r\n/m, '250$1HELP\r\n')

function expectNothingToldBy(tap: Awaited<ReturnType<typeof openTap>>): void {
  for (const secret of CREDENTIALS) expect(tap.sent()).not.toContain(secret)
  expect(tap.sent()).not.toMatch(/^(?:AUTH|MAIL|RCPT|DATA)/m)
}

describe('credentials', () => {
  it.each([
    ['nobody on the way', {}],
    ['nobody on the way who hides that the server can encrypt', { said: stripped }],
  ])('reach a server whose certificate holds, and %s', async (_, changes) => {
    await using server = await openSecureServer()
    await using tap = await openTap(server.port, changes)
    expect((await send(tap.url)).failure).toBeNull()
    expect(server.logins).toEqual([`${USER} ${PASSWORD}`])
    expect(server.received).toHaveLength(1)
    expect(tap.sent()).toContain('STARTTLS')
    expectNothingToldBy(tap)
  })

  it.each([
    [
      'somebody on the way keeps the encryption from beginning',
      [CERTIFICATE],
      { said: stripped, sent: (text: string) => text.replace('STARTTLS', 'XXXXXXXX') },
    ],
    ['the certificate is of nobody who is known', [], {}],
  ])('stay here when %s', async (_, trusted, changes) => {
    await using server = await openSecureServer(trusted)
    await using tap = await openTap(server.port, changes)
    expect((await send(tap.url)).failed?.kind).toBe('configuration')
    expect([server.logins, server.received]).toEqual([[], []])
    expectNothingToldBy(tap)
  })

  it('stay here when somebody on the way answers before the encryption begins', async () => {
    await using server = await openSecureServer()
    const injected =
      '250-mail.example.com\r\n250 AUTH PLAIN LOGIN\r\n235 ok\r\n250 ok\r\n250 ok\r\n354 go\r\n250 ok\r\n'
    await using tap = await openTap(server.port, {
      said: (text) => text.replace(/^(220 .*TLS.*\r\n)$/, `$1${injected}`),
    })
    await send(tap.url)
    expectNothingToldBy(tap)
  })

  const scripts: readonly (readonly [string, Partial<Record<Step, Answer>>])[] = [
    ['is busy', { greeting: '421 too busy' }],
    ['says nothing', { greeting: 'stall' }],
    ['knows no encryption', {}],
    [
      'refuses to begin with it',
      { EHLO: '250-mail\r\n250-STARTTLS\r\n250 AUTH PLAIN', STARTTLS: '454 later' },
    ],
    ['wants a login first', { MAIL: '530 log in first' }],
  ]
  it.each(scripts)('stay here when the server %s', async (_when, script) => {
    await using server = await openScriptedServer(script)
    await using tap = await openTap(server.port)
    const { failure } = await send(tap.url, script.greeting === 'stall' ? { greetingMs: 200 } : {})
    expect(failure).toMatchObject({ code: 'mail_unreachable' })
    expectNothingToldBy(tap)
    expect(JSON.stringify([String(failure), failure])).not.toContain(PASSWORD)
  })
})

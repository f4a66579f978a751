import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import type { MessageFile } from '../../src/domain/message.ts'
import { type SmtpTimeouts, serverOf } from '../../src/mail/smtp.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { attempt } from '../support/mail/attempt.ts'
import { FILES, MESSAGE } from '../support/mail/message.ts'
import {
  type Answer,
  judging,
  openMailServer,
  openScriptedServer,
  refusal,
  type Step,
} from '../support/mail-server.ts'
import { SILENT } from '../support/syncing.ts'

const { signal } = new AbortController()
const open = (url: string, timeouts: Partial<SmtpTimeouts> = {}) =>
  openTransport(url, { log: SILENT, timeouts })
/** Returns the address with a user and a password. */
const withUser = (url: string) => url.replace('//', '//dana:hunter22@')

describe('a message sent over SMTP', () => {
  it('arrives as it was written, at its one recipient', async () => {
    await using server = await openMailServer()
    await using transport = open(server.url)
    const { response } = await transport.send(MESSAGE, { signal })
    expect(response).toMatch(/^250 /)
    expect(server.received).toHaveLength(1)
    expect(server.received[0]).toMatchObject({ from: 'reports@example.com', to: ['dana@example.org'] })
    expect(server.received[0]?.mail).toMatchObject({ subject: MESSAGE.subject, messageId: MESSAGE.messageId })
    expect(server.received[0]?.mail.text?.trim()).toBe(MESSAGE.text.trim())
  })

  it('shares a connection, has another long before servers end one for its many messages, and none that is idle', async () => {
    await using server = await openMailServer()
    await using transport = open(server.url, { idleMs: 50 })
    await Promise.all([transport.send(MESSAGE, { signal }), transport.send(MESSAGE, { signal })])
    expect(server.connections()).toBe(1)
    for (let message = 0; message < 58; message++) await transport.send(MESSAGE, { signal })
    expect(server.received).toHaveLength(60)
    expect(server.connections()).toBe(2)
    await expect.poll(() => server.open()).toBe(0)
    await transport.send(MESSAGE, { signal })
    expect(server.connections()).toBe(3)
  })

  it('goes over a new connection when the server closed the idle one', async () => {
    await using server = await openMailServer()
    await using transport = open(server.url)
    await transport.send(MESSAGE, { signal })
    server.dropConnections()
    await transport.send(MESSAGE, { signal })
    expect(server.received).toHaveLength(2)
    expect(server.connections()).toBe(2)
  })

  it.each([
    '502 not implemented',
    '504 5.5.4 mechanism not supported',
    '535 5.7.4 Unrecognized authentication type',
  ])('logs in by LOGIN where PLAIN is answered by %s', async (AUTH) => {
    await using server = await openScriptedServer({ AUTH })
    await using transport = open(withUser(server.url))
    await transport.send(MESSAGE, { signal })
    expect(server.commands.slice(2, 5)).toEqual(['AUTH LOGIN', 'ZGFuYQ==', 'aHVudGVyMjI='])
  })

  it('does not try a refused password again, nor carries on one that is echoed', async () => {
    await using server = await openScriptedServer({ AUTH: '535 5.7.8 hunter22 is not the password of dana' })
    await using transport = open(withUser(server.url))
    const { failure } = await attempt(transport)
    expect(server.commands.filter((command) => command.startsWith('AUTH'))).toHaveLength(1)
    expect(failure?.message).toContain('535 5.7.8 [redacted] is not the password')
  })

  it('waits as long as RFC 5321 wants for each answer, but not for the connection', async () => {
    const { connection, timeouts } = serverOf(new URL('smtp://mail.example.com'))
    expect(connection).toMatchObject({ greetingTimeout: 300_000, socketTimeout: 300_000 })
    expect(connection.connectionTimeout).toBeGreaterThanOrEqual(300_000)
    expect(timeouts).toMatchObject({ connectMs: 30_000, dataReplyMs: 600_000 })
    expect(timeouts.totalMs).toBeGreaterThan(30 * 60_000)
    // An address of RFC 5737 that nothing answers, or that no route leads to.
    await using transport = open('smtp://192.0.2.1:25', { connectMs: 200 })
    expect((await attempt(transport)).failed?.kind).toBe('transient')
  })

  it.each(['RCPT', 'DATA', 'body'] as const)(
    'goes over the same session after one was refused at %s',
    async (step) => {
      await using server = await openScriptedServer({ [step]: '450 4.2.1 later' })
      await using transport = open(server.url)
      for (let message = 0; message < 3; message++) await attempt(transport)
      expect(server.connections()).toBe(1)
      expect(server.commands.filter((command) => command === 'RSET')).toHaveLength(3)
    },
  )

  it('goes over a new session where the server takes no more over the last one', async () => {
    let begun = 0
    await using server = await openMailServer({
      onMailFrom: (_address, session, done) => {
        begun++
        const isSecond = ids.includes(session.id)
        ids.push(session.id)
        done(isSecond ? refusal(451, '4.7.0 too many messages') : null)
      },
    })
    const ids: string[] = []
    await using transport = open(server.url)
    for (let message = 0; message < 3; message++) await transport.send(MESSAGE, { signal })
    expect([server.received.length, server.connections(), begun]).toEqual([3, 3, 5])
  })

  it('leaves out attachments that make it larger than the server takes, and says so', async () => {
    const csv = { ...FILES[2], name: 'stalled & won.csv', content: Buffer.alloc(50_000) } as MessageFile
    const large = { html: `<body class="x">${MESSAGE.html}</body>`, files: [...FILES.slice(0, 1), csv] }
    const limited = { size: 20_000 }
    const refusing: SMTPServerOptions = {
      hideSize: true,
      onData: judging(({ length }) => (length > 20_000 ? refusal(552, '5.3.4 too large') : null)),
    }
    for (const options of [limited, refusing]) {
      await using server = await openMailServer(options)
      await using transport = open(server.url)
      const { response, begun } = await attempt(transport, large)
      expect(response).toMatch(/^250 .*; sent without stalled & won\.csv: too large for the server$/)
      expect([server.connections(), begun]).toEqual([1, 1])
      if (options === refusing) continue
      const [{ mail }] = server.received as [(typeof server.received)[number]]
      expect(mail.attachments.map(({ filename }) => filename)).toEqual(['trend.png'])
      expect(mail.text).toMatch(
        /^Not attached, because the mail server takes no message of this size: stalled & won\.csv\./,
      )
      expect(mail.html).toContain('<body class="x"><p')
      expect(mail.html).toContain('stalled &#38; won.csv')
    }
    await using tiny = await openMailServer({ size: 500 })
    await using transport = open(tiny.url)
    const { failure, failed } = await attempt(transport, large)
    expect([failure?.code, failed?.kind]).toEqual(['mail_rejected', 'permanent'])
    expect(failure?.message).toMatch(
      /takes no message of this size for .*: the message has \d+ bytes, and the server takes at most 500/,
    )
  })
})

describe('the moment from which a message may have left', () => {
  it('comes after the server was ready and before the first byte', async () => {
    await using server = await openScriptedServer({})
    await using transport = open(server.url)
    let before = { commands: [] as readonly string[], bodies: -1 }
    const onData = async () => {
      // A body that was sent too early would arrive in this time.
      await new Promise((resolve) => setTimeout(resolve, 50))
      before = { commands: [...server.commands], bodies: server.bodies() }
    }
    await transport.send(MESSAGE, { signal, onData })
    expect(before.commands.at(-1)).toBe('DATA')
    expect(before.bodies).toBe(0)
    expect(server.bodies()).toBe(1)
  })

  it('keeps the message here when what must come first fails', async () => {
    await using server = await openScriptedServer({})
    await using transport = open(server.url)
    const onData = () => Promise.reject(new Error('the ledger is locked'))
    await expect(transport.send(MESSAGE, { signal, onData })).rejects.toThrow('the ledger is locked')
    expect(server.bodies()).toBe(0)
    await transport.send(MESSAGE, { signal })
    expect(server.bodies()).toBe(1)
  })
})

describe('a failure', () => {
  const SCRIPTS: readonly Partial<Record<Step, Answer>>[] = [
    ...['421 too busy', '554 go away', 'drop', 'stall'].map((greeting) => ({ greeting })),
    ...['454 try later', '535 wrong', '503 no logins here'].map((AUTH) => ({ AUTH })),
    ...['530 log in first', '451 later', '553 not you'].map((MAIL) => ({ MAIL })),
    ...['450 greylisted', '550 no such user', '421 shutting down', 'drop'].map((RCPT) => ({ RCPT })),
    ...['452 no space', '503 bad sequence', 'drop'].map((DATA) => ({ DATA })),
    ...['451 later', '550 5.2.1 disabled', 'drop', 'stall'].map((body) => ({ body })),
  ]

  it('is for now, for good, of the settings or unknown, and says whether the message may have left', async () => {
    const told: string[] = []
    for (const script of SCRIPTS) {
      await using server = await openScriptedServer(script)
      const timeouts = { greetingMs: 200, socketMs: 300, dataReplyMs: 200 }
      await using transport = open(withUser(server.url), timeouts)
      const { failure, failed, begun } = await attempt(transport)
      expect(JSON.stringify([String(failure), failure])).not.toContain('hunter22')
      const said = String(failure).replaceAll(`127.0.0.1:${server.port}`, 'HOST')
      const kind = `${failed?.kind}${begun > 0 ? ', may have left' : ''}`
      told.push(`${JSON.stringify(script)}: ${kind}\n  ${failure?.code} ${said}`)
    }
    await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/failures.txt')
  })

  it('by a signal ends the wait at once', async () => {
    await using server = await openScriptedServer({ body: 'stall' })
    await using transport = open(server.url)
    const stop = new AbortController()
    const onData = () => void setTimeout(() => stop.abort(), 50)
    const { failed } = await attempt(transport, {}, { signal: stop.signal, onData })
    expect(failed?.kind).toBe('unknown')
  })

  it('by taking too long in all is transient', async () => {
    await using server = await openScriptedServer({ MAIL: 'stall' })
    await using transport = open(server.url, { totalMs: 150 })
    const { failure, failed } = await attempt(transport)
    expect([failure?.code, failed?.kind]).toEqual(['mail_unreachable', 'transient'])
  })
})

describe('encryption', () => {
  // Reaches this machine by an address that does not count as it, and adds a user with a password.
  const elsewhere = (url: string) => withUser(url).replace('127.0.0.1', '0.0.0.0')

  it('is done without where the URL allows it', async () => {
    await using server = await openScriptedServer({})
    await using transport = open(`${elsewhere(server.url)}?insecure=true`)
    await transport.send(MESSAGE, { signal })
    expect(server.bodies()).toBe(1)
  })

  it('begins before the login of a user of the URL also on this machine, whose certificate names nobody', async () => {
    const logins: unknown[] = []
    await using server = await openMailServer({
      disabledCommands: [],
      authOptional: false,
      onAuth: ({ username, password }, { secure }, done) => {
        logins.push({ username, password, secure })
        done(null, { user: 'dana' })
      },
    })
    await using transport = open(server.url.replace('//', '//dana%40example.org:p%2Fw@'))
    await transport.verify(signal)
    await transport.send(MESSAGE, { signal })
    expect(logins).toEqual([{ username: 'dana@example.org', password: 'p/w', secure: true }])
    expect(server.received).toHaveLength(1)
  })

  it('is not gone without where this machine offers it and then refuses', async () => {
    const offer = '250-mail\r\n250-STARTTLS\r\n250 AUTH PLAIN'
    await using server = await openScriptedServer({ EHLO: offer, STARTTLS: '454 later' })
    await using transport = open(`${withUser(server.url)}?insecure=true`)
    await attempt(transport)
    expect(server.commands.map((command) => command.split(' ')[0])).toEqual(['EHLO', 'STARTTLS'])
  })

  it('needs a certificate that holds also from the start', async () => {
    await using server = await openMailServer({ secure: true })
    await using transport = open(elsewhere(server.url.replace('smtp:', 'smtps:')))
    expect((await attempt(transport)).failed?.kind).toBe('configuration')
    expect(server.received).toEqual([])
  })
})

/** Logins to mail servers by access tokens, which expire, are revoked, and must stay secret. */
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Tokens } from '../../src/mail/sending.ts'
import { openTransport } from '../../src/mail/transport.ts'
import { TOKENS } from '../support/mail/api-server.ts'
import { attempt } from '../support/mail/attempt.ts'
import { onlyTokens, tokensOf, USER, withUser } from '../support/mail/token-login.ts'
import {
  type Answer,
  judging,
  openMailServer,
  openScriptedServer,
  refusal,
  type Step,
} from '../support/mail-server.ts'
import { startTokenServer, tokenAnswer } from '../support/network/token-server.ts'
import { SILENT } from '../support/syncing.ts'

const TOKEN = 'eyJ0eXAiOiJKV1Qi.aG9+/x_tok-en'
const CHALLENGE = { status: '400', schemes: 'Bearer', scope: 'https://mail.google.com/' }
const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** A mail server that takes nothing but tokens, and a client with tokens of a token server. */
async function openBoth(lifetime?: number) {
  const opened = new AsyncDisposableStack()
  const tokens = opened.use(await startTokenServer(lifetime))
  const server = opened.use(await openMailServer(onlyTokens(tokens)))
  const transport = opened.use(openTransport(withUser(server.url), { log: SILENT, tokens: tokensOf(tokens) }))
  return {
    tokens,
    server,
    send: () => attempt(transport),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Sends a message to a server that follows a script, with these tokens one after the other. */
async function sendTo(script: Partial<Record<Step, Answer>>, tokens: readonly string[] = [TOKEN]) {
  await using server = await openScriptedServer(script)
  let asked = 0
  let closed = 0
  const source: Tokens = {
    current: async () => tokens[Math.min(asked, tokens.length - 1)] ?? '',
    hasOther: async (refused) => tokens[Math.min(++asked, tokens.length - 1)] !== refused,
    close: async () => void closed++,
  }
  const transport = openTransport(withUser(server.url), { log: SILENT, tokens: source })
  const { failure, failed } = await attempt(transport)
  await transport[Symbol.asyncDispose]()
  const logins = server.commands.filter((line) => line.startsWith('AUTH'))
  return { failure, failed, commands: server.commands, logins, asked, closed }
}

describe('a login by a token', () => {
  it('lets a message through where no password does, and the next messages over the same session', async () => {
    await using both = await openBoth()
    for (let message = 0; message < 3; message++) expect(await both.send()).toMatchObject({ failure: null })
    expect([both.server.received.length, both.server.connections(), both.tokens.asked.length]).toEqual([
      3, 1, 1,
    ])
  })

  it.each([
    ['is in the midst of a session', false],
    ['opens a new session', true],
  ])('has another token when it was revoked and the client %s', async (_when, isClosed) => {
    await using both = await openBoth()
    await both.send()
    both.tokens.revoke()
    if (isClosed) both.server.dropConnections()
    expect(await both.send()).toMatchObject({ failure: null })
    expect([both.server.received.length, both.tokens.asked.length]).toEqual([2, 2])
  })

  it('has another token when it was revoked and the server says so of a recipient or of the message', async () => {
    await using tokens = await startTokenServer()
    const { onMailFrom: _, ...login } = onlyTokens(tokens)
    const asks = { RCPT: 0, DATA: 0 }
    const judge = (step: keyof typeof asks, token: unknown) => {
      asks[step]++
      return tokens.takes(String(token)) ? null : refusal(530, '5.7.57 Client not authenticated')
    }
    await using server = await openMailServer({
      ...login,
      onRcptTo: (_address, { user }, done) => done(judge('RCPT', user)),
      onData: judging((_message, { user }) => judge('DATA', user)),
    })
    await using transport = openTransport(withUser(server.url), { log: SILENT, tokens: tokensOf(tokens) })
    await attempt(transport)
    tokens.revoke()
    await attempt(transport)
    expect(asks).toEqual({ RCPT: 3, DATA: 2 })
    const { begun } = await attempt(transport, {}, { onData: tokens.revoke })
    expect([begun, asks, server.connections()]).toEqual([1, { RCPT: 5, DATA: 4 }, 5])
  })

  it('has another token before one expires', async () => {
    await using both = await openBoth(1)
    for (let message = 0; message < 6; message++) {
      expect(await both.send()).toMatchObject({ failure: null })
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect(both.server.received).toHaveLength(6)
    expect(both.tokens.asked.length).toBeGreaterThanOrEqual(2)
  })

  it('is refused for good after the second token, and says what the server said of it', async () => {
    const { failure, failed, logins, closed } = await sendTo(
      {
        AUTH: `334 ${encoded(JSON.stringify(CHALLENGE))}`,
        response:
          '535-5.7.8 Username and Password not accepted. Learn more at\r\n535 5.7.8 https://support.google.com/mail/?p=BadCredentials 4fb4d7f45d1cf-5 - gsmtp',
      },
      ['first-token', 'second-token', 'third-token'],
    )
    expect(logins).toHaveLength(2)
    expect(failed).toMatchObject({ kind: 'configuration', concerns: 'server', replyCode: 535 })
    expect(failure?.message).toMatch(
      /^smtp:\S+ did not take the access token for .*: 535-5\.7\.8 .* gsmtp \{"status":"400".*mail\.google\.com\/"\}$/,
    )
    expect(failure?.hint).toMatch(/^Google refused the login\. With mail\.oauth, the scope is /)
    expect(closed).toBe(1)
  })

  it.each<[string, Partial<Record<Step, Answer>>, string, number]>([
    ['is over', { AUTH: '454 4.7.0 Temporary authentication failure' }, 'transient', 0],
    ['hangs up', { AUTH: 'drop' }, 'transient', 0],
    ['knows no tokens', { AUTH: '504 5.7.4 Unrecognized authentication type' }, 'configuration', 0],
    ['does not take the token', { AUTH: '535 5.7.3 Authentication unsuccessful' }, 'configuration', 1],
  ])(
    'asks for another token only where the token is at fault: the server %s',
    async (_what, script, kind, more) => {
      const { failed, logins, asked } = await sendTo(script)
      expect([failed?.kind, failed?.concerns, logins.length, asked]).toEqual([kind, 'server', 1, more])
    },
  )

  const BEARER = `user=${USER}\x01auth=Bearer ${TOKEN}\x01\x01`
  it.each<[string, string, Partial<Record<Step, Answer>>, string]>([
    ['XOAUTH2 beside passwords', 'LOGIN XOAUTH2', {}, `AUTH XOAUTH2 ${BEARER}`],
    ['XOAUTH2, and it asks for more', 'XOAUTH2', { AUTH: '334 ' }, `AUTH XOAUTH2 ${BEARER}\n${BEARER}`],
  ])('goes by what the server announces: %s', async (_what, methods, script, expected) => {
    const EHLO = `250-mail\r\n250-AUTH ${methods}\r\n250 SIZE`
    const { failure, commands } = await sendTo({ EHLO, ...script })
    expect(failure).toBeNull()
    const decode = (text: string) => Buffer.from(text, 'base64').toString()
    expect(commands.map((line) => line.replace(/[\w+/]{30,}=*$/, decode)).join('\n')).toContain(expected)
  })

  it.each<[string, Partial<Record<Step, Answer>>]>([
    ['the refusal', { AUTH: `535 5.7.8 ${TOKEN} is bad` }],
    ['base64', { AUTH: `535 5.7.8 ${encoded(BEARER)}` }],
    ['the challenge', { AUTH: `334 ${encoded(`{"token":"${TOKEN}"}`)}`, response: '535 no' }],
    ['a later reply', { RCPT: `550 5.7.1 ${TOKEN} may not send` }],
    ['the reply to the message', { body: `554 5.7.1 ${encoded(TOKEN)}` }],
  ])('leaves no token in what is told of a failure, where %s repeats it', async (_where, script) => {
    const { failure, failed } = await sendTo(script)
    const told = `${failure?.stack} ${inspect(failure, { depth: 9 })} ${JSON.stringify(failed)}`
    expect(failed?.said).toContain('[redacted]')
    for (const secret of [TOKEN, encoded(TOKEN), encoded(`{"token":"${TOKEN}"}`)]) {
      expect(told).not.toContain(secret)
      expect(told).not.toContain(secret.slice(4, -4))
    }
  })
})

describe('without a token', () => {
  it.each([
    [
      401,
      { error: 'invalid_client', error_description: 'AADSTS7000222: The keys are expired.' },
      /^Entra does not take the secret of the app/,
    ],
    [400, { error: 'invalid_scope' }, /^Check mail\.oauth\.scope, and which scopes/],
    [503, { error: 'temporarily_unavailable' }, /Wait some minutes|Check mail\.oauth\.token_url/],
  ])(
    'the mail server is not asked, and the answer of the token URL is told: %i',
    async (status, body, hint) => {
      await using both = await openBoth()
      both.tokens.answers.push(tokenAnswer(status, body))
      const { failure, failed } = await both.send()
      expect(failure).toMatchObject({ code: 'mail_unreachable', hint: expect.stringMatching(hint) })
      const kind = status === 503 ? 'transient' : 'configuration'
      expect(failed).toMatchObject({ kind, concerns: 'server', isInMessage: false, replyCode: null })
      expect(failure?.message).toMatch(
        /smtp:\S+ was not asked: no access token: http:\S+\/token answered \d+: /,
      )
      expect(both.server.connections()).toBe(0)
      // Nothing of it stays.
      expect(await both.send()).toMatchObject({ failure: null })
    },
  )

  it('no token goes over a connection without encryption', async () => {
    await using server = await openScriptedServer({ EHLO: '250-mail\r\n250 AUTH XOAUTH2' })
    const url = withUser(server.url).replace('127.0.0.1', '0.0.0.0')
    await using transport = openTransport(url, { log: SILENT, tokens: TOKENS })
    expect((await attempt(transport)).failure?.code).toBe('mail_unreachable')
    expect(server.commands.join('\n')).not.toMatch(/^AUTH/m)
  })
})

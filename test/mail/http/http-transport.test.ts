/** Messages over the API of each provider: what arrives, and what becomes of them where something fails. */
import { createServer as createTlsServer } from 'node:https'
import type { Email } from 'postal-mime'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { TransportOptions } from '../../../src/mail/sending.ts'
import { openTransport, serverNameOf } from '../../../src/mail/transport.ts'
import {
  type ApiReply,
  type ApiScheme,
  fieldIn,
  SCHEMES,
  startMailApi,
  TOKENS,
} from '../../support/mail/api-server.ts'
import { attempt } from '../../support/mail/attempt.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../../support/mail/certificate.ts'
import { FILES, MESSAGE } from '../../support/mail/message.ts'
import { tokensOf } from '../../support/mail/token-login.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { startProxy } from '../../support/network/forward-proxy.ts'
import { listen } from '../../support/network/http-server.ts'
import { startTokenServer, tokenAnswer } from '../../support/network/token-server.ts'
import { SILENT } from '../../support/syncing.ts'

const NOW = '2026-11-21T05:04:00.000Z'
/** The facts of a message of which nothing has left. */
const NOT_SENT = { kind: 'transient', concerns: 'server', isInMessage: false, replyCode: null }

function open(url: string, options: Partial<TransportOptions> = {}) {
  const transport = openTransport(url, { log: SILENT, tokens: TOKENS, now: () => new Date(NOW), ...options })
  onTestFinished(() => transport[Symbol.asyncDispose]())
  return transport
}

describe('a message', () => {
  const message = {
    to: 'dana.lopes@example.org',
    toName: 'Lopes, Dana "D"',
    html: '<p>59 new leads: “a better day”, Müller & Söhne</p><img src="cid:trend@leadsheet">',
    files: FILES,
    inReplyTo: '<before@example.com>',
    unsubscribe: { mailto: 'ops@example.com', url: 'https://leads.example.com/p/1' },
  }
  /** Returns what a mail program shows of a message. The provider makes the Message-ID, the date and the boundaries. */
  const seen = ({ headers, headerLines: _, html, text, messageId: _id, date: _date, ...mail }: Email) => ({
    ...mail,
    html: html?.replaceAll('\r\n', '\n').trim(),
    text: text?.replaceAll('\r\n', '\n').trim(),
    fields: headers
      .filter(({ key }) => /^(?:list-|x-|auto-|content-language)/.test(key))
      .map(({ key, value }) => `${key}: ${value}`)
      .sort(),
  })

  it.each(SCHEMES)('over %s arrives as over SMTP', async (scheme) => {
    await using server = await openMailServer()
    await using smtp = openTransport(server.url, { log: SILENT })
    await attempt(smtp, message)
    await using api = await startMailApi(scheme)
    const { response } = await attempt(open(api.url), message)
    expect(response).toMatch(scheme === 'graph' ? /^202 accepted$/ : /^200 accepted as [\w-]{36}$/)
    const [bySmtp] = server.received
    const [byApi] = api.received
    if (bySmtp === undefined || byApi === undefined) throw new Error('it did not arrive')
    expect(seen(byApi.mail)).toEqual(seen(bySmtp.mail))
    expect(byApi.mail.attachments.map(({ contentId }) => contentId)).toContain('<trend@leadsheet>')
    expect(byApi.to).toBe('dana.lopes@example.org')
    expect(fieldIn(byApi.mail, 'x-leadsheet-id')).toBe('k3m9')
    expect(fieldIn(byApi.mail, 'list-unsubscribe')).toContain('<https://leads.example.com/p/1>')
    if (scheme !== 'resend') expect(byApi.mail.messageId).toBe(MESSAGE.messageId)
  })

  it('over Amazon SES has its id as a tag, one recipient, and an address for bounces', async () => {
    await using api = await startMailApi('ses')
    await attempt(open(api.url, { returnAddress: 'bounces+{id}@example.com' }))
    const { Content: _content, ...about } = JSON.parse(api.received[0]?.body ?? '')
    expect(about).toEqual({
      Destination: { ToAddresses: ['dana@example.org'] },
      FeedbackForwardingEmailAddress: 'bounces+k3m9@example.com',
      EmailTags: [{ Name: 'leadsheet', Value: 'k3m9' }],
    })
    const scope = 'AKIDEXAMPLE/20261121/eu-west-1/ses/aws4_request'
    const { authorization, ...headers } = api.received[0]?.headers ?? {}
    expect(headers['x-amz-date']).toBe('20261121T050400Z')
    expect(authorization).toContain(`Credential=${scope}, SignedHeaders=content-type;host;x-amz-date,`)
  })

  it('goes over the same connection as the one before, or over a new one if the server has closed it', async () => {
    await using api = await startMailApi('gmail')
    let connections = 0
    api.server.on('connection', () => void connections++)
    const transport = open(api.url)
    for (let message = 0; message < 2; message++) await attempt(transport)
    expect(connections).toBe(1)
    api.server.closeAllConnections()
    await expect.poll(() => attempt(transport).then(({ failure }) => failure ?? connections)).toBe(2)
  })

  it('of a named mailbox goes from there, and else from the sender', async () => {
    await using api = await startMailApi('graph')
    for (const user of ['', 'shared%40example.com@']) await attempt(open(api.url.replace('//', `//${user}`)))
    expect(api.asked).toEqual([
      'POST /v1.0/users/reports%40example.com/sendMail',
      'POST /v1.0/users/shared%40example.com/sendMail',
    ])
  })

  it.each([
    ['graph', 2_400_000, []],
    ['gmail', 100_000, [{ status: 413 }]],
  ] as const)(
    'that is too large for %s goes without its attachment, and says so',
    async (scheme, size, acts) => {
      await using api = await startMailApi(scheme)
      const csv = { name: 'all.csv', contentType: 'text/csv', content: Buffer.alloc(size, 'a'), cid: null }
      api.acts.push(...acts)
      const { response, begun } = await attempt(open(api.url), { files: [csv] })
      expect(response).toMatch(/; sent without all\.csv: too large for the server$/)
      expect(api.received[0]?.mail.text).toContain('all.csv')
      expect([api.received.length, api.received[0]?.mail.attachments.length, begun]).toEqual([1, 0, 1])
    },
  )
})

describe('nothing is sent', () => {
  it.each(SCHEMES)(
    'over %s where what must come first fails, and its error comes through',
    async (scheme) => {
      await using api = await startMailApi(scheme)
      const onData = () => {
        throw new Error('the ledger is locked')
      }
      const { failure } = await attempt(open(api.url), {}, { onData })
      expect([failure?.message, api.received]).toEqual(['the ledger is locked', []])
    },
  )

  it.each([
    ['graph://127.0.0.1:1', /^graph:\/\/127\.0\.0\.1:1 could not be reached for .*ECONNREFUSED/],
    ['graph://nowhere.invalid', /ENOTFOUND|EAI_AGAIN/],
  ])('where %s cannot be reached, and that is certain', async (url, words) => {
    const { failure, failed, begun } = await attempt(open(url))
    expect(failure?.message).toMatch(words)
    expect([failed, begun]).toMatchObject([NOT_SENT, 0])
  })
})

describe('a message without a clear answer', () => {
  it.each(
    SCHEMES.flatMap((scheme) =>
      (['drop', 'take and drop', 'half'] as const).map((act) => [scheme, act] as const),
    ),
  )('of %s (%s) is unconfirmed', async (scheme, act) => {
    await using api = await startMailApi(scheme)
    api.acts.push(act)
    const { failure, failed } = await attempt(open(api.url), {}, { queuedAt: NOW })
    expect(failure?.message).toContain('gave no clear answer for dana@example.org')
    const repeatableUntil = scheme === 'resend' ? '2026-11-22T04:04:00.000Z' : null
    expect(failed).toMatchObject({ kind: 'unknown', concerns: 'either', repeatableUntil })
  })

  it('is the same to Resend if sent again, for 24 hours, until a person has it sent again', async () => {
    await using api = await startMailApi('resend')
    api.acts.push('take and drop')
    const clock = { now: new Date(NOW) }
    const transport = open(api.url, { now: () => clock.now })
    const later = { queuedAt: '2026-11-21T09:00:00.000Z' }
    await attempt(transport, {}, { queuedAt: NOW })
    expect((await attempt(transport, {}, { queuedAt: NOW })).response).toMatch(/^accepted as /)
    expect(api.received).toHaveLength(1)
    expect((await attempt(transport, {}, later)).response).toMatch(/^accepted as /)
    expect(api.received).toHaveLength(2)
    const { failed } = await attempt(transport, { text: 'b' }, later)
    expect(failed).toMatchObject({ kind: 'unknown', concerns: 'message' })
    clock.now = new Date('2026-11-22T04:04:00.000Z')
    // The key may have been forgotten, so this may be another copy.
    expect((await attempt(transport, {}, { queuedAt: NOW })).response).toMatch(/^200 accepted as /)
    // A test has no key, so that each is sent.
    for (let test = 0; test < 2; test++) await attempt(transport)
    expect(api.received).toHaveLength(4)
  })
})

describe('an API that is busy', () => {
  const busy = (wait: string, status = 429) => ({ status, headers: { 'retry-after': wait } })

  it.each([408, 429])('is asked again after a short wait (%s)', async (status) => {
    await using api = await startMailApi('graph')
    api.acts.push(busy('0.05', status), busy('0.05', status))
    const { begun } = await attempt(open(api.url))
    expect([api.asked.length, api.received.length, begun]).toEqual([3, 1, 1])
  })

  it('is left alone after four attempts, and before a long wait', async () => {
    await using api = await startMailApi('graph')
    api.acts.push(...Array<ApiReply>(4).fill(busy('0.01')), busy('31'))
    for (const [asked, waitMs] of [
      [4, 10],
      [5, 31_000],
    ] as const) {
      const { failed } = await attempt(open(api.url))
      expect(failed).toMatchObject({ kind: 'transient', concerns: 'server', waitMs })
      expect(api.asked).toHaveLength(asked)
    }
  })
})

it.each([
  ['for an answer, it is unknown what became of the message', 'stall', 'unknown'],
  ['as an API asks for, nothing was sent', { status: 429, headers: { 'retry-after': '29' } }, 'transient'],
] as const)('where the program is told to stop while it waits %s', async (_what, act, kind) => {
  await using api = await startMailApi('graph')
  api.acts.push(act)
  const stop = new AbortController()
  const sending = attempt(open(api.url), {}, { signal: stop.signal })
  await expect.poll(() => api.asked.length).toBe(1)
  stop.abort(new Error('stopped'))
  expect((await sending).failed?.kind).toBe(kind)
})

describe('a token', () => {
  /** Opens an API that takes the good tokens of a token server. */
  async function openWithTokens(scheme: ApiScheme) {
    const server = await startTokenServer()
    const api = await startMailApi(scheme, { allows: server.allows })
    onTestFinished(
      async () => void (await Promise.all([server, api].map((each) => each[Symbol.asyncDispose]()))),
    )
    return { server, api, transport: open(api.url, { tokens: tokensOf(server) }) }
  }

  it.each(['graph', 'gmail'] as const)(
    'of %s that was revoked is renewed, and the message arrives once',
    async (scheme) => {
      const { server, api, transport } = await openWithTokens(scheme)
      await attempt(transport)
      server.revoke()
      const { begun } = await attempt(transport)
      expect([server.asked.length, api.received.length, api.asked.length, begun]).toEqual([2, 2, 3, 1])
    },
  )

  it('that is refused although it is new is a matter of settings, in the words of the API', async () => {
    const { server, api, transport } = await openWithTokens('graph')
    server.lifetime = 0
    const { failure, failed } = await attempt(transport)
    expect(failed).toMatchObject({ kind: 'configuration', concerns: 'server', replyCode: 401 })
    expect(failure?.message).toContain('401 InvalidAuthenticationToken: Lifetime validation failed')
    expect(api.received).toEqual([])
  })

  it('that cannot be had sends nothing, and says why', async () => {
    const { server, api, transport } = await openWithTokens('graph')
    server.answers.push(tokenAnswer(400, { error: 'invalid_client', error_description: 'secret expired' }))
    const { failure, failed } = await attempt(transport)
    expect(failed).toMatchObject({ ...NOT_SENT, kind: 'configuration' })
    expect(failure?.message).toContain('no access token')
    expect(failure?.hint).toContain('mail.oauth.client_secret')
    expect(api.asked).toEqual([])
  })

  it.each(SCHEMES)('or key that %s quotes is not carried on', async (scheme) => {
    await using api = await startMailApi(scheme)
    api.acts.push({ status: 400, body: { message: 'bad: token-4711 re_key-4711 secret-4711' } })
    const { failure } = await attempt(open(api.url))
    const secret = { graph: 'token-4711', gmail: 'token-4711', ses: 'secret-4711', resend: 're_key-4711' }[
      scheme
    ]
    expect(failure?.message).toContain('[redacted]')
    expect(failure?.message).not.toContain(secret)
  })
})

describe('a proxy', () => {
  const through = ({ url }: { url: string }) => ({ proxy: { http: null, https: url, except: [] } })

  it('gets a tunnel to the API, and its refusal does not show the login', async () => {
    await using proxy = await startProxy(403)
    const { failure, failed } = await attempt(open('graph:', through(proxy)))
    expect(failed).toMatchObject(NOT_SENT)
    expect(JSON.stringify([failure?.message, failure?.hint])).not.toContain('4711')
    expect(proxy.asked.map(({ what }) => what)).toEqual(['CONNECT graph.microsoft.com:443'])
  })

  it('shows no message to a server without a valid certificate, which is a matter of settings', async () => {
    const server = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, () => {
      throw new Error('it was asked')
    })
    const port = await listen(server)
    onTestFinished(() => void server.close())
    await using proxy = await startProxy()
    const { failed } = await attempt(open(`gmail://gmail.example.com:${port}`, through(proxy)))
    expect(proxy.asked.map(({ what }) => what)).toEqual([`CONNECT gmail.example.com:${port}`])
    expect(failed).toMatchObject({ ...NOT_SENT, kind: 'configuration' })
  })
})

it.each([
  ['graph:', 'graph://graph.microsoft.com'],
  ['gmail:', 'gmail://gmail.googleapis.com'],
  ['graph://a%40b.example@dod-graph.microsoft.us', 'graph://dod-graph.microsoft.us'],
  ['ses://id:secret@email.eu-west-1.amazonaws.com', 'ses://email.eu-west-1.amazonaws.com'],
  ['resend://:key@api.resend.com', 'resend://api.resend.com'],
])('%s is named %s', (url, name) => {
  expect(serverNameOf(url)).toBe(name)
})

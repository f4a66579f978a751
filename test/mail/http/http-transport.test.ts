/** Messages over the API of each provider: what arrives, and what becomes of them where something fails. */
import { createServer as createTlsServer } from 'node:https'
import type { Email } from 'postal-mime'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Message } from '../../../src/domain/message.ts'
import type { LeadsheetError } from '../../../src/errors.ts'
import { openOAuthKeys } from '../../../src/login/oauth-keys.ts'
import { failedSendOf, type TransportOptions } from '../../../src/mail/sending.ts'
import { openTransport, serverNameOf } from '../../../src/mail/transport.ts'
import { folderWith } from '../../support/folder.ts'
import {
  type ApiReply,
  type ApiScheme,
  fieldIn,
  SCHEMES,
  startMailApi,
} from '../../support/mail/api-server.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../../support/mail/certificate.ts'
import { FILES, MESSAGE } from '../../support/mail/message.ts'
import { openMailServer } from '../../support/mail-server.ts'
import { startProxy } from '../../support/network/forward-proxy.ts'
import { listen } from '../../support/network/http-server.ts'
import { loginOf, startTokenServer, tokenAnswer } from '../../support/network/token-server.ts'
import { SILENT } from '../../support/syncing.ts'

const { signal } = new AbortController()
const NOW = '2026-11-21T05:04:00.000Z'
const TOKENS = {
  current: async () => 'token-4711',
  hasOther: async () => false,
  close: async () => undefined,
}

function open(url: string, options: Partial<TransportOptions> = {}) {
  const transport = openTransport(url, { log: SILENT, tokens: TOKENS, now: () => new Date(NOW), ...options })
  onTestFinished(() => transport.close())
  return transport
}

const failureOf = (sending: Promise<unknown>) =>
  sending.then(
    () => null,
    (thrown: unknown) => thrown as Error & { hint?: string },
  )

describe('a message', () => {
  const message: Message = {
    ...MESSAGE,
    to: 'dana.lopes@example.org',
    toName: 'Lopes, Dana "D"',
    html: '<p>59 new leads: “a better day”, Müller & Söhne</p><img src="cid:trend@leadsheet">',
    files: FILES,
    inReplyTo: '<before@example.com>',
    unsubscribe: { mailto: 'ops@example.com', url: 'https://leads.example.com/p/1' },
  }
  /** What a mail program shows of a message. The provider makes the Message-ID, the date and the boundaries. */
  const seen = ({ headers, attachments, html, text, ...mail }: Email) => ({
    from: mail.from,
    to: mail.to,
    replyTo: mail.replyTo,
    subject: mail.subject,
    inReplyTo: mail.inReplyTo,
    references: mail.references,
    html: html?.replaceAll('\r\n', '\n').trim(),
    text: text?.replaceAll('\r\n', '\n').trim(),
    fields: Object.fromEntries(
      headers
        .filter(({ key }) => /^(?:list-|x-|auto-|content-language)/.test(key))
        .map(({ key, value }) => [key, value]),
    ),
    attachments: attachments.map(({ filename, mimeType, disposition, contentId, content }) => ({
      filename,
      mimeType,
      disposition,
      contentId,
      content: Buffer.from(content as ArrayBuffer).toString('base64'),
    })),
  })

  it.each(SCHEMES)('over %s arrives as over SMTP', async (scheme) => {
    await using server = await openMailServer()
    await using smtp = openTransport(server.url, { log: SILENT })
    await smtp.send(message, { signal })
    await smtp.close()
    await using api = await startMailApi(scheme)
    const { response } = await open(api.url).send(message, { signal })
    expect(response).toMatch(scheme === 'graph' ? /^202 accepted$/ : /^200 accepted as [\w-]{36}$/)
    const [bySmtp] = server.received
    const [byApi] = api.received
    if (bySmtp === undefined || byApi === undefined) throw new Error('it did not arrive')
    expect(seen(byApi.mail)).toEqual(seen(bySmtp.mail))
    expect(seen(byApi.mail).attachments.map(({ contentId }) => contentId)).toContain('<trend@leadsheet>')
    expect(byApi.to).toBe('dana.lopes@example.org')
    expect(fieldIn(byApi.mail, 'x-leadsheet-id')).toBe('k3m9')
    expect(fieldIn(byApi.mail, 'list-unsubscribe')).toContain('<https://leads.example.com/p/1>')
    if (scheme !== 'resend') expect(byApi.mail.messageId).toBe(message.messageId)
  })

  it('over Amazon SES has its id as a tag, one recipient, and an address for bounces', async () => {
    await using api = await startMailApi('ses')
    await open(api.url, { returnAddress: 'bounces+{id}@example.com' }).send(MESSAGE, { signal })
    const { Content: _content, ...about } = JSON.parse(api.received[0]?.body ?? '')
    expect(about).toEqual({
      Destination: { ToAddresses: ['dana@example.org'] },
      FeedbackForwardingEmailAddress: 'bounces+k3m9@example.com',
      EmailTags: [{ Name: 'leadsheet', Value: 'k3m9' }],
    })
    const scope = 'AKIDEXAMPLE/20261121/eu-west-1/ses/aws4_request'
    expect(api.received[0]?.headers).toMatchObject({
      'x-amz-date': '20261121T050400Z',
      authorization: expect.stringContaining(
        `Credential=${scope}, SignedHeaders=content-type;host;x-amz-date,`,
      ),
    })
  })

  it('goes over the same connection as the one before, or over a new one if the server has closed it', async () => {
    await using api = await startMailApi('gmail')
    let connections = 0
    api.server.on('connection', () => void connections++)
    const transport = open(api.url)
    for (let message = 0; message < 2; message++) await transport.send(MESSAGE, { signal })
    expect(connections).toBe(1)
    api.server.closeAllConnections()
    await expect.poll(() => transport.send(MESSAGE, { signal }).then(() => connections)).toBe(2)
  })

  it('of a named mailbox goes from there, and else from the sender', async () => {
    await using api = await startMailApi('graph')
    await open(api.url).send(MESSAGE, { signal })
    await open(api.url.replace('//', '//shared%40example.com@')).send(MESSAGE, { signal })
    expect(api.asked).toEqual([
      'POST /v1.0/users/reports%40example.com/sendMail',
      'POST /v1.0/users/shared%40example.com/sendMail',
    ])
  })

  it.each([
    ['graph', 2_400_000, {}],
    ['gmail', 100_000, { status: 413 }],
  ] as const)(
    'that is too large for %s goes without its attachment, and says so',
    async (scheme, size, refusal) => {
      await using api = await startMailApi(scheme)
      const csv = { name: 'all.csv', contentType: 'text/csv', content: Buffer.alloc(size, 'a'), cid: null }
      if ('status' in refusal) api.acts.push(refusal)
      let begun = 0
      const onData = () => void begun++
      const { response } = await open(api.url).send({ ...MESSAGE, files: [csv] }, { signal, onData })
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
      const failure = await failureOf(open(api.url).send(MESSAGE, { signal, onData }))
      expect(failure?.message).toBe('the ledger is locked')
      expect(api.received).toEqual([])
    },
  )

  it.each([
    ['graph://127.0.0.1:1', 'transient', /^graph:\/\/127\.0\.0\.1:1 could not be reached for .*ECONNREFUSED/],
    ['graph://nowhere.invalid', 'transient', /ENOTFOUND|EAI_AGAIN/],
  ])('where %s cannot be reached, and that is certain', async (url, kind, words) => {
    let begun = 0
    const onData = () => void begun++
    const failure = await failureOf(open(url).send(MESSAGE, { signal, onData }))
    expect(failure?.message).toMatch(words)
    expect(failedSendOf(failure)).toMatchObject({
      kind,
      concerns: 'server',
      isInMessage: false,
      replyCode: null,
    })
    expect(begun).toBe(0)
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
    const failure = await failureOf(open(api.url).send(MESSAGE, { signal, queuedAt: NOW }))
    expect(failure?.message).toContain('gave no clear answer for dana@example.org')
    const repeatableUntil = scheme === 'resend' ? '2026-11-22T04:04:00.000Z' : null
    expect(failedSendOf(failure)).toMatchObject({ kind: 'unknown', concerns: 'either', repeatableUntil })
  })

  it('is so after the program was told to stop', async () => {
    await using api = await startMailApi('ses')
    api.acts.push('stall')
    const stop = new AbortController()
    const sending = open(api.url).send(MESSAGE, { signal: stop.signal })
    await expect.poll(() => api.asked.length).toBe(1)
    stop.abort(new Error('stopped'))
    expect(failedSendOf(await failureOf(sending))?.kind).toBe('unknown')
  })

  it('is the same to Resend if sent again, for 24 hours, until a person has it sent again', async () => {
    await using api = await startMailApi('resend')
    api.acts.push('take and drop')
    const clock = { now: new Date(NOW) }
    const transport = open(api.url, { now: () => clock.now })
    await failureOf(transport.send(MESSAGE, { signal, queuedAt: NOW }))
    expect((await transport.send(MESSAGE, { signal, queuedAt: NOW })).response).toMatch(/^accepted as /)
    expect(api.received).toHaveLength(1)
    const queuedAt = '2026-11-21T09:00:00.000Z'
    expect((await transport.send(MESSAGE, { signal, queuedAt })).response).toMatch(/^accepted as /)
    expect(api.received).toHaveLength(2)
    const changed = await failureOf(transport.send({ ...MESSAGE, text: 'b' }, { signal, queuedAt }))
    expect(failedSendOf(changed)).toMatchObject({ kind: 'unknown', concerns: 'message' })
    clock.now = new Date('2026-11-22T04:04:00.000Z')
    // The key may have been forgotten, so this may be another copy.
    expect((await transport.send(MESSAGE, { signal, queuedAt: NOW })).response).toMatch(/^200 accepted as /)
    // A test has no key, so that each is sent.
    for (let test = 0; test < 2; test++) await transport.send(MESSAGE, { signal })
    expect(api.received).toHaveLength(4)
  })
})

describe('an API that is busy', () => {
  it.each([429, 503])('is asked again after a short wait (%s)', async (status) => {
    await using api = await startMailApi('graph')
    const busy = { status, headers: { 'retry-after': '0.05' } }
    api.acts.push(busy, busy)
    let begun = 0
    await open(api.url).send(MESSAGE, { signal, onData: () => void begun++ })
    expect([api.asked.length, api.received.length, begun]).toEqual([3, 1, 1])
  })

  it('is left alone after four attempts, and before a long wait', async () => {
    await using api = await startMailApi('graph')
    const busy = { status: 429, headers: { 'retry-after': '0.01' } }
    api.acts.push(busy, busy, busy, busy, { status: 429, headers: { 'retry-after': '31' } })
    for (const asked of [4, 5]) {
      const failed = failedSendOf(await failureOf(open(api.url).send(MESSAGE, { signal })))
      expect(failed).toMatchObject({
        kind: 'transient',
        concerns: 'server',
        waitMs: asked === 4 ? 10 : 31_000,
      })
      expect(api.asked).toHaveLength(asked)
    }
  })

  it('ends the wait when the program is told to stop, and nothing was sent', async () => {
    await using api = await startMailApi('graph')
    api.acts.push({ status: 429, headers: { 'retry-after': '29' } })
    const stop = new AbortController()
    const sending = open(api.url).send(MESSAGE, { signal: stop.signal })
    await expect.poll(() => api.asked.length).toBe(1)
    stop.abort(new Error('stopped'))
    expect(failedSendOf(await failureOf(sending))?.kind).toBe('transient')
  })
})

describe('a token', () => {
  /** Opens an API that takes the good tokens of a token server. */
  async function openWithTokens(scheme: ApiScheme) {
    const opened = new AsyncDisposableStack()
    const server = opened.use(await startTokenServer())
    const api = opened.use(await startMailApi(scheme, { allows: server.allows }))
    const file = `${folderWith()}/tokens.db`
    const keys = openOAuthKeys(loginOf(server.url, { settings: 'mail.oauth' }), {
      log: SILENT,
      file,
      now: () => new Date(),
      maxWaitMs: 100,
      backoff: { attempts: 1, baseMs: 0, maxMs: 0 },
    })
    const transport = open(api.url, { tokens: keys })
    return { server, api, transport, [Symbol.asyncDispose]: () => opened.disposeAsync() }
  }

  it.each(['graph', 'gmail'] as const)(
    'of %s that was revoked is renewed, and the message arrives once',
    async (scheme) => {
      await using made = await openWithTokens(scheme)
      await made.transport.send(MESSAGE, { signal })
      made.server.good.clear()
      let begun = 0
      await made.transport.send(MESSAGE, { signal, onData: () => void begun++ })
      expect([made.server.asked.length, made.api.received.length, made.api.asked.length, begun]).toEqual([
        2, 2, 3, 1,
      ])
    },
  )

  it('that is refused although it is new is a matter of settings, in the words of the API', async () => {
    await using made = await openWithTokens('graph')
    made.server.lifetime = 0
    const failure = await failureOf(made.transport.send(MESSAGE, { signal }))
    expect(failedSendOf(failure)).toMatchObject({ kind: 'configuration', concerns: 'server', replyCode: 401 })
    expect(failure?.message).toContain('401 InvalidAuthenticationToken: Lifetime validation failed')
    expect(made.api.received).toEqual([])
  })

  it.each([
    [
      400,
      { error: 'invalid_client', error_description: 'secret expired' },
      'configuration',
      'mail.oauth.client_secret',
    ],
    [500, 'oops', 'transient', 'mail.oauth.token_url'],
  ] as const)('that cannot be had (%s) sends nothing, and says why', async (status, body, kind, hint) => {
    await using made = await openWithTokens('graph')
    made.server.answers.push(tokenAnswer(status, body))
    const failure = await failureOf(made.transport.send(MESSAGE, { signal }))
    expect(failedSendOf(failure)).toMatchObject({
      kind,
      concerns: 'server',
      isInMessage: false,
      replyCode: null,
    })
    expect(failure?.message).toContain('no access token')
    expect(failure?.hint).toContain(hint)
    expect(made.api.asked).toEqual([])
  })

  it.each(SCHEMES)('or key that %s quotes is not carried on', async (scheme) => {
    await using api = await startMailApi(scheme)
    api.acts.push({ status: 400, body: { message: 'bad: token-4711 re_key-4711 secret-4711' } })
    const failure = await failureOf(open(api.url).send(MESSAGE, { signal }))
    const secret = scheme === 'resend' ? 're_key-4711' : scheme === 'ses' ? 'secret-4711' : 'token-4711'
    expect(failure?.message).toContain('[redacted]')
    expect(failure?.message).not.toContain(secret)
  })
})

describe('a proxy', () => {
  it('gets a tunnel to the API, and its refusal does not show the login', async () => {
    await using proxy = await startProxy(403)
    const failure = await failureOf(
      open('graph:', { proxy: { http: null, https: proxy.url, except: [] } }).send(MESSAGE, { signal }),
    )
    expect(failedSendOf(failure)).toMatchObject({ kind: 'transient', isInMessage: false })
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
    const failure = await failureOf(
      open(`gmail://gmail.example.com:${port}`, { proxy: { http: null, https: proxy.url, except: [] } }).send(
        MESSAGE,
        { signal },
      ),
    )
    expect(proxy.asked.map(({ what }) => what)).toEqual([`CONNECT gmail.example.com:${port}`])
    expect(failedSendOf(failure)).toMatchObject({
      kind: 'configuration',
      concerns: 'server',
      isInMessage: false,
    })
  })
})

describe('a test of the login', () => {
  const quota = { Max24HourSend: 50_000, MaxSendRate: 14, SentLast24Hours: 120 }
  const account = { SendingEnabled: true, ProductionAccessEnabled: true, SendQuota: quota }
  const denied: ApiReply = {
    status: 403,
    headers: { 'x-amzn-errortype': 'AccessDeniedException' },
    body: { message: 'not authorized to perform: ses:GetAccount' },
  }
  const noScope = {
    error: { code: 403, errors: [{ reason: 'insufficientPermissions' }], message: 'insufficient scopes' },
  }
  const answers: readonly (readonly [ApiScheme, ApiReply, string])[] = [
    ['graph', { status: 403, body: { error: { code: 'Authorization_RequestDenied' } } }, 'GET /v1.0/me'],
    ['graph', { status: 400, body: { error: { code: 'BadRequest' } } }, 'GET /v1.0/me'],
    [
      'graph',
      { status: 401, body: { error: { code: 'InvalidAuthenticationToken', message: 'bad audience' } } },
      'GET /v1.0/me',
    ],
    ['gmail', { status: 403, body: noScope }, 'GET /gmail/v1/users/me/profile'],
    [
      'gmail',
      {
        status: 403,
        body: { error: { errors: [{ reason: 'accessNotConfigured' }], message: 'Gmail API is disabled.' } },
      },
      'GET /gmail/v1/users/me/profile',
    ],
    ['ses', { status: 200, body: account }, 'GET /v2/email/account'],
    ['ses', { status: 200, body: { ...account, ProductionAccessEnabled: false } }, 'GET /v2/email/account'],
    ['ses', { status: 200, body: { ...account, SendingEnabled: false } }, 'GET /v2/email/account'],
    ['ses', denied, 'GET /v2/email/account'],
    [
      'resend',
      {
        status: 200,
        body: {
          data: [
            { name: 'example.com', status: 'verified' },
            { name: 'b.example', status: 'pending' },
          ],
        },
      },
      'GET /domains',
    ],
    ['resend', { status: 200, body: { data: [] } }, 'GET /domains'],
    ['resend', { status: 401, body: { name: 'restricted_api_key', message: 'only sends' } }, 'GET /domains'],
    ['resend', { status: 500, body: { name: 'application_error', message: 'oops' } }, 'GET /domains'],
  ]

  it('says no more than is known', async () => {
    const lines: string[] = []
    for (const [scheme, answer, asked] of answers) {
      await using api = await startMailApi(scheme)
      api.acts.push(answer)
      const transport = open(api.url)
      const said = await transport.verify(signal).then(
        (found) => `ok: ${transport.name} ${found}`,
        (thrown: LeadsheetError) => `fail: ${thrown.message}\n  ${thrown.hint}`,
      )
      expect(api.asked).toEqual([asked])
      lines.push(said.replaceAll(api.host, 'HOST'))
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/verify.txt')
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

import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import { fixedKey } from '../../../src/upstream/client/key-source.ts'
import type { Call } from '../../../src/upstream/client/request.ts'
import {
  type Client,
  type ClientOptions,
  createClient,
} from '../../../src/upstream/client/retrying-client.ts'
import { openHttpServer } from '../../support/network/http-server.ts'
import { fakeTimer } from '../../support/schedule/timer.ts'
import { SILENT } from '../../support/syncing.ts'
import { bytes } from '../../support/upstream.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const KEY = 'canary-4711-secret'
const MIB = 1024 * 1024
const BACKOFF = { attempts: 5, baseMs: 500, maxMs: 20_000 }

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

type Server = Awaited<ReturnType<typeof serve>>

/** Gives each request the next answer. The last answer is repeated. */
async function serve(...answers: readonly Answer[]) {
  const requests: IncomingMessage[] = []
  const server = await openHttpServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]
    requests.push(request)
    answer?.(request, response)
  })
  return { ...server, url: new URL('/api/v1/leads', server.url), requests }
}

const reply =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = '{}'): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body)
  }
const ok = reply(200, {}, '{"ok":true}')
const silent: Answer = () => undefined
const CONFLICT = reply(409, {}, '{"error":"changed by a concurrent update"}')
const reset: Answer = (request) => void request.socket.destroy()

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const BEGINNING = '{"data":[{"id":"torn"}'
const CHUNK = `transfer-encoding: chunked\r\n\r\n${BEGINNING.length.toString(16)}\r\n${BEGINNING}\r\n`

/** Calls once. Attempts follow without waiting, unless the upstream asks for a wait. */
async function call(
  server: Server,
  options: Partial<ClientOptions> = {},
  request: Partial<Call> = {},
): Promise<{ answer: unknown; usage: Client['usage'] }> {
  const client = open(options)
  try {
    return {
      answer: (await client.call({ method: 'GET', url: server.url, ...request })).body,
      usage: client.usage,
    }
  } finally {
    await client.close()
  }
}

function open(options: Partial<ClientOptions> = {}): Client {
  return createClient({
    apiKey: KEY,
    authorize: (_url, headers) => {
      headers['authorization'] = `Bearer ${KEY}`
    },
    maxWaitMs: 60_000,
    userAgent: 'leadsheet',
    log: SILENT,
    now: () => NOW,
    backoff: { attempts: 3, baseMs: 0, maxMs: 0 },
    ...options,
  })
}

it('the query of a call has %20 for a space, which servers take a + literally for, and leaves a link of theirs as it is', async () => {
  await using server = await serve(ok)
  const filter = new URL(server.url)
  filter.searchParams.set('$filter', 'at ge 2026+x')
  await call(server, {}, { url: filter })
  await call(server, { authorize: (url) => url.searchParams.set('key', 'a b') }, { url: filter })
  await call(server, {}, { url: new URL('?after=2026-01-01T00:00:00+01:00', server.url) })
  await call(server, {}, { url: new URL('?after=a+b', server.url), isLink: true })
  expect(server.requests.map(({ url }) => url?.split('?')[1])).toEqual([
    '%24filter=at%20ge%202026%2Bx',
    '%24filter=at%20ge%202026%2Bx&key=a%20b',
    'after=2026-01-01T00:00:00+01:00',
    'after=a+b',
  ])
  await using refusing = await serve(reply(422))
  const withKey = { authorize: (url: URL) => url.searchParams.set('api_key', KEY) }
  const failure = await call(refusing, withKey, { url: new URL(`?q=a+b`, refusing.url) }).catch(String)
  expect(refusing.requests[0]?.url).toContain(`api_key=${KEY}`)
  expect(failure).toMatch(/\?q=a%20b.* answered 422/)
  expect(failure).not.toContain(KEY)
})

describe('a call', () => {
  it('sends the key, and what it is and takes', async () => {
    await using server = await serve(ok)
    expect((await call(server)).answer).toEqual({ ok: true })
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      accept: 'application/json, application/*;q=0.5',
      'accept-encoding': 'gzip',
      'user-agent': 'leadsheet',
    })
  })

  it.each([
    ['a connection that is reset', reset],
    ['a reset in the midst of a body in chunks', bytes(HEAD + CHUNK, 'reset')],
    ['a body shorter than its length', bytes(`${HEAD}content-length: 900\r\n\r\n${BEGINNING}`)],
    ['a body longer than its length', bytes(`${HEAD}content-length: 9\r\n\r\n${BEGINNING}`)],
    ['a body that ends with the connection', bytes(`${HEAD}connection: close\r\n\r\n${BEGINNING}`)],
    ['JSON that breaks off', reply(200, {}, '{"data":[')],
    ['JSON with a bracket too many', reply(200, {}, `${BEGINNING}]}}`)],
    [
      'gzip that breaks off',
      reply(200, { 'content-encoding': 'gzip' }, gzipSync('{"ok":true}').subarray(0, 20)),
    ],
    ['what says it is gzip and is not', reply(200, { 'content-encoding': 'gzip' }, 'no gzip')],
  ])('asks again after %s, and gives up after so many attempts', async (_name, fault) => {
    await using passing = await serve(fault, ok)
    expect(await call(passing)).toMatchObject({ answer: { ok: true }, usage: { requests: 2 } })
    await using lasting = await serve(fault)
    await expect(call(lasting)).rejects.toMatchObject({
      code: 'api_unreachable',
      message: expect.stringContaining('after 3 attempts'),
    })
    expect(lasting.requests).toHaveLength(3)
    expect(lasting.requests.filter(({ headers }) => headers.range)).toEqual([])
  })

  it('asks again where nobody listens, and says so', async () => {
    const server = await serve(ok)
    await server[Symbol.asyncDispose]()
    await expect(call(server)).rejects.toThrow('failed after 3 attempts: connect ECONNREFUSED')
  })

  const text = '{"name":"Müller €"}'
  const latin = Buffer.from(text.replace('€', '\x80'), 'latin1')
  const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le')
  it.each([
    [{ 'content-type': 'application/json; charset=ISO-8859-1' }, latin],
    [{ 'content-type': 'application/json; charset=utf-16' }, utf16],
    [{ 'content-type': 'application/json' }, utf16],
    [{ 'content-type': 'application/json' }, Buffer.from(utf16).swap16()],
    [
      { 'content-type': 'application/json; charset=Shift_JIS' },
      Buffer.from('{"name":"\x83\x7d"}', 'latin1'),
      'マ',
    ],
    // Many services name this old default and send UTF-8.
    [{ 'content-type': 'text/html; charset=ISO-8859-1' }, text],
    [{ 'content-type': 'application/octet-stream' }, `\uFEFF ${text}`],
    [{ 'content-type': '' }, text],
    [{ 'content-encoding': 'utf-8' }, text],
    [{ 'content-encoding': 'br' }, ` \n${text}`],
    [{ 'content-encoding': 'GZIP' }, gzipSync(text)],
  ])('reads JSON as it is sent under %j (%#)', async (headers, body, name = 'Müller €') => {
    await using server = await serve(reply(200, headers, body))
    expect((await call(server)).answer).toEqual({ name })
  })

  it('is ended by its signal, with the reason of that', async () => {
    await using server = await serve(silent)
    const stop = new AbortController()
    const reason = new Error('told to stop')
    await expect(call(server, {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const calling = expect(call(server, {}, { signal: stop.signal })).rejects.toBe(reason)
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    stop.abort(reason)
    await calling
  })
})

type Refusal = readonly [string, number, Record<string, string>?, (string | Buffer)?]

const STATUSES = [
  ...[301, 400, 401, 403, 404, 408, 409, 410, 420, 422, 423, 425, 429, 430, 477],
  ...[500, 501, 502, 503, 504, 505, 509, 511, 512, 520, 521, 522, 524, 525, 526, 529, 530, 561, 598, 599],
]
const HTML = { 'content-type': 'text/html' }
const PLAIN = { 'content-type': 'text/plain' }

const wait = (time: string) => ({ 'retry-after': time, date: NOW.toUTCString() })

/** Answers by what they are. */
const REFUSALS: readonly Refusal[] = [
  ...STATUSES.map((status): Refusal => ['the status', status]),
  ['another place', 301, { location: 'https://evil.example/leads?key=a-key' }],
  ['another path', 308, { location: '/v2/leads' }],
  ['a list of errors', 400, {}, '{"errors":[{"title":"Bad","detail":"no such sort"}]}'],
  ['an error', 400, {}, '{"error":{"code":7,"message":"bad limit"}}'],
  ['a bare list of errors', 400, {}, '[{"errorCode":"X","message":"too many"}]'],
  ['no JSON', 400, {}, 'not even JSON'],
  ['JSON that breaks off', 200, {}, BEGINNING],
  ['a web page', 200, HTML, '<h1>Sign in</h1>'],
  ['a long text', 200, PLAIN, 'x'.repeat(9000)],
  ['an empty body', 200, PLAIN, ''],
  ['a line of text', 200, PLAIN, '[Error] no tenant'],
  ['a page called plain', 200, { 'content-encoding': 'none', ...HTML }, '<h1>Hi'],
  ['a charset', 200, { 'content-type': 'application/json; charset=x-klingon' }, '{}'],
  ['an encoding', 200, { 'content-encoding': 'br' }, '[\x01\x02{"'],
  ['a bomb', 200, { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(65 * MIB))],
  ['a flood', 200, {}, Buffer.alloc(33 * MIB, ' ')],
  ['a page', 403, HTML, '<!DOCTYPE html><title>Attention Required!</title>'],
  ['a page under another type', 403, PLAIN, ' <html><h1>Access denied</h1></html>'],
  ['JSON', 403, {}, '{"message":"scope leads:read is missing"}'],
  ['a text', 403, PLAIN, 'Forbidden'],
  ['nothing of a page', 403, HTML, ''],
  ['XML', 403, { 'content-type': 'text/xml' }, '<?xml version="1.0"?><Error/>'],
  ['another conflict', 409, {}, '{"error":"exists already"}'],
  ['one at a time', 409, {}, '{"error":"CONCURRENT_REQUEST_LIMIT_EXCEEDED"}'],
  ['one at a time', 400, {}, '{"code":"SSS_CONCURRENCY","message":"Too many simultaneous calls"}'],
  ['one at a time', 429, {}, '{"message":"Only one request at a time is allowed"}'],
  ['one at a time', 503, {}, '{"message":"You may not send requests in parallel"}'],
  ['a wait in seconds, longer than a run may take', 429, wait('3601')],
  ['a wait until a date', 429, wait('Sat, 21 Nov 2026 08:30:00 GMT')],
  ['a wait of many years', 429, wait('9999999999')],
  ['a wait in the answer to each attempt', 429, wait('30')],
  ['a wait of three days', 429, wait('259200')],
]

it('what is refused is asked again or not, and told with what to do', async () => {
  const told: string[] = []
  for (const [what, status, headers, body] of REFUSALS) {
    await using server = await serve(reply(status, headers, body))
    const failure = await call(server, { timer: fakeTimer() }).catch((thrown: unknown) => thrown)
    if (!(failure instanceof LeadsheetError)) throw failure
    const { code, message, hint, notBefore } = failure
    const times = `${server.requests.length} request(s), ${code}${notBefore ? ` until ${notBefore}` : ''}`
    told.push(`${what}, ${status}: ${times}\n  ${message.replaceAll(server.url.host, 'HOST')}\n  ${hint}`)
  }
  await expect(`${told.join('\n\n')}\n`).toMatchFileSnapshot('golden/refusals.txt')
})

describe('a key that was rotated', () => {
  const expired = (status: number) => reply(status, {}, '"token expired"')
  const wants =
    (key: string, status = 401): Answer =>
    (request, response) =>
      request.headers.authorization === key ? ok(request, response) : expired(status)(request, response)
  const authorize: ClientOptions['authorize'] = (_url, headers, key) => {
    headers['authorization'] = key
  }

  it.each([401, 403])('is read again after a %i, and the request is sent once more', async (status) => {
    await using server = await serve(wants('new-key-4712', status))
    let reads = 0
    const readKey = () => {
      reads++
      return 'new-key-4712'
    }
    const client = open({
      authorize,
      apiKey: fixedKey(KEY, readKey),
      backoff: { attempts: 1, baseMs: 0, maxMs: 0 },
    })
    const calls = [1, 2, 3].map(() => client.call({ method: 'POST', url: server.url, body: {} }))
    for (const { body } of await Promise.all(calls)) expect(body).toEqual({ ok: true })
    await client.call({ method: 'GET', url: server.url })
    expect(reads).toBe(1)
    expect(server.requests.length).toBeLessThanOrEqual(7)
    await client.close()
  })

  it.each([
    ['the same key', 401, () => KEY, 1],
    ['no key', 401, () => null, 1],
    ['another key that is refused too', 401, () => 'other-key-4713', 2],
    ['a key, but after a 403', 403, () => 'new-key-4712', 1],
  ])('is not asked with again if the file has %s', async (_what, status, readKey, requests) => {
    await using server = await serve(
      reply(status, {}, '{"message":"neither canary-4711-secret nor other-key-4713"}'),
    )
    await expect(call(server, { authorize, apiKey: fixedKey(KEY, readKey) })).rejects.toMatchObject({
      code: status === 401 ? 'api_unauthorized' : 'api_forbidden',
      message: expect.stringMatching(/neither \[redacted\] nor (\[redacted\]|other-key-4713)$/),
    })
    expect(server.requests).toHaveLength(requests)
  })
})

it.each([
  ['Sat, 21 Nov 2026 05:50:00 GMT', {}, 600_000],
  ['Sat, 21 Nov 2026 05:50:00 GMT', { age: '540' }, 60_000],
  ['none', {}, null],
])('our clock is compared with the Date %s of an answer', async (date, more, aheadMs) => {
  await using server = await serve(reply(200, { date, ...more }))
  const client = open()
  expect(client.clockAheadMs()).toBeNull()
  await client.call({ method: 'GET', url: server.url })
  expect(client.clockAheadMs()).toBe(aheadMs)
  await client.close()
})

/** A clock whose waits end when the test has moved it on. */
function steppedTimer() {
  let now = 0
  let waits: { readonly until: number; readonly end: () => void }[] = []
  return {
    now: () => now,
    wait: async (ms: number) => {
      if (ms > 0) await new Promise<void>((end) => void waits.push({ until: now + ms, end }))
    },
    waits: () => waits.map(({ until }) => until).toSorted((a, b) => a - b),
    goTo(ms: number) {
      now = ms
      const over = waits.filter(({ until }) => until <= now)
      waits = waits.filter(({ until }) => until > now)
      for (const { end } of over) end()
    },
  }
}

it('an upstream that says "too fast" is left alone as long by requests that were about to leave', async () => {
  await using server = await serve(reply(429, { 'retry-after': '0.4' }), ok)
  const timer = steppedTimer()
  const client = open({ timer, requestsPerSecond: 20 })
  const calls = [1, 2, 3].map(() => client.call({ method: 'GET', url: server.url }))
  await expect.poll(() => timer.waits()).toEqual([50, 100, 400])
  timer.goTo(100)
  await expect.poll(() => timer.waits()).toEqual([400, 400, 400])
  timer.goTo(399)
  expect(server.requests).toHaveLength(1)
  timer.goTo(400)
  await Promise.all(calls)
  await client.close()
  expect(server.requests).toHaveLength(4)
})

it('an upstream that fails is asked again after waits drawn anew from a growing range', async () => {
  await using server = await serve(...[500, 502, 503, 504].map((status) => reply(status)), ok)
  const timer = fakeTimer()
  const draws = [0.5, 1, 0.1, 0.5]
  await call(server, { timer, backoff: BACKOFF, random: () => draws.shift() ?? 0 })
  expect(timer.waits).toEqual([250, 1000, 200, 2000])
})

it.each<readonly [string, Answer, NonNullable<ClientOptions['deadlines']>]>([
  ['says nothing', silent, { attemptMs: 100 }],
  ['sends no headers', silent, { headersMs: 100 }],
  [
    'drips its body',
    (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 20)
      request.socket.once('close', () => clearInterval(drip))
    },
    { attemptMs: 100, bodyGapMs: 90 },
  ],
  [
    'stops in the midst of its body',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"data":[')
    },
    { bodyGapMs: 100 },
  ],
])('a deadline ends each attempt at a server that %s', async (_name, answer, deadlines) => {
  await using server = await serve(answer)
  const started = performance.now()
  await expect(call(server, { deadlines })).rejects.toMatchObject({
    code: 'api_unreachable',
    message: expect.stringContaining('failed after 3 attempts'),
  })
  expect(server.requests).toHaveLength(3)
  expect(performance.now() - started).toBeGreaterThanOrEqual(270)
  expect(performance.now() - started).toBeLessThan(10_000)
})

it.each([
  ['a 503, which leaves open what became of it', reply(503), 'api_unreachable', {}],
  ['a reset, which leaves open what became of it', reset, 'api_unreachable', {}],
  ['a conflict, which is no limit of requests at a time', CONFLICT, 'api_rejected', { idempotencyKey: 'k' }],
])('a POST is not sent again after %s', async (_name, fault, code, more) => {
  await using server = await serve(fault, ok)
  const created = call(server, {}, { method: 'POST', body: { name: 'x' }, ...more })
  await expect(created).rejects.toMatchObject({ code })
  expect(server.requests).toHaveLength(1)
})

it('the key goes to no other place than the one that was called', async () => {
  await using elsewhere = await serve(ok)
  for (const status of [301, 302, 303, 307, 308]) {
    await using server = await serve(reply(status, { location: elsewhere.url.href }))
    await expect(call(server)).rejects.toMatchObject({ code: 'api_unexpected' })
  }
  expect(elsewhere.requests).toEqual([])
})

it('a connection that is kept and dropped by the other side meanwhile costs an attempt, not the call', async () => {
  await using server = await serve(ok, reset, ok)
  const client = open()
  const request = { method: 'GET', url: server.url } as const
  await client.call(request)
  expect((await client.call(request)).body).toEqual({ ok: true })
  expect(client.usage).toMatchObject({ requests: 3, retries: 1 })
  await client.close()
})

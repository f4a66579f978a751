/**
 * The one place that speaks HTTP to the upstream. Every attempt has deadlines and a bounded body that is
 * always read; the retry policy is ours, since undici's own cuts Retry-After and asks for parts of a list.
 */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Agent, type Dispatcher } from 'undici'
import { LeadsheetError } from '../errors.ts'
import { type Log, redactor } from '../log.ts'
import { type Backoff, backoffMs, retryAfterMs, wait } from '../retry.ts'
import { isPassingError, isPassingStatus, refusal, unexpected, unreachable } from './failure.ts'
import { parseJson } from './json.ts'

const CONNECT_TIMEOUT_MS = 5_000
const HEADERS_TIMEOUT_MS = 15_000
const BODY_GAP_TIMEOUT_MS = 15_000
const ATTEMPT_TIMEOUT_MS = 60_000
const KEEP_ALIVE_MS = 4_000
const WIRE_BYTES_MAX = 32 * 1024 * 1024
const BODY_BYTES_MAX = 64 * 1024 * 1024
const BACKOFF: Backoff = { attempts: 5, baseMs: 500, maxMs: 20_000 }
const QUOTE_CHARS = 200
/** No upstream puts a run off for longer than a day: what asks for more is a mistake, or its clock is wrong. */
const DEFERRAL_MAX_MS = 24 * 60 * 60_000

export interface ClientOptions {
  readonly apiKey: string
  /** The longest wait that an upstream may ask for inside a run; a longer one ends it as deferred. */
  readonly maxWaitMs: number
  readonly userAgent: string
  readonly log: Log
  readonly now?: () => Date
  readonly random?: () => number
  readonly backoff?: Backoff
  readonly attemptTimeoutMs?: number
}

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly body?: unknown
  /** Lets a POST be repeated safely; without one it is sent once. */
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

export interface Client {
  /**
   * The parsed JSON of a 2xx answer.
   * @throws LeadsheetError api_*; the signal's reason when it ends the call
   */
  call(call: Call): Promise<unknown>
  /** Requests sent, and how many of them were repeats. */
  readonly usage: { readonly requests: number; readonly retries: number }
  close(): Promise<void>
}

/** An attempt that failed in a way which asking again may cure. */
interface Passing {
  readonly cause: LeadsheetError
  readonly waitMs: number | null
}

export function createClient(options: ClientOptions): Client {
  const now = options.now ?? (() => new Date())
  const random = options.random ?? Math.random
  const backoff = options.backoff ?? BACKOFF
  const usage = { requests: 0, retries: 0 }
  // An upstream may quote the key that it refuses.
  const redact = redactor([options.apiKey])
  const dispatcher = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_GAP_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: 10_000,
    maxResponseSize: WIRE_BYTES_MAX,
  })

  return {
    usage,
    close: () => dispatcher.close(),
    async call(call) {
      const canRepeat = call.method === 'GET' || call.idempotencyKey !== undefined
      const attempts = canRepeat ? backoff.attempts : 1
      for (let attempt = 1; ; attempt++) {
        usage.requests++
        if (attempt > 1) usage.retries++
        const outcome = await tryOnce(call, attempt)
        if (!('cause' in outcome)) return outcome.body
        if (outcome.waitMs !== null && outcome.waitMs > options.maxWaitMs)
          throw deferred(call.url, outcome.waitMs)
        if (attempt === attempts) throw outcome.cause
        const ms = outcome.waitMs ?? backoffMs(backoff, attempt, random())
        options.log.warn({ attempt, waitMs: ms, code: outcome.cause.code }, outcome.cause.message)
        await wait(ms, call.signal ?? new AbortController().signal)
      }
    },
  }

  async function tryOnce(call: Call, attempt: number): Promise<{ body: unknown } | Passing> {
    const deadline = AbortSignal.timeout(options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS)
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline
    try {
      const answer = await dispatcher.request({
        origin: call.url.origin,
        path: call.url.pathname + call.url.search,
        method: call.method,
        headers: headersOf(call, options),
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal,
      })
      return read(call.url, answer, await textOf(answer), attempt)
    } catch (thrown) {
      call.signal?.throwIfAborted()
      if (thrown instanceof LeadsheetError) throw thrown
      if (!isPassingError(thrown)) throw permanent(call.url, thrown)
      return { cause: unreachable(call.url, attempt, thrown), waitMs: null }
    }
  }

  function read(
    url: URL,
    answer: Dispatcher.ResponseData,
    text: string,
    attempt: number,
  ): { body: unknown } | Passing {
    const status = answer.statusCode
    const isJson = /^application\/([\w.-]+\+)?json\b/i.test(headerOf(answer, 'content-type') ?? '')
    if (status < 200 || status > 299) {
      const cause = refusal(status, url, redact(isJson ? problemText(text) : quote(text)))
      if (!isPassingStatus(status)) throw cause
      return { cause, waitMs: retryAfterMs(headerOf(answer, 'retry-after'), now()) }
    }
    if (!isJson)
      throw unexpected(url, `answered ${status} but not with JSON: ${redact(quote(text)) || 'an empty body'}`)
    try {
      return { body: parseJson(text) }
    } catch (cause) {
      return { cause: unreachable(url, attempt, cause), waitMs: null }
    }
  }

  function deferred(url: URL, waitMs: number): LeadsheetError {
    const notBefore = new Date(now().getTime() + Math.min(waitMs, DEFERRAL_MAX_MS)).toISOString()
    return new LeadsheetError('api_deferred', `${url.origin} asks to wait until ${notBefore}`, {
      hint: `The run goes on from where it was after that; api.max_wait_seconds is ${options.maxWaitMs / 1000}.`,
      notBefore,
    })
  }
}

const unzip = promisify(gunzip)

/** The whole body as text, unpacked; both sizes are bounded. */
async function textOf(answer: Dispatcher.ResponseData): Promise<string> {
  const wire = Buffer.from(await answer.body.arrayBuffer())
  const isPacked = headerOf(answer, 'content-encoding')?.trim().toLowerCase() === 'gzip'
  const bytes = isPacked ? await unzip(wire, { maxOutputLength: BODY_BYTES_MAX }) : wire
  // Not toString, which would leave a byte order mark in front of the JSON.
  return new TextDecoder().decode(bytes)
}

function headersOf(call: Call, options: ClientOptions): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    authorization: `Bearer ${options.apiKey}`,
    'user-agent': options.userAgent,
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
  }
}

function headerOf(answer: Dispatcher.ResponseData, name: string): string | null {
  const value = answer.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? null
}

/** What a problem document (RFC 9457) or a common error body says, in one line. */
function problemText(text: string): string {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) {
      for (const name of ['detail', 'message', 'error', 'title']) {
        const said: unknown = Reflect.get(body, name)
        if (typeof said === 'string' && said !== '') return quote(said)
      }
    }
  } catch {
    // Not JSON after all: the text itself is the best there is.
  }
  return quote(text)
}

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > QUOTE_CHARS ? `${line.slice(0, QUOTE_CHARS)}…` : line
}

/** A failure that asking again would repeat: told apart from a bug of ours by undici's or the parser's code. */
function permanent(url: URL, thrown: unknown): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' || code === 'ERR_BUFFER_TOO_LARGE') {
    return unexpected(url, 'answered with more than is read: 32 MiB on the wire, 64 MiB unpacked')
  }
  return /^(UND_ERR|HPE|ERR_|E[A-Z]+$|CERT|DEPTH|SELF|UNABLE|Z_)/.test(code)
    ? unreachable(url, 1, thrown)
    : thrown
}

/**
 * Sends all HTTP requests to the upstream. Each attempt has deadlines and a maximum size of the body. Failed
 * requests are sent again by our own rules and not by undici's, which may wait for less time than Retry-After
 * says and may request only the missing rest of a body.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { openDispatcher, type ProxySettings } from '../../proxy.ts'
import { dataRedactor, redactor, withoutLearnedSecrets } from '../../redaction.ts'
import { BACKOFF, type Backoff, backoffMs, wait } from '../../retry.ts'
import { type Answer, type Failed, failed, readAnswer } from './answer.ts'
import { secretsOfKey, withKey } from './authorize.ts'
import { fixedKey, type KeySource } from './key-source.ts'
import { createRequestRate } from './rate-limit.ts'
import { type Call, requestTarget } from './request.ts'
import { isPassingError, isWireError, mayHaveArrived, undecided, unreachable } from './upstream-failure.ts'

/** The deadlines for the steps of one attempt, in milliseconds. */
const DEADLINES = {
  connectMs: 5_000,
  headersMs: 15_000,
  bodyGapMs: 15_000,
  /** The maximum time of the whole attempt, for a body that arrives slowly in small pieces. */
  attemptMs: 60_000,
}
type Deadlines = Readonly<typeof DEADLINES>

/** Servers keep an idle connection longer, so a request rarely meets one that is just closing. */
const KEEP_ALIVE_MS = 4_000

/** A clock that is never set back or forward, for rate limits and waits. */
interface Timer {
  readonly now: () => number
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The maximum time for which requests are deferred. An upstream that asks for more is mistaken. */
const DEFERRAL_MAX_MS = 24 * 60 * 60_000

export interface ClientOptions {
  readonly authorize: (url: URL, headers: Record<string, string>, apiKey: string) => void
  /** The API key or where it comes from. Each key is removed from everything that the upstream sends. */
  readonly apiKey: string | KeySource
  /** A further secret of every request, which is removed likewise. */
  readonly secret?: string | undefined
  readonly proxy?: ProxySettings | undefined
  /** Returns further secrets that are removed from quoted text. */
  readonly otherSecrets?: () => readonly string[]
  /** If the upstream asks for a longer wait, the run ends as deferred. */
  readonly maxWaitMs: number
  readonly userAgent: string
  readonly log: Log
  /** Our own rate limit. If absent, only the upstream limits the rate. */
  readonly requestsPerSecond?: number | undefined
  readonly now?: () => Date
  readonly timer?: Timer
  readonly random?: () => number
  readonly backoff?: Backoff | undefined
  readonly deadlines?: Partial<Deadlines>
}

export type Usage = Client['usage']

export type Client = ReturnType<typeof createClient>

export function createClient(options: ClientOptions) {
  const now = options.now ?? (() => new Date())
  const timer = options.timer ?? { now: () => performance.now(), wait }
  const random = options.random ?? Math.random
  const backoff = options.backoff ?? BACKOFF.upstream
  const deadlines = { ...DEADLINES, ...options.deadlines }
  const gapMs = options.requestsPerSecond === undefined ? 0 : 1000 / options.requestsPerSecond
  const usage = { requests: 0, retries: 0, throttled: 0 }
  const shownUsage: Readonly<typeof usage> = usage
  const requestRate = createRequestRate(timer.now)
  let notBefore = 0
  let askedUntil = 0
  let clockAheadMs: number | null = null
  const keys = typeof options.apiKey === 'string' ? fixedKey(options.apiKey) : options.apiKey
  let knownKeys: readonly string[] = []
  let secrets: readonly string[] = []
  let hideKey = dataRedactor(secrets)
  learnKeys()
  const redact = (text: string) =>
    redactor([...secrets, ...(options.otherSecrets?.() ?? [])])(withoutLearnedSecrets(text))
  const dispatcher = openDispatcher(options.proxy, {
    // Certificates are always checked. Otherwise an environment variable of Node could turn the check off.
    connect: { timeout: deadlines.connectMs, rejectUnauthorized: true },
    headersTimeout: deadlines.headersMs,
    bodyTimeout: deadlines.bodyGapMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: 10_000,
  })

  return {
    usage: shownUsage,
    redact,
    /** Null if no answer had a Date header. */
    clockAheadMs: () => clockAheadMs,
    forgetClock(): void {
      clockAheadMs = null
    },
    async close(): Promise<void> {
      await Promise.all([keys.close(), dispatcher.close()])
    },
    /**
     * Sends a request and returns an answer with a status 2xx and its parsed JSON. A body that is cut off or
     * broken counts like a missing answer: the request is sent again.
     * @throws LeadsheetError api_*; the signal's reason if the signal ends the call
     */
    async call<T>(call: Call<T>): Promise<Answer<T>> {
      const signal = call.signal ?? new AbortController().signal
      const canRepeat = call.method !== 'POST' || call.isRead === true || call.idempotencyKey !== undefined
      const attempts = canRepeat ? backoff.attempts : 1
      let isUndecided = false
      for (let attempt = 1; ; attempt++) {
        let { outcome, key } = await sendInTurn(call, attempt, signal, attempt > 1)
        const isRefused = 'error' in outcome && outcome.error.code === 'api_unauthorized'
        if (isRefused && (await keys.hasOther(key, signal)))
          ({ outcome, key } = await sendInTurn(call, attempt, signal, true))
        // The cast is safe: if the call has no parser of its own, T is unknown.
        if (!('error' in outcome)) return outcome as Answer<T>
        const { error, isPassing, isThrottled, waitMs } = outcome
        isUndecided ||= outcome.isUndecided
        if (isThrottled) usage.throttled++
        if (waitMs !== null) {
          if (waitMs > options.maxWaitMs || attempt === attempts) throw postpone(call.url, waitMs)
          requestRate.block(waitMs)
        }
        if (!isPassing || attempt === attempts) throw fateOf(call, error, isUndecided)
        // A wait that the upstream asked for is not done here, because all requests do it in takeRequest.
        const pauseMs = backoffMs(backoff, attempt, random())
        const code = isThrottled ? 'api_deferred' : error.code
        options.log.warn({ attempt, waitMs: waitMs ?? pauseMs, code }, error.message)
        if (waitMs === null) await timer.wait(pauseMs, signal)
      }
    },
  }

  /** @throws LeadsheetError api_deferred if the wait is too long */
  async function takeRequest(url: URL, signal: AbortSignal): Promise<void> {
    refuseEarly(url)
    const turn = requestRate.takeRequest(gapMs, options.maxWaitMs)
    if (!turn.isTaken) throw postpone(url, turn.inMs)
    await timer.wait(turn.inMs, signal)
    // During the wait, the answer to another request may have asked for a longer wait.
    while (turn.inMs > 0 && requestRate.blockedMs() > 0) await timer.wait(requestRate.blockedMs(), signal)
    refuseEarly(url)
  }

  function refuseEarly(url: URL): void {
    if (now().getTime() < notBefore) throw deferred(url)
  }

  /** Sends a request as soon as the rate allows it. */
  async function sendInTurn(
    call: Call,
    attempt: number,
    signal: AbortSignal,
    isRetry: boolean,
  ): Promise<{ readonly outcome: Answer | Failed; readonly key: string }> {
    await takeRequest(call.url, signal)
    const key = await keys.current(signal)
    learnKeys()
    usage.requests++
    if (isRetry) usage.retries++
    const sent = await send(call, key, attempt)
    const outcome = 'error' in sent ? { ...sent, error: withoutSecrets(sent.error) } : sent
    return { outcome, key }
  }

  /** Learns the keys, because an upstream may quote one, also a refused one or in base64. */
  function learnKeys(): void {
    if (knownKeys === keys.known()) return
    knownKeys = keys.known()
    secrets = [options.secret ?? '', ...knownKeys.flatMap(secretsOfKey)]
    hideKey = dataRedactor(secrets)
  }

  /** Removes the secrets from an error, whose URL may be a link of the upstream with the key in it. */
  function withoutSecrets({ code, message, hint, cause }: LeadsheetError): LeadsheetError {
    return new LeadsheetError(
      code,
      redact(message),
      hint === undefined ? { cause } : { cause, hint: redact(hint) },
    )
  }

  async function send(call: Call, key: string, attempt: number): Promise<Answer | Failed> {
    const deadline = AbortSignal.timeout(deadlines.attemptMs)
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline
    const url = withKey(call.url, key)
    const headers = headersOf(call, options)
    options.authorize(url, headers, key)
    try {
      const response = await dispatcher.request({
        origin: url.origin,
        path: requestTarget(url, call.isLink),
        method: call.method,
        headers,
        body: call.form?.toString() ?? (call.body === undefined ? null : JSON.stringify(call.body)),
        signal,
      })
      const { statusCode, body } = response
      clockAheadMs = aheadOf(response.headers, now()) ?? clockAheadMs
      const hidden = JSON.parse(hideKey(Buffer.from(JSON.stringify(response.headers))).toString())
      const asked = { call, attempt, now: now(), redact, hideKey, keys }
      const outcome = await readAnswer({ statusCode, headers: hidden, body }, asked)
      call.signal?.throwIfAborted()
      return outcome
    } catch (thrown) {
      call.signal?.throwIfAborted()
      if (!isWireError(thrown)) throw thrown
      return {
        ...failed(unreachable(call.url, attempt, thrown)),
        isPassing: isPassingError(thrown),
        isUndecided: mayHaveArrived(thrown),
      }
    }
  }

  /**
   * Stops all requests of this client for `waitMs` milliseconds, but for at most 24 hours. A request that is
   * just about to be sent is stopped too.
   * @returns the error to throw
   */
  function postpone(url: URL, waitMs: number): LeadsheetError {
    const boundedMs = Math.min(waitMs, DEFERRAL_MAX_MS)
    askedUntil = Math.max(askedUntil, Math.ceil(now().getTime() + waitMs))
    notBefore = Math.max(notBefore, Math.ceil(now().getTime() + boundedMs))
    requestRate.forget()
    return deferred(url)
  }

  function deferred(url: URL): LeadsheetError {
    const instant = new Date(notBefore).toISOString()
    // An upstream may ask for a wait of thousands of years. A Date cannot hold more than 8.64e15
    // milliseconds.
    const asked = askedUntil > notBefore ? new Date(Math.min(askedUntil, 8.64e15)).toISOString() : instant
    const again =
      asked === instant ? 'after that' : `when it is asked again at ${instant}, a day away at most`
    return new LeadsheetError('api_deferred', `${url.origin} asks to wait until ${asked}`, {
      hint: `The run goes on from where it was ${again}; within a run it waits for up to ${options.maxWaitMs / 1000} s.`,
      notBefore: instant,
    })
  }
}

/** Null without a Date header. The age of an answer from a cache (RFC 9111, 5.1) is subtracted. */
function aheadOf({ date, age }: IncomingHttpHeaders, now: Date): number | null {
  const aheadMs = now.getTime() - Date.parse(date ?? '') - Number(age ?? 0) * 1000
  return Number.isFinite(aheadMs) ? aheadMs : null
}

/** A POST that writes also says if it may have been carried out. All others can be sent again without harm. */
function fateOf(call: Call, error: LeadsheetError, isUndecided: boolean): LeadsheetError {
  return call.method === 'POST' && call.isRead !== true && isUndecided
    ? undecided(error, call.idempotencyKey)
    : error
}

function headersOf(call: Call, options: ClientOptions): Record<string, string> {
  return {
    // A server may have its list only as application/vnd.api+json. To */* Rails answers with HTML.
    accept: 'application/json, application/*;q=0.5',
    'accept-encoding': 'gzip',
    'user-agent': options.userAgent,
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(call.form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
    ...call.headers,
  }
}

/**
 * Sends all HTTP requests to the upstream. Every attempt has deadlines and a limit for its body. The retry
 * policy is our own, because that of undici shortens Retry-After and requests only the rest of a list that
 * was cut off.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { loadPackage } from '../../packages.ts'
import { BACKOFF, type Backoff, backoffMs, wait } from '../../retry.ts'
import { type Answer, type Failed, readAnswer } from './answer.ts'
import { redactorOf } from './authorize.ts'
import type { RequestRate } from './rate-limit.ts'
import { type Budget, createRequestRate, readBudget } from './rate-limit.ts'
import { type Call, requestTarget } from './request.ts'
import { isPassingError, isWireError, mayHaveArrived, undecided, unreachable } from './upstream-failure.ts'

/** The deadlines for the steps of one attempt, in milliseconds. */
interface Deadlines {
  readonly connectMs: number
  readonly headersMs: number
  /** The longest time between two pieces of the body. */
  readonly bodyGapMs: number
  /**
   * The limit of the whole attempt, because a body that arrives slowly in small pieces never exceeds
   * `bodyGapMs`.
   */
  readonly attemptMs: number
}

const DEADLINES: Deadlines = { connectMs: 5_000, headersMs: 15_000, bodyGapMs: 15_000, attemptMs: 60_000 }
/**
 * The time for which idle connections are kept. Servers keep them longer, so that few requests are sent on a
 * connection that the server is closing.
 */
const KEEP_ALIVE_MS = 4_000

/** A steady clock, for rate limits and waits. */
export interface Timer {
  /** Milliseconds since some fixed moment. */
  readonly now: () => number
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** The longest deferral. An upstream that asks for a longer wait is mistaken, or its clock is wrong. */
const DEFERRAL_MAX_MS = 24 * 60 * 60_000

export interface ClientOptions {
  /** Adds the API key to a request. */
  readonly authorize: (url: URL, headers: Record<string, string>) => void
  /** The API key, which is removed from all quoted text of the upstream. */
  readonly apiKey: string
  /** Returns further secrets to remove; called for every quote. */
  readonly otherSecrets?: () => readonly string[]
  /**
   * The longest wait that a run accepts from the upstream. If the upstream asks for a longer wait, the run
   * ends as deferred.
   */
  readonly maxWaitMs: number
  readonly userAgent: string
  readonly log: Log
  /** The configured rate limit; without it, only the upstream limits the rate. */
  readonly requestsPerSecond?: number | undefined
  /** The rate shared by all processes that ask this upstream. By default this client has its own. */
  readonly requestRate?: RequestRate | undefined
  readonly now?: () => Date
  readonly timer?: Timer
  readonly random?: () => number
  readonly backoff?: Backoff
  readonly deadlines?: Partial<Deadlines>
}

/** Counts the requests sent, including retries, and the answers which said that requests come too fast. */
export interface Usage {
  readonly requests: number
  readonly retries: number
  readonly throttled: number
}

export interface Client {
  /**
   * Sends a request and returns a 2xx answer with its JSON parsed. If the body was cut off or is broken, the
   * request is retried as if no answer had arrived.
   * @throws LeadsheetError api_*; the signal's reason if the signal ends the call
   */
  call<T>(call: Call<T>): Promise<Answer<T>>
  readonly usage: Usage
  /**
   * Returns by how many milliseconds our clock was ahead of the upstream's at the last answer with a Date
   * header; null if no answer had one.
   */
  clockAheadMs(): number | null
  close(): Promise<void>
}

export function createClient(options: ClientOptions): Client {
  const now = options.now ?? (() => new Date())
  const timer = options.timer ?? { now: () => performance.now(), wait }
  const random = options.random ?? Math.random
  const backoff = options.backoff ?? BACKOFF.upstream
  const deadlines = { ...DEADLINES, ...options.deadlines }
  const gapMs = options.requestsPerSecond === undefined ? 0 : 1000 / options.requestsPerSecond
  const usage = { requests: 0, retries: 0, throttled: 0 }
  const requestRate = options.requestRate ?? createRequestRate(timer.now)
  let notBefore = 0
  let askedUntil = 0
  let clockAheadMs: number | null = null
  // Secrets are removed from quotes, because an upstream may quote the key that it refuses, as text or encoded
  // for HTTP Basic.
  const redact = redactorOf(options)
  const { Agent } = loadPackage('undici')
  const dispatcher = new Agent({
    // `rejectUnauthorized` is set, because an environment variable could otherwise turn the check of
    // certificates off.
    connect: { timeout: deadlines.connectMs, rejectUnauthorized: true },
    headersTimeout: deadlines.headersMs,
    bodyTimeout: deadlines.bodyGapMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: 10_000,
  })

  return {
    usage,
    clockAheadMs: () => clockAheadMs,
    close: () => dispatcher.close(),
    async call<T>(call: Call<T>) {
      const signal = call.signal ?? new AbortController().signal
      const canRepeat = call.method !== 'POST' || call.idempotencyKey !== undefined
      const attempts = canRepeat ? backoff.attempts : 1
      let isUndecided = false
      for (let attempt = 1; ; attempt++) {
        await takeRequest(call.url, signal)
        usage.requests++
        if (attempt > 1) usage.retries++
        const outcome = await tryOnce(call, attempt)
        // The cast is safe, because T is unknown for a call without its own parser.
        if (!('error' in outcome)) return outcome as Answer<T>
        isUndecided ||= outcome.isUndecided
        if (outcome.isThrottled) usage.throttled++
        if (outcome.waitMs !== null) {
          if (outcome.waitMs > options.maxWaitMs || attempt === attempts)
            throw await postpone(call.url, outcome.waitMs)
          await requestRate.block(outcome.waitMs)
        }
        if (!outcome.isPassing || attempt === attempts) throw fateOf(call, outcome.error, isUndecided)
        // A wait that the upstream asked for applies to all requests, so each request waits in takeRequest.
        const waitMs = outcome.waitMs ?? backoffMs(backoff, attempt, random())
        options.log.warn({ attempt, waitMs, code: outcome.error.code }, outcome.error.message)
        if (outcome.waitMs === null) await timer.wait(waitMs, signal)
      }
    },
  }

  /**
   * Waits until our own rate limit and that of the upstream allow a request.
   * @throws LeadsheetError api_deferred if the wait is too long
   */
  async function takeRequest(url: URL, signal: AbortSignal): Promise<void> {
    refuseEarly(url)
    const turn = await requestRate.takeRequest(gapMs, options.maxWaitMs)
    if (!turn.isTaken) throw await postpone(url, turn.inMs)
    try {
      await timer.wait(turn.inMs, signal)
      // The answer to another request may have asked for a wait in the meantime.
      if (turn.inMs > 0) await waitWhileBlocked(signal)
      refuseEarly(url)
    } catch (thrown) {
      await requestRate.endRequest(null)
      throw thrown
    }
  }

  async function waitWhileBlocked(signal: AbortSignal): Promise<void> {
    for (let left = await requestRate.blockedMs(); left > 0; left = await requestRate.blockedMs())
      await timer.wait(left, signal)
  }

  function refuseEarly(url: URL): void {
    if (now().getTime() < notBefore) throw deferred(url)
  }

  async function tryOnce(call: Call, attempt: number): Promise<Answer | Failed> {
    const deadline = AbortSignal.timeout(deadlines.attemptMs)
    const signal = call.signal ? AbortSignal.any([call.signal, deadline]) : deadline
    const url = new URL(call.url)
    const headers = headersOf(call, options)
    options.authorize(url, headers)
    let isTurnOver = false
    const endRequest = async (budget: Budget | null): Promise<void> => {
      isTurnOver = true
      await requestRate.endRequest(budget)
    }
    try {
      const answer = await dispatcher.request({
        origin: url.origin,
        path: requestTarget(url),
        method: call.method,
        headers,
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal,
      })
      clockAheadMs = aheadOf(answer.headers, now()) ?? clockAheadMs
      const [outcome] = await Promise.all([
        readAnswer(answer, { call, attempt, now: now(), redact }),
        endRequest(readBudget(answer.headers, now())),
      ])
      call.signal?.throwIfAborted()
      return outcome
    } catch (thrown) {
      if (!isTurnOver) await endRequest(null)
      call.signal?.throwIfAborted()
      if (!isWireError(thrown)) throw thrown
      return {
        error: unreachable(call.url, attempt, thrown),
        isPassing: isPassingError(thrown),
        isThrottled: false,
        waitMs: null,
        isUndecided: mayHaveArrived(thrown),
      }
    }
  }

  /**
   * Defers the client for `waitMs` milliseconds. Until then no request is sent, not even a request that was
   * about to be sent.
   */
  async function postpone(url: URL, waitMs: number): Promise<LeadsheetError> {
    const boundedMs = Math.min(waitMs, DEFERRAL_MAX_MS)
    askedUntil = Math.max(askedUntil, Math.ceil(now().getTime() + waitMs))
    notBefore = Math.max(notBefore, Math.ceil(now().getTime() + boundedMs))
    await requestRate.postpone(boundedMs)
    return deferred(url)
  }

  function deferred(url: URL): LeadsheetError {
    const instant = new Date(notBefore).toISOString()
    // 8.64e15 is the largest instant that a Date can hold; an upstream may ask for a wait of thousands of
    // years.
    const asked = askedUntil > notBefore ? new Date(Math.min(askedUntil, 8.64e15)).toISOString() : instant
    const again =
      asked === instant ? 'after that' : `when it is asked again at ${instant}, a day away at most`
    return new LeadsheetError('api_deferred', `${url.origin} asks to wait until ${asked}`, {
      hint: `The run goes on from where it was ${again}; api.max_wait_seconds is ${options.maxWaitMs / 1000}.`,
      notBefore: instant,
    })
  }
}

/**
 * Returns by how many milliseconds our clock is ahead of an answer's Date; null without that header. The Age
 * of an answer from a cache (RFC 9111, 5.1) is taken into account.
 */
function aheadOf({ date, age }: IncomingHttpHeaders, now: Date): number | null {
  const aheadMs = now.getTime() - Date.parse(date ?? '') - Number(age ?? 0) * 1000
  return Number.isFinite(aheadMs) ? aheadMs : null
}

/**
 * Returns the error to throw. A GET or DELETE can be sent again without harm. The error of a POST must say so
 * if it is unknown whether the POST was carried out.
 */
function fateOf(call: Call, error: LeadsheetError, isUndecided: boolean): LeadsheetError {
  return call.method === 'POST' && isUndecided ? undecided(error, call.idempotencyKey) : error
}

function headersOf(call: Call, options: ClientOptions): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': options.userAgent,
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
    ...call.headers,
  }
}

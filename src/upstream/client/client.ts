/**
 * The one place that speaks HTTP to the upstream. Every attempt has deadlines and a bounded body that is
 * always read; the retry policy is ours, since undici's own cuts Retry-After and asks for parts of a list.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Agent } from 'undici'
import { LeadsheetError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { BACKOFF, type Backoff, backoffMs, wait } from '../../retry.ts'
import { type Answer, type Failed, readAnswer } from './answer.ts'
import { type Budget, readBudget } from './rate-limit-headers.ts'
import { redactorOf, requestTarget } from './request.ts'
import type { RequestRate } from './request-rate.ts'
import { createRequestRate } from './request-rate.ts'
import { isPassingError, isWireError, mayHaveArrived, undecided, unreachable } from './upstream-failure.ts'

/** How long each step of one attempt may take. */
export interface Deadlines {
  readonly connectMs: number
  readonly headersMs: number
  /** Between two pieces of the body. */
  readonly bodyGapMs: number
  /** The whole attempt: what drips never runs into the gap. */
  readonly attemptMs: number
}

const DEADLINES: Deadlines = { connectMs: 5_000, headersMs: 15_000, bodyGapMs: 15_000, attemptMs: 60_000 }
/** Shorter than servers keep idle connections, so that few requests go out on one that is being closed. */
const KEEP_ALIVE_MS = 4_000

/** A steady clock, for pacing and waits. */
export interface Timer {
  /** Milliseconds since some fixed moment. */
  readonly now: () => number
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** No upstream puts a run off for longer than a day: what asks for more is a mistake, or its clock is wrong. */
const DEFERRAL_MAX_MS = 24 * 60 * 60_000

export interface ClientOptions {
  /** Puts the key onto a request. */
  readonly authorize: (url: URL, headers: Record<string, string>) => void
  /** Taken out of whatever the upstream quotes. */
  readonly apiKey: string
  /** And so are these, as they are then. */
  readonly otherSecrets?: () => readonly string[]
  /** The longest wait that an upstream may ask for inside a run; a longer one ends it as deferred. */
  readonly maxWaitMs: number
  readonly userAgent: string
  readonly log: Log
  /** The configured budget; none by default. */
  readonly requestsPerSecond?: number | undefined
  /** That of all processes that ask this upstream; one of its own by default. */
  readonly requestRate?: RequestRate | undefined
  readonly now?: () => Date
  readonly timer?: Timer
  readonly random?: () => number
  readonly backoff?: Backoff
  readonly deadlines?: Partial<Deadlines>
}

export interface Call<T = unknown> {
  /** What answers a DELETE is no matter but for its status. */
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Lets a POST be repeated safely; without one it is sent once. */
  readonly idempotencyKey?: string
  /** Gives refusals and what is not JSON as answers too, its text as the body: for asking what there is. */
  readonly takesAny?: boolean
  /** Gives refusals of these statuses as answers too, their text as the body. */
  readonly takes?: readonly number[]
  /** Reads the body of a success in place of JSON's own parser; throws SyntaxError for what is not JSON. */
  readonly parse?: (body: Buffer) => T
  readonly signal?: AbortSignal
}

/** Requests sent, how many of them were repeats, and how often the upstream said "too fast". */
export interface Usage {
  readonly requests: number
  readonly retries: number
  readonly throttled: number
}

export interface Client {
  /**
   * A 2xx answer with its JSON parsed. What is cut or broken is asked for again, like what did not arrive.
   * @throws LeadsheetError api_*; the signal's reason when it ends the call
   */
  call<T>(call: Call<T>): Promise<Answer<T>>
  readonly usage: Usage
  /** By how much our clock was ahead of the upstream's at the last answer; null where that did not say. */
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
  // An upstream may quote the key that it refuses, also as HTTP Basic sends it.
  const redact = redactorOf(options)
  const dispatcher = new Agent({
    // Said, so that no variable of the environment turns it off.
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
        // Without a parser of its own a call's T is unknown.
        if (!('error' in outcome)) return outcome as Answer<T>
        isUndecided ||= outcome.isUndecided
        if (outcome.isThrottled) usage.throttled++
        if (outcome.waitMs !== null) {
          if (outcome.waitMs > options.maxWaitMs || attempt === attempts)
            throw await putOff(call.url, outcome.waitMs)
          await requestRate.hold(outcome.waitMs)
        }
        if (!outcome.isPassing || attempt === attempts) throw fateOf(call, outcome.error, isUndecided)
        // A wait that was asked for is kept by all requests alike, when they take their turn.
        const waitMs = outcome.waitMs ?? backoffMs(backoff, attempt, random())
        options.log.warn({ attempt, waitMs, code: outcome.error.code }, outcome.error.message)
        if (outcome.waitMs === null) await timer.wait(waitMs, signal)
      }
    },
  }

  /** Waits until our budget and the upstream's allow a request. @throws LeadsheetError api_deferred */
  async function takeRequest(url: URL, signal: AbortSignal): Promise<void> {
    refuseEarly(url)
    const turn = await requestRate.takeRequest(gapMs, options.maxWaitMs)
    if (!turn.isTaken) throw await putOff(url, turn.inMs)
    try {
      await timer.wait(turn.inMs, signal)
      // Meanwhile an answer to another request may have asked for a wait.
      if (turn.inMs > 0) await waitWhileHeld(signal)
      refuseEarly(url)
    } catch (thrown) {
      await requestRate.endRequest(null)
      throw thrown
    }
  }

  async function waitWhileHeld(signal: AbortSignal): Promise<void> {
    for (let left = await requestRate.heldMs(); left > 0; left = await requestRate.heldMs())
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

  /** From here on no request leaves before that instant, also none that was about to. */
  async function putOff(url: URL, waitMs: number): Promise<LeadsheetError> {
    const boundedMs = Math.min(waitMs, DEFERRAL_MAX_MS)
    askedUntil = Math.max(askedUntil, Math.ceil(now().getTime() + waitMs))
    notBefore = Math.max(notBefore, Math.ceil(now().getTime() + boundedMs))
    await requestRate.putOff(boundedMs)
    return deferred(url)
  }

  function deferred(url: URL): LeadsheetError {
    const instant = new Date(notBefore).toISOString()
    // Beyond what an instant can be, a wait of thousands of years.
    const asked = askedUntil > notBefore ? new Date(Math.min(askedUntil, 8.64e15)).toISOString() : instant
    const again =
      asked === instant ? 'after that' : `when it is asked again at ${instant}, a day away at most`
    return new LeadsheetError('api_deferred', `${url.origin} asks to wait until ${asked}`, {
      hint: `The run goes on from where it was ${again}; api.max_wait_seconds is ${options.maxWaitMs / 1000}.`,
      notBefore: instant,
    })
  }
}

/** By the Date of an answer, and the Age of one that a cache on the way has kept (RFC 9111, 5.1). */
function aheadOf({ date, age }: IncomingHttpHeaders, now: Date): number | null {
  const aheadMs = now.getTime() - Date.parse(date ?? '') - Number(age ?? 0) * 1000
  return Number.isFinite(aheadMs) ? aheadMs : null
}

/** A GET changes nothing, and a DELETE no more when it is sent again; of a POST it must be said when nobody knows whether it has. */
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

/** The backoff of all work that is tried again: how long to wait, and when to give up. */
import { setTimeout as delay } from 'node:timers/promises'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The waits between the attempts of one request. Each wait is random, below a limit that doubles. */
export interface Backoff {
  /** The number of attempts, including the first attempt. */
  readonly attempts: number
  /** The limit of the first wait in milliseconds. */
  readonly baseMs: number
  /** The highest limit in milliseconds. */
  readonly maxMs: number
}

/** The waits between attempts of work that is kept in the store, such as a message to send. */
interface Ladder {
  /** The waits in milliseconds: after the first failure, after the second, and so on. */
  readonly waitsMs: readonly number[]
  /** The consequence if the attempt after the last wait fails: the same wait again, or no further attempt. */
  readonly afterLast: 'repeat' | 'give up'
  /** As shares of the wait; they keep many waiting jobs from starting at the same time. */
  readonly jitter: readonly [shorter: number, longer: number]
}

/** The waits for every kind of work that is tried again. */
export const BACKOFF = {
  /** A Retry-After of the upstream is used instead and is never shortened. */
  upstream: { attempts: 5, baseMs: 500, maxMs: 20 * SECOND_MS },
  /** Requests to the upstream while a person waits for the answer. */
  upstreamWhileWaiting: { attempts: 2, baseMs: 300, maxMs: SECOND_MS },
  /** Requests that explore an unknown API. Some are wrong on purpose, so each is repeated only once. */
  probe: { attempts: 2, baseMs: 400, maxMs: 5 * SECOND_MS },
  /** A message is given up after a while (see `GIVE_UP`), a server never. */
  message: { waitsMs: minutes(1, 5, 15, 60), afterLast: 'repeat', jitter: [0.2, 0.2] },
  /** Messages about alerts that the alert webhook refuses or does not answer. */
  alertWebhook: { waitsMs: minutes(1, 5, 15, 60), afterLast: 'repeat', jitter: [0, 0] },
  /** If the attempt after the last wait fails, the next sync reads the leads. */
  event: { waitsMs: minutes(1, 5, 30, 2 * 60, 6 * 60, 12 * 60), afterLast: 'give up', jitter: [0, 0] },
  /** Scheduled runs that failed. If the upstream asks for a longer wait, that wait is used. */
  scheduledRun: { waitsMs: minutes(5, 15, 60), afterLast: 'give up', jitter: [0, 0] },
  /** The waits of Svix (a webhook service). A longer Retry-After is used instead. */
  serviceWebhook: {
    waitsMs: [5 * SECOND_MS, ...minutes(5, 30, 2 * 60, 5 * 60, 10 * 60, 10 * 60)],
    afterLast: 'give up',
    jitter: [0, 0.1],
  },
} as const satisfies Readonly<Record<string, Backoff | Ladder>>

/** The limits after which work is given up. Without a limit, the work would be tried for ever. */
export const GIVE_UP = {
  /** A deferred message has at least `attemptsMin` attempts, however long its server was away between them. */
  message: { attempts: 24, hours: 48, attemptsMin: 5 },
  alertWebhook: { hours: 48 },
  /** The reference service disables a webhook if every call has failed for this number of days. */
  serviceWebhook: { days: 5 },
} as const

/** The longest pause, in milliseconds, that the receiver of a webhook can ask the reference service for. */
export const SERVICE_PAUSE_MAX_MS = DAY_MS

function minutes(...waits: readonly number[]): number[] {
  return waits.map((wait) => wait * MINUTE_MS)
}

/**
 * Returns the wait in milliseconds after a failure; null if there is no further attempt.
 * @param failures the number of failures in a row, including this one
 * @param random a number from 0 up to 1
 */
export function ladderWaitMs(
  { waitsMs, afterLast, jitter: [shorter, longer] }: Ladder,
  failures: number,
  random: number,
): number | null {
  const waitMs = waitsMs[failures - 1] ?? (afterLast === 'repeat' ? waitsMs.at(-1) : undefined)
  return waitMs === undefined
    ? null
    : Math.ceil(waitMs - waitMs * shorter + waitMs * (shorter + longer) * random)
}

/** Returns the longest wait in milliseconds that `ladderWaitMs` can return, including jitter. */
export function longestWaitMs({ waitsMs, jitter: [, longer] }: Ladder): number {
  return Math.max(...waitsMs) * (1 + longer)
}

/** The longest time in milliseconds that a timer of Node can wait. */
const TIMER_MAX_MS = 2 ** 31 - 1

/**
 * Returns a wait in milliseconds with full jitter: from 0 up to the base, which doubles after each attempt
 * (AWS Architecture Blog, "Exponential Backoff And Jitter").
 * @param attempt the number of the attempt that just failed, from 1
 * @param random a number from 0 up to 1
 */
export function backoffMs(backoff: Backoff, attempt: number, random: number): number {
  return Math.round(random * Math.min(backoff.maxMs, backoff.baseMs * 2 ** (attempt - 1)))
}

/**
 * Parses a Retry-After header, which is in seconds or an HTTP date (RFC 9110, 10.2.3).
 * @param now the current time, if possible by the clock of the sender; the wait until a date begins here
 * @returns the milliseconds to wait; null if the header is absent, unreadable, zero or past. The caller then
 *   uses its own backoff.
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null
  const value = header.trim()
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000) || null
  const ms = /^[A-Z]/i.test(value) ? Date.parse(value) - now.getTime() : Number.NaN
  return ms > 0 ? ms : null
}

/** Waits at least `ms` milliseconds. Throws the signal's reason if the signal is aborted earlier. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const until = performance.now() + ms
  // A timer may end a little early. The loop then waits for the remaining time.
  for (let left = ms; left > 0; left = until - performance.now()) {
    await delay(Math.min(Math.ceil(left), TIMER_MAX_MS), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    )
  }
}

/**
 * The backoff policy of everything that is tried again: how long to wait before the next attempt, and when
 * to give up. The functions do not read the clock.
 */
import { setTimeout as delay } from 'node:timers/promises'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Exponential waits within one request, with full jitter. */
export interface Backoff {
  /** The number of attempts, including the first. */
  readonly attempts: number
  readonly baseMs: number
  readonly maxMs: number
}

/** Waits between attempts that are kept in the store. */
interface Ladder {
  /** The wait after the first failure, the second and so on. */
  readonly waitsMs: readonly number[]
  /** Says whether the last wait repeats or there is no further attempt. */
  readonly afterLast: 'repeat' | 'give up'
  /**
   * The shares of a wait by which it may be shorter or longer, so that many waiting jobs do not return at
   * once.
   */
  readonly jitter: readonly [shorter: number, longer: number]
}

/** The waits of every kind of work that is tried again. */
export const BACKOFF = {
  /** Requests to the upstream; its Retry-After replaces the wait and is never shortened. */
  upstream: { attempts: 5, baseMs: 500, maxMs: 20 * SECOND_MS },
  /** Requests to the upstream while a person waits for the answer. */
  upstreamWhileWaiting: { attempts: 2, baseMs: 300, maxMs: SECOND_MS },
  /** Requests of the probe, which may be wrong on purpose. */
  probe: { attempts: 2, baseMs: 400, maxMs: 5 * SECOND_MS },
  /**
   * Messages that a mail server defers. A message is given up in the end (see `GIVE_UP`), a server never.
   */
  message: { waitsMs: minutes(1, 5, 15, 60), afterLast: 'repeat', jitter: [0.2, 0.2] },
  /** Alerts that the alert webhook does not accept. */
  alertWebhook: { waitsMs: minutes(1, 5, 15, 60), afterLast: 'repeat', jitter: [0, 0] },
  /** Leads of events that could not be read; after the last wait they are left to the next sync. */
  event: { waitsMs: minutes(1, 5, 30, 2 * 60, 6 * 60, 12 * 60), afterLast: 'give up', jitter: [0, 0] },
  /** Scheduled runs; if the upstream asks for a longer wait, that counts. */
  scheduledRun: { waitsMs: minutes(5, 15, 60), afterLast: 'give up', jitter: [0, 0] },
  /**
   * Webhooks of the reference service, as in the schedule of Svix; a longer Retry-After of the receiver
   * counts.
   */
  serviceWebhook: {
    waitsMs: [5 * SECOND_MS, ...minutes(5, 30, 2 * 60, 5 * 60, 10 * 60, 10 * 60)],
    afterLast: 'give up',
    jitter: [0, 0.1],
  },
} as const satisfies Readonly<Record<string, Backoff | Ladder>>

/** The limits after which work that would otherwise be tried for ever is given up. */
export const GIVE_UP = {
  message: { attempts: 24, hours: 48 },
  alertWebhook: { hours: 48 },
  /** A webhook of the reference service that has only failed for this long is disabled. */
  serviceWebhook: { days: 5 },
} as const

/** The longest pause that a receiver of the reference service can ask for. */
export const SERVICE_PAUSE_MAX_MS = DAY_MS

function minutes(...waits: readonly number[]): number[] {
  return waits.map((wait) => wait * MINUTE_MS)
}

/**
 * Returns the wait after a failure; null if there is no further attempt.
 * @param failures failures in a row, including this one
 * @param random from 0 up to 1
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

/** Returns the longest wait of a ladder, jitter included. */
export function longestWaitMs({ waitsMs, jitter: [, longer] }: Ladder): number {
  return Math.max(...waitsMs) * (1 + longer)
}

/** The longest that a timer of Node can wait. */
const TIMER_MAX_MS = 2 ** 31 - 1

/**
 * Returns a wait with full jitter: from 0 up to the base doubled after each attempt (AWS Architecture Blog,
 * "Exponential Backoff And Jitter").
 * @param attempt the attempt that just failed, from 1
 * @param random from 0 up to 1
 */
export function backoffMs(backoff: Backoff, attempt: number, random: number): number {
  return Math.round(random * Math.min(backoff.maxMs, backoff.baseMs * 2 ** (attempt - 1)))
}

/**
 * Parses Retry-After, in seconds or as an HTTP date (RFC 9110, 10.2.3), to milliseconds from now. Returns
 * null if the header is absent, unreadable, zero or past; the caller then uses its own backoff.
 * @param now the clock from which a date is measured; the sender's clock is best
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null
  const value = header.trim()
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000) || null
  const ms = /^[A-Z]/i.test(value) ? Date.parse(value) - now.getTime() : Number.NaN
  return ms > 0 ? ms : null
}

/** Waits at least this long; throws the signal's reason if it is aborted first. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const until = performance.now() + ms
  // A timer may fire a little early, so the rest is waited for too.
  for (let left = ms; left > 0; left = until - performance.now()) {
    await delay(Math.min(Math.ceil(left), TIMER_MAX_MS), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    )
  }
}

/**
 * The one backoff policy: how long to wait before the next attempt, and when to give up, for everything that is tried
 * again. The functions are pure, so that policy and clock stay apart.
 */
import { setTimeout as delay } from 'node:timers/promises'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Exponential waits within one request, with full jitter. */
export interface Backoff {
  /** Attempts in all, the first included. */
  readonly attempts: number
  readonly baseMs: number
  readonly maxMs: number
}

/** Waits between attempts that the store remembers. */
export interface Ladder {
  /** The wait after the first failure, the second and so on. */
  readonly waitsMs: readonly number[]
  /** What happens after the last wait: it repeats, or there is no further attempt. */
  readonly afterLast: 'repeat' | 'give up'
  /** The shares of a wait by which it may come out shorter or longer, so that many who wait do not come back at once. */
  readonly jitter: readonly [shorter: number, longer: number]
}

/** Every kind of work that is tried again, with the pause that the other side may ask for. */
export const BACKOFF = {
  /** Requests to the upstream; its Retry-After counts in the place of the wait, and is never shortened. */
  upstream: { attempts: 5, baseMs: 500, maxMs: 20 * SECOND_MS },
  /** Requests to the upstream while somebody waits for the answer. */
  upstreamWhileWaiting: { attempts: 2, baseMs: 300, maxMs: SECOND_MS },
  /** Requests of the probe, which may ask the wrong way on purpose. */
  probe: { attempts: 2, baseMs: 400, maxMs: 5 * SECOND_MS },
  /** A message that a mail server puts off; a message is given up sooner or later (see `GIVE_UP`), a server never. */
  message: { waitsMs: minutes(1, 5, 15, 60), afterLast: 'repeat', jitter: [0.2, 0.2] },
  /** An alert that the webhook of operators does not take. */
  alertWebhook: { waitsMs: minutes(1, 5, 15, 60), afterLast: 'repeat', jitter: [0, 0] },
  /** A lead that an event told of, and that cannot be read; after the last wait it is left to the next sync. */
  event: { waitsMs: minutes(1, 5, 30, 2 * 60, 6 * 60, 12 * 60), afterLast: 'give up', jitter: [0, 0] },
  /** A scheduled run; the time before which the upstream wants no request counts where it is later. */
  scheduledRun: { waitsMs: minutes(5, 15, 60), afterLast: 'give up', jitter: [0, 0] },
  /** A webhook of the reference service, by the schedule of Svix; the receiver's Retry-After counts where it is later. */
  serviceWebhook: {
    waitsMs: [5 * SECOND_MS, ...minutes(5, 30, 2 * 60, 5 * 60, 10 * 60, 10 * 60)],
    afterLast: 'give up',
    jitter: [0, 0.1],
  },
} as const satisfies Readonly<Record<string, Backoff | Ladder>>

/** When work that would be tried for ever is given up. */
export const GIVE_UP = {
  message: { attempts: 24, hours: 48 },
  alertWebhook: { hours: 48 },
  /** A webhook of the reference service that has failed for so long and done nothing else is disabled. */
  serviceWebhook: { days: 5 },
} as const

/** The longest pause that a receiver of the reference service can ask for. */
export const SERVICE_PAUSE_MAX_MS = DAY_MS

function minutes(...waits: readonly number[]): number[] {
  return waits.map((wait) => wait * MINUTE_MS)
}

/**
 * @param failures how many there were in a row, this one included
 * @param random from 0 up to 1
 * @returns null where there is no further attempt
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

/** No wait of a ladder is longer than this. */
export function longestWaitMs({ waitsMs, jitter: [, longer] }: Ladder): number {
  return Math.max(...waitsMs) * (1 + longer)
}

/** The longest that a timer of Node can wait. */
const TIMER_MAX_MS = 2 ** 31 - 1

/**
 * Full jitter: anything from 0 to the doubled base (AWS Architecture Blog, "Exponential Backoff And Jitter").
 * @param attempt the attempt that just failed, from 1
 * @param random from 0 up to 1
 */
export function backoffMs(backoff: Backoff, attempt: number, random: number): number {
  return Math.round(random * Math.min(backoff.maxMs, backoff.baseMs * 2 ** (attempt - 1)))
}

/**
 * Retry-After as milliseconds from now: seconds or an HTTP date (RFC 9110, 10.2.3).
 * Null when absent, unreadable, zero or past, so that the caller falls back to its own backoff.
 * @param now the clock that a date is measured by: best the sender's
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null
  const value = header.trim()
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000) || null
  const ms = /^[A-Z]/i.test(value) ? Date.parse(value) - now.getTime() : Number.NaN
  return ms > 0 ? ms : null
}

/** Waits, never shorter than told; unless the signal ends it first: then it throws the signal's reason. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const until = performance.now() + ms
  // A timer may fire a little early.
  for (let left = ms; left > 0; left = until - performance.now()) {
    await delay(Math.min(Math.ceil(left), TIMER_MAX_MS), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    )
  }
}

/** How long to wait before the next attempt: pure functions, so that policy and clock stay apart. */
import { setTimeout as delay } from 'node:timers/promises'

export interface Backoff {
  /** Attempts in all, the first included. */
  readonly attempts: number
  readonly baseMs: number
  readonly maxMs: number
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

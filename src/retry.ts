/** How long to wait before the next attempt: a pure function, so that policy and clock stay apart. */
import { setTimeout as delay } from 'node:timers/promises'

export interface Backoff {
  /** Attempts in all, the first included. */
  readonly attempts: number
  readonly baseMs: number
  readonly maxMs: number
}

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
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null
  const value = header.trim()
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now.getTime()
  return Number.isFinite(ms) && ms > 0 ? ms : null
}

/** Waits, unless the signal ends it first: then it throws the signal's reason. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}

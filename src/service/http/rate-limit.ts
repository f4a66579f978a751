/** How many requests a key may make in a minute: fixed windows, counted in memory. */

export interface RateLimiter {
  /** Counts one request of a key. */
  count(keyId: string): RateVerdict
}

export interface RateVerdict {
  readonly isAllowed: boolean
  readonly limit: number
  /** Requests left in this window. */
  readonly remaining: number
  /** Until the next window, at least 1. */
  readonly resetSeconds: number
}

const WINDOW_MS = 60_000

export function createRateLimiter(perMinute: number, now: () => number): RateLimiter {
  const counts = new Map<string, number>()
  let window = Number.NaN
  return {
    count: (keyId) => {
      const at = now()
      const current = Math.floor(at / WINDOW_MS)
      if (current !== window) counts.clear()
      window = current
      const used = (counts.get(keyId) ?? 0) + 1
      counts.set(keyId, used)
      return {
        isAllowed: used <= perMinute,
        limit: perMinute,
        remaining: Math.max(0, perMinute - used),
        resetSeconds: Math.ceil(((current + 1) * WINDOW_MS - at) / 1000),
      }
    },
  }
}

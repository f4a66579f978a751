/**
 * Decides when the next request may be sent, by our own rate limit and by the waits that the upstream asks
 * for. Upstreams name a wait in several kinds of headers, so each becomes milliseconds from now. The functions
 * only compute; the client waits.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { retryAfterMs } from '../../retry.ts'
import { isTooFast } from './upstream-failure.ts'

export function createRequestRate(nowMs: () => number) {
  let nextAt = 0
  /** The end of the wait that the upstream last asked for. */
  let blockedUntil = 0
  return {
    /**
     * Reserves the next request.
     * @param gapMs the minimum time between two requests by our own rate limit; 0 without a rate limit
     * @returns the wait in milliseconds; nothing is reserved if the upstream asks for more than `maxWaitMs`
     */
    takeRequest(gapMs: number, maxWaitMs: number): { readonly isTaken: boolean; readonly inMs: number } {
      const now = nowMs()
      if (blockedUntil - now > maxWaitMs) return { isTaken: false, inMs: blockedUntil - now }
      const at = Math.max(now, nextAt, blockedUntil)
      nextAt = at + gapMs
      return { isTaken: true, inMs: at - now }
    },
    blockedMs: () => Math.max(0, blockedUntil - nowMs()),
    block(ms: number): void {
      blockedUntil = Math.max(blockedUntil, nowMs() + ms)
    },
    /** Forgets the wishes of the upstream: the client itself refuses requests until a long wait is over. */
    forget(): void {
      nextAt = 0
      blockedUntil = 0
    },
  }
}

/** A status such as 429, or status 403 with no requests left or with a wait. */
export function isThrottled(status: number, headers: IncomingHttpHeaders, now: Date): boolean {
  if (status !== 403) return isTooFast(status)
  const isSpent = REMAINING.some((name) => textOf(headers[name])?.trim() === '0')
  return isSpent || retryAfterMs(textOf(headers['retry-after']), now) !== null
}

/** Returns the whole wait that an answer asks for, in milliseconds; null if it asks for none. */
export function wantedWaitMs(status: number, headers: IncomingHttpHeaders, now: Date): number | null {
  const clock = clockOf(headers, now)
  const asked = retryAfterMs(textOf(headers['retry-after']), clock)
  if (asked !== null || !isThrottled(status, headers, now)) return asked
  const [, ofPolicy = null] = POLICY.exec(textOf(headers.ratelimit) ?? '') ?? []
  const resets = [
    resetMs(ofPolicy, clock, DAY_S),
    ...RESETS.map(([name, delayMax]) => resetMs(textOf(headers[name]), clock, delayMax)),
  ]
  return resets.find((ms) => ms !== null) ?? null
}

const HOUR_S = 3_600
const DAY_S = 86_400
const REMAINING = ['ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining'] as const
/**
 * Each with the longest delay in seconds that it may be; a larger number is in milliseconds. The first is from
 * the IETF drafts up to 7; the others are older and were never a standard.
 */
const RESETS = [
  ['ratelimit-reset', DAY_S],
  ['x-ratelimit-reset', HOUR_S],
  ['x-rate-limit-reset', HOUR_S],
] as const
/** Matches a limit that is used up: `limit=100, remaining=0, reset=5`, or `"default";r=0;t=5`. */
const POLICY = /(?:remaining=0,\s*reset=|;\s*r=0\s*;\s*t=)(\d+)/
/** The least number that is an instant in a unit, from the smallest unit, and the unit in milliseconds. */
const EPOCHS = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [1e9, 1e3],
] as const

/** Null if the value cannot be read or is past. */
function resetMs(value: string | null, now: Date, delayMax: number): number | null {
  if (value === null) return null
  const number = Number(value)
  const [, unitMs] = EPOCHS.find(([least]) => number >= least) ?? []
  const delay = number > delayMax ? number : number * 1000
  const ms =
    unitMs !== undefined
      ? number * unitMs - now.getTime()
      : Number.isNaN(number)
        ? Date.parse(value) - now.getTime()
        : delay
  return ms > 0 ? Math.ceil(ms) : null
}

/** The other headers follow the clock of the Date header. Without it, returns our time. */
function clockOf(headers: IncomingHttpHeaders, now: Date): Date {
  const theirs = Date.parse(headers.date ?? '')
  return Number.isNaN(theirs) ? now : new Date(theirs)
}

function textOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null
}

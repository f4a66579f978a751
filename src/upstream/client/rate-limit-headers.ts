/**
 * Reads the upstream's rate limits from its headers. Upstreams write these headers in several ways, and a
 * reset may be a number of seconds, an epoch time or a date. All resets become milliseconds from now,
 * measured with the upstream's clock, so that our clock may be wrong. `retrying-client.ts` does the waiting.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { retryAfterMs } from '../../retry.ts'

/** The number of requests that are left, and the milliseconds until the upstream resets that number. */
export interface Budget {
  readonly remaining: number
  readonly resetMs: number
}

/**
 * The prefixes of `RateLimit-Remaining` and its kind: the form of the IETF drafts up to 7, and two older
 * private forms.
 */
const PREFIXES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'] as const
const EPOCH_S_MIN = 1e9
const EPOCH_MS_MIN = 1e11

/** Returns the requests left and the time until the reset; null if the headers name no limit or no reset. */
export function readBudget(headers: IncomingHttpHeaders, now: Date): Budget | null {
  const budgets = [...structured(headers), ...separate(headers)]
    .map(([remaining, reset]) => ({
      remaining: Number.parseInt(remaining, 10),
      resetMs: resetMs(reset, clockOf(headers, now)),
    }))
    .filter((budget): budget is Budget => budget.remaining >= 0 && budget.resetMs !== null)
  return budgets.sort((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs)[0] ?? null
}

/**
 * Returns whether an answer says that requests come too fast: a 429, or a 403 with a used-up limit or with a
 * wait.
 */
export function isThrottled(status: number, headers: IncomingHttpHeaders, now: Date): boolean {
  if (status !== 403) return status === 429
  return (
    readBudget(headers, now)?.remaining === 0 || retryAfterMs(textOf(headers['retry-after']), now) !== null
  )
}

/**
 * Returns the wait that an answer asks for, in milliseconds and never shortened; null if the answer asks for
 * none.
 */
export function wantedWaitMs(status: number, headers: IncomingHttpHeaders, now: Date): number | null {
  const clock = clockOf(headers, now)
  const asked = retryAfterMs(textOf(headers['retry-after']), clock)
  if (asked !== null || !isThrottled(status, headers, now)) return asked
  const resets = PREFIXES.map((prefix) => resetMs(textOf(headers[`${prefix}reset`]), clock))
  return readBudget(headers, now)?.resetMs ?? resets.find((ms) => ms !== null) ?? null
}

/**
 * Reads `RateLimit: limit=100, remaining=0, reset=5` and `RateLimit: "default";r=0;t=5`, with one or several
 * policies.
 */
function structured(headers: IncomingHttpHeaders): [string, string][] {
  const text = textOf(headers.ratelimit) ?? ''
  const named = [/\bremaining=(\d+)/.exec(text)?.[1], /\breset=(\d+)/.exec(text)?.[1]] as const
  const policies = text
    .split(',')
    .map((policy) => [/;\s*r=(\d+)/.exec(policy)?.[1], /;\s*t=(\d+)/.exec(policy)?.[1]] as const)
  return [named, ...policies].flatMap(([remaining, reset]) =>
    remaining === undefined || reset === undefined ? [] : [[remaining, reset] satisfies [string, string]],
  )
}

function separate(headers: IncomingHttpHeaders): [string, string][] {
  return PREFIXES.flatMap((prefix) => {
    const remaining = textOf(headers[`${prefix}remaining`])
    const reset = textOf(headers[`${prefix}reset`])
    return remaining === null || reset === null ? [] : [[remaining, reset] satisfies [string, string]]
  })
}

/** Returns the milliseconds until the reset; null if the reset is unreadable or in the past. */
function resetMs(value: string | null, now: Date): number | null {
  if (value === null) return null
  const number = /^\s*(\d+(\.\d+)?)/.exec(value)?.[1]
  const isDate = number === undefined || /^\s*\d{4}-\d\d-/.test(value)
  const ms = isDate ? Date.parse(value) - now.getTime() : fromNumber(Number(number), now)
  return ms > 0 ? Math.ceil(ms) : null
}

function fromNumber(value: number, now: Date): number {
  if (value >= EPOCH_MS_MIN) return value - now.getTime()
  return value >= EPOCH_S_MIN ? value * 1000 - now.getTime() : value * 1000
}

/**
 * Returns the time of the answer's Date header, because the other dates in its headers follow the same clock.
 * An answer without that header gets our time.
 */
function clockOf(headers: IncomingHttpHeaders, now: Date): Date {
  const theirs = Date.parse(headers.date ?? '')
  return Number.isNaN(theirs) ? now : new Date(theirs)
}

function textOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null
}

/**
 * Reads the upstream's rate limits from its headers. There are several dialects, and a reset may be seconds,
 * an epoch or a date. All become milliseconds from now by the upstream's own clock, so that ours may be
 * wrong. `retrying-client.ts` does the waiting.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { retryAfterMs } from '../../retry.ts'

/** The number of requests left until the limit is reset. */
export interface Budget {
  readonly remaining: number
  readonly resetMs: number
}

/** The `RateLimit-Remaining` of the IETF drafts up to 7, and its older private forms. */
const PREFIXES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'] as const
const EPOCH_S_MIN = 1e9
const EPOCH_MS_MIN = 1e11

/** Returns null where the headers name no limit, or no reset. */
export function readBudget(headers: IncomingHttpHeaders, now: Date): Budget | null {
  const budgets = [...structured(headers), ...separate(headers)]
    .map(([remaining, reset]) => ({
      remaining: Number.parseInt(remaining, 10),
      resetMs: resetMs(reset, clockOf(headers, now)),
    }))
    .filter((budget): budget is Budget => budget.remaining >= 0 && budget.resetMs !== null)
  return budgets.sort((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs)[0] ?? null
}

/** Whether an answer says "too fast": a 429, or a 403 with a used-up limit or with a wait. */
export function isThrottled(status: number, headers: IncomingHttpHeaders, now: Date): boolean {
  if (status !== 403) return status === 429
  return (
    readBudget(headers, now)?.remaining === 0 || retryAfterMs(textOf(headers['retry-after']), now) !== null
  )
}

/** The wait that an answer asks for, never shortened; null where it asks for none. */
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

/** Returns null when the reset is unreadable or in the past. */
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

/** The upstream's clock where the answer has a Date, because the dates in its headers follow that clock. */
function clockOf(headers: IncomingHttpHeaders, now: Date): Date {
  const theirs = Date.parse(headers.date ?? '')
  return Number.isNaN(theirs) ? now : new Date(theirs)
}

function textOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null
}

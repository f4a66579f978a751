/**
 * Decides when the next request may be sent. Both our own rate limit and the upstream's limits count.
 * Upstreams give their limits in several kinds of headers, so every reset time is converted to milliseconds
 * from now. The functions only compute; the client waits.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { retryAfterMs } from '../../retry.ts'
import { isTooFast } from './upstream-failure.ts'

export function createRequestRate(nowMs: () => number) {
  let nextAt = 0
  /** The end of the wait that the upstream last asked for. */
  let blockedUntil = 0
  /** The number of requests that the upstream still allows before `resetAt`; null if unknown. */
  let left: number | null = null
  let resetAt = 0
  let underWay = 0
  return {
    /**
     * Reserves the next request, which must be ended by `endRequest`.
     * @param gapMs the minimum time between two requests by our own rate limit; 0 without a rate limit
     * @returns the wait in milliseconds; nothing is reserved if the upstream asks for more than `maxWaitMs`
     */
    takeRequest(gapMs: number, maxWaitMs: number): { readonly isTaken: boolean; readonly inMs: number } {
      const now = nowMs()
      const isSpent = left !== null && left <= 0 && resetAt > now
      const freeAt = isSpent ? Math.max(blockedUntil, resetAt) : blockedUntil
      if (freeAt - now > maxWaitMs) return { isTaken: false, inMs: freeAt - now }
      const at = Math.max(now, nextAt, freeAt)
      nextAt = at + gapMs
      left = left === null || resetAt <= at ? null : left - 1
      underWay++
      return { isTaken: true, inMs: at - now }
    },
    blockedMs: () => Math.max(0, blockedUntil - nowMs()),
    block(ms: number): void {
      blockedUntil = Math.max(blockedUntil, nowMs() + ms)
    },
    /**
     * Unanswered requests count as spent, because the upstream may not have counted them yet.
     * @param budget null if there was no answer, or if it does not say
     */
    endRequest(budget: Budget | null): void {
      underWay--
      if (budget === null) return
      left = budget.remaining - underWay
      resetAt = nowMs() + budget.resetMs
    },
    /** Forgets the wishes of the upstream: the client itself refuses requests until a long wait is over. */
    forget(): void {
      nextAt = 0
      blockedUntil = 0
      left = null
    },
  }
}

export interface Budget {
  readonly remaining: number
  readonly resetMs: number
}

/** The first is from the IETF drafts up to 7; the others are older and were never a standard. */
const PREFIXES = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'] as const
/** The headers of a standard are in seconds. Others may be in milliseconds if they are longer than an hour. */
const DELAY_S_MAX = { standard: 86_400, other: 3_600 }
/** The least number that is an instant in a unit, from the smallest unit, and the unit in milliseconds. */
const EPOCHS = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [1e9, 1e3],
] as const
const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  ns: 1e-6,
}

/** Reads how many requests are left and when that number is reset; null if the headers do not say both. */
export function readBudget(headers: IncomingHttpHeaders, now: Date): Budget | null {
  const budgets = [...structured(headers), ...separate(headers)]
    .map(([remaining, reset, delayMax]) => ({
      remaining: Number.parseInt(remaining, 10),
      resetMs: resetMs(reset, clockOf(headers, now), delayMax),
    }))
    .filter((budget): budget is Budget => budget.remaining >= 0 && budget.resetMs !== null)
  return budgets.sort((a, b) => a.remaining - b.remaining || b.resetMs - a.resetMs)[0] ?? null
}

/** After this wait, a request is spent, and the upstream asks for the rest itself. */
const UNASKED_MAX_MS = 5 * 60_000

/** Returns the budget in an answer, in which a wait that was not asked for is not longer than minutes. */
export function budgetOf(status: number, headers: IncomingHttpHeaders, now: Date): Budget | null {
  const budget = readBudget(headers, now)
  if (budget === null || isThrottled(status, headers, now)) return budget
  return { ...budget, resetMs: Math.min(budget.resetMs, UNASKED_MAX_MS) }
}

/** A status such as 429, or status 403 with no requests left or with a wait. */
export function isThrottled(status: number, headers: IncomingHttpHeaders, now: Date): boolean {
  if (status !== 403) return isTooFast(status)
  return (
    readBudget(headers, now)?.remaining === 0 || retryAfterMs(textOf(headers['retry-after']), now) !== null
  )
}

/** Returns the whole wait that an answer asks for, in milliseconds; null if it asks for none. */
export function wantedWaitMs(status: number, headers: IncomingHttpHeaders, now: Date): number | null {
  const clock = clockOf(headers, now)
  const asked = retryAfterMs(textOf(headers['retry-after']), clock)
  if (asked !== null || !isThrottled(status, headers, now)) return asked
  const resets = PREFIXES.map((prefix) =>
    resetMs(textOf(headers[`${prefix}reset`]), clock, delayMaxOf(prefix)),
  )
  return readBudget(headers, now)?.resetMs ?? resets.find((ms) => ms !== null) ?? null
}

/** The number of requests left, the reset, and the longest delay in seconds that the reset can be. */
type BudgetText = [remaining: string, reset: string, delayMax: number]

/** `limit=100, remaining=0, reset=5`, or `"default";r=0;t=5`, which may contain several limits. */
function structured(headers: IncomingHttpHeaders): BudgetText[] {
  const text = textOf(headers.ratelimit) ?? ''
  const named = [/\bremaining=(\d+)/.exec(text)?.[1], /\breset=(\d+)/.exec(text)?.[1]] as const
  const policies = text
    .split(',')
    .map((policy) => [/;\s*r=(\d+)/.exec(policy)?.[1], /;\s*t=(\d+)/.exec(policy)?.[1]] as const)
  return [named, ...policies].flatMap(([remaining, reset]) =>
    remaining === undefined || reset === undefined
      ? []
      : [[remaining, reset, DELAY_S_MAX.standard] satisfies BudgetText],
  )
}

function separate(headers: IncomingHttpHeaders): BudgetText[] {
  return PREFIXES.flatMap((prefix) => {
    const remaining = textOf(headers[`${prefix}remaining`])
    const reset = textOf(headers[`${prefix}reset`])
    return remaining === null || reset === null
      ? []
      : [[remaining, reset, delayMaxOf(prefix)] satisfies BudgetText]
  })
}

function delayMaxOf(prefix: (typeof PREFIXES)[number]): number {
  return prefix === 'ratelimit-' ? DELAY_S_MAX.standard : DELAY_S_MAX.other
}

/**
 * Null if the value cannot be read or is past.
 * @param delayMax the longest delay in seconds; a larger number is in milliseconds
 */
function resetMs(value: string | null, now: Date, delayMax: number): number | null {
  if (value === null) return null
  const text = value.trim()
  const number = /^\d+(\.\d+)?(?=$|[\s,;])/.exec(text)?.[0]
  const ms = number === undefined ? fromText(text, now) : fromNumber(Number(number), now, delayMax)
  return ms > 0 ? Math.ceil(ms) : null
}

function fromNumber(value: number, now: Date, delayMax: number): number {
  const [, unitMs] = EPOCHS.find(([least]) => value >= least) ?? []
  if (unitMs !== undefined) return value * unitMs - now.getTime()
  return value > delayMax ? value : value * 1000
}

function fromText(text: string, now: Date): number {
  if (!/^(\d+(\.\d+)?(h|m|s|ms|us|ns))+$/.test(text)) return Date.parse(text) - now.getTime()
  const parts = [...text.matchAll(/([\d.]{1,20})([a-z]{1,10})/g)]
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0)
}

/** The other headers follow the clock of the Date header. Without it, returns our time. */
function clockOf(headers: IncomingHttpHeaders, now: Date): Date {
  const theirs = Date.parse(headers.date ?? '')
  return Number.isNaN(theirs) ? now : new Date(theirs)
}

function textOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null
}

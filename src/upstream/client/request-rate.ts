/**
 * Decides when the next request may be sent. Pure functions compute the state; the client does the waiting.
 * All times are milliseconds of one steady clock.
 */
import type { Budget } from './rate-limit-headers.ts'

/** The rate limit of one process, or of all processes that ask the same upstream. */
export interface RequestRate {
  /**
   * Reserves the next request. Each reserved request must be ended by {@link RequestRate.endRequest}.
   * @param gapMs the gap between two requests by the configured rate limit; 0 without one
   * @returns the wait in milliseconds; nothing is reserved if the upstream asks for more than `maxWaitMs`
   */
  takeRequest(gapMs: number, maxWaitMs: number): Promise<{ readonly isTaken: boolean; readonly inMs: number }>
  /** Returns how many milliseconds are left of the wait that the upstream asked for. */
  heldMs(): Promise<number>
  /** Records a wait that the upstream asked for. */
  hold(ms: number): Promise<void>
  /**
   * Ends a reserved request.
   * @param budget the requests left according to the answer; null if the answer does not say, or if no answer
   * came
   */
  endRequest(budget: Budget | null): Promise<void>
  /** Records a wait that is so long that requests fail instead of waiting. */
  putOff(ms: number): Promise<void>
}

export interface RateState {
  /** The earliest time at which our own rate limit allows the next request. */
  readonly nextAt: number
  /** The earliest time at which the upstream allows the next request, by the wait that it asked for. */
  readonly heldUntil: number
  /** The requests that the upstream still allows until `resetAt`; null if this is unknown. */
  readonly left: number | null
  readonly resetAt: number
}

export const UNLIMITED: RateState = { nextAt: 0, heldUntil: 0, left: null, resetAt: 0 }

/**
 * Computes when the next request may be sent, and the state after that request.
 * @param gapMs the gap between two requests by the configured rate limit; 0 without one
 */
export function admit(pace: RateState, now: number, gapMs: number): { at: number; pace: RateState } {
  const at = Math.max(now, pace.nextAt, upstreamFreeAt(pace, now))
  const left = pace.left === null || pace.resetAt <= at ? null : pace.left - 1
  return { at, pace: { ...pace, nextAt: at + gapMs, left } }
}

/**
 * Returns when the upstream accepts requests again, as far as we know. The result is not after `now` if the
 * upstream accepts requests already.
 */
export function upstreamFreeAt(pace: RateState, now: number): number {
  const isSpent = pace.left !== null && pace.left <= 0 && pace.resetAt > now
  return isSpent ? Math.max(pace.heldUntil, pace.resetAt) : pace.heldUntil
}

/**
 * Records how many requests an answer says are left. The requests under way are subtracted, because the
 * upstream may not have counted them yet.
 */
export function heed(pace: RateState, budget: Budget, underWay: number, now: number): RateState {
  return { ...pace, left: budget.remaining - underWay, resetAt: now + budget.resetMs }
}

/** Records a wait that the upstream asked for. */
export function hold(pace: RateState, until: number): RateState {
  return { ...pace, heldUntil: Math.max(pace.heldUntil, until) }
}

/** Creates the rate limit of a single process. */
export function createRequestRate(nowMs: () => number): RequestRate {
  let pace = UNLIMITED
  let underWay = 0
  return {
    async takeRequest(gapMs, maxWaitMs) {
      const at = nowMs()
      const upstreamMs = upstreamFreeAt(pace, at) - at
      if (upstreamMs > maxWaitMs) return { isTaken: false, inMs: upstreamMs }
      const turn = admit(pace, at, gapMs)
      pace = turn.pace
      underWay++
      return { isTaken: true, inMs: turn.at - at }
    },
    heldMs: async () => Math.max(0, pace.heldUntil - nowMs()),
    async hold(ms) {
      pace = hold(pace, nowMs() + ms)
    },
    async endRequest(budget) {
      underWay--
      if (budget !== null) pace = heed(pace, budget, underWay, nowMs())
    },
    async putOff() {
      pace = UNLIMITED
    },
  }
}

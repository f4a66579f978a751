/**
 * When the next request may leave: a value that pure functions carry on, and the client does the waiting.
 * All times are milliseconds of one steady clock.
 */
import type { Budget } from './rate-limit-headers.ts'

/** Keeps the pace of a process, or of all that ask the same upstream. */
export interface RequestRate {
  /**
   * The next turn, which {@link RequestRate.endRequest} ends.
   * @param gapMs between two requests by the configured budget; 0 without one
   * @returns in how many milliseconds it is; where the upstream wants a longer wait than `maxWaitMs`, none is taken
   */
  takeRequest(gapMs: number, maxWaitMs: number): Promise<{ readonly isTaken: boolean; readonly inMs: number }>
  /** For how long the upstream wants no request, by now. */
  heldMs(): Promise<number>
  /** The upstream has asked for a wait. */
  hold(ms: number): Promise<void>
  /** @param budget what an answer says is left; null where it says nothing, or there was none */
  endRequest(budget: Budget | null): Promise<void>
  /** The upstream has asked for a wait that no run waits for. */
  putOff(ms: number): Promise<void>
}

export interface RateState {
  /** No request before this, by our own budget. */
  readonly nextAt: number
  /** No request before this, since the upstream said so. */
  readonly heldUntil: number
  /** Requests left until `resetAt`; null while nothing is known. */
  readonly left: number | null
  readonly resetAt: number
}

export const UNLIMITED: RateState = { nextAt: 0, heldUntil: 0, left: null, resetAt: 0 }

/**
 * The instant at which a request may leave, and the pace after it.
 * @param gapMs between two requests by the configured budget; 0 without one
 */
export function admit(pace: RateState, now: number, gapMs: number): { at: number; pace: RateState } {
  const at = Math.max(now, pace.nextAt, upstreamFreeAt(pace, now))
  const left = pace.left === null || pace.resetAt <= at ? null : pace.left - 1
  return { at, pace: { ...pace, nextAt: at + gapMs, left } }
}

/** When the upstream takes requests again, as far as it has said; `now` or earlier if it does already. */
export function upstreamFreeAt(pace: RateState, now: number): number {
  const isSpent = pace.left !== null && pace.left <= 0 && pace.resetAt > now
  return isSpent ? Math.max(pace.heldUntil, pace.resetAt) : pace.heldUntil
}

/** Takes in what an answer says is left. Requests still under way may not be counted there yet. */
export function heed(pace: RateState, budget: Budget, underWay: number, now: number): RateState {
  return { ...pace, left: budget.remaining - underWay, resetAt: now + budget.resetMs }
}

/** Takes in a wait that the upstream asked for. */
export function hold(pace: RateState, until: number): RateState {
  return { ...pace, heldUntil: Math.max(pace.heldUntil, until) }
}

/* The pace of requests of one process alone, by a steady clock. */

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

/** When a message that was not delivered is sent again, and when a webhook is given up. Pure. */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Before the second attempt, the third and so on: the schedule of Svix. The first is made at once. */
export const WAITS_MS = [
  ...[5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS],
  ...[5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS],
]
/** Up to so much is added, lest everything that failed at once comes back at once. Nothing comes early. */
const JITTER = 0.1
/** No receiver can ask for more. */
const RETRY_AFTER_MAX_MS = DAY_MS
export const GIVEN_UP_AFTER_DAYS = 5

/** @returns until when a receiver that asks for a pause is sent nothing at all */
export function pausedUntil(retryAfterMs: number, now: number): number {
  return now + Math.min(retryAfterMs, RETRY_AFTER_MAX_MS)
}

/**
 * @param attempt the one that has just failed, from 1
 * @param earliest before which the receiver wants nothing, if it said so
 * @param random from 0 up to 1
 * @returns null after the last one
 */
export function nextAttemptAt(
  attempt: number,
  earliest: number | null,
  now: number,
  random: number,
): number | null {
  const waitMs = WAITS_MS[attempt - 1]
  if (waitMs === undefined) return null
  return Math.max(now + Math.ceil(waitMs * (1 + JITTER * random)), earliest ?? 0)
}

/** Whether a webhook that fails now, and has done nothing else since then, is given up. */
export function isGivenUp(failingSince: number, now: number): boolean {
  return now - failingSince >= GIVEN_UP_AFTER_DAYS * DAY_MS
}

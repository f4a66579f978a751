/** Limits the rate of messages and of requests for leads: at most so many within a time. */

const MINUTE_MS = 60_000

export interface RateLimit {
  /** Takes a slot; returns 0, or the milliseconds to wait if there is none. */
  tryTake(now: Date): Promise<number>
}

/** The rate limit of a single process, which can look before it takes a slot. */
interface OwnRateLimit extends RateLimit {
  /** Returns the milliseconds until the next slot; 0 if there is one now. */
  msToWait(now: Date): number
  /** Takes a slot now. */
  take(now: Date): void
}

/** Creates a limit of `most` within any minute, or another time; the first ones go at once. */
export function createRateLimit(most: number, withinMs = MINUTE_MS): OwnRateLimit {
  let taken: number[] = []
  const msToWait = (now: Date): number => {
    const at = now.getTime()
    // After a clock was set back, times in the future would block everything, so they are dropped.
    taken = taken.filter((ms) => ms > at - withinMs && ms <= at)
    const [first] = taken
    return first === undefined || taken.length < most ? 0 : first + withinMs - at
  }
  const take = (now: Date): void => void taken.push(now.getTime())
  return {
    msToWait,
    take,
    async tryTake(now) {
      const ms = msToWait(now)
      if (ms === 0) take(now)
      return ms
    },
  }
}

/** Limits the rate of messages and of requests for leads: at most a given number within a given time. */
import { MINUTE_MS } from '../../time.ts'

export interface RateLimit {
  /**
   * Takes a slot, which permits one message or request, and returns 0. If no slot is free, returns the
   * milliseconds to wait.
   */
  tryTake(now: Date): Promise<number>
}

/** The rate limit of a single process. It can also tell how long to wait without taking a slot. */
interface OwnRateLimit extends RateLimit {
  /** Returns the milliseconds until the next slot is free; 0 if one is free now. */
  msToWait(now: Date): number
  /** Takes a slot, even if none is free. */
  take(now: Date): void
}

/**
 * Creates a limit of `most` slots within any span of `withinMs`, which is a minute by default. The first
 * `most` slots can be taken without waiting.
 */
export function createRateLimit(most: number, withinMs = MINUTE_MS): OwnRateLimit {
  let taken: number[] = []
  const msToWait = (now: Date): number => {
    const at = now.getTime()
    // Drops times in the future: if the clock was set back, they would block every message.
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

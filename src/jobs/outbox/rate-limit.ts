/** How fast messages go, and requests for leads that events told of: so many in a time at most. */

const MINUTE_MS = 60_000

export interface RateLimit {
  /** Takes a turn. @returns 0; where none is to be had, after how many milliseconds to try again */
  tryTake(now: Date): Promise<number>
}

/** The rate limit of one process alone, which can ask before it takes. */
interface OwnRateLimit extends RateLimit {
  /** How long the next one has to wait; 0 where it need not. */
  msToWait(now: Date): number
  /** Counts one that goes now. */
  take(now: Date): void
}

/** Within any minute, or another time, as many as told; the first ones go at once. */
export function createRateLimit(most: number, withinMs = MINUTE_MS): OwnRateLimit {
  let taken: number[] = []
  const msToWait = (now: Date): number => {
    const at = now.getTime()
    // A clock that was put back would make those of the future stand in the way.
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

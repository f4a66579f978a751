/** How fast letters go, and requests for leads that events told of: so many in a time at most. */

const MINUTE_MS = 60_000

export interface Pace {
  /** How long the next one has to wait; 0 where it need not. */
  msToWait(now: Date): number
  /** One goes now. */
  take(now: Date): void
}

/** Within any minute, or another time, as many as told; the first ones go at once. */
export function createPace(most: number, withinMs = MINUTE_MS): Pace {
  let taken: number[] = []
  return {
    msToWait(now) {
      const at = now.getTime()
      // A clock that was put back would make those of the future stand in the way.
      taken = taken.filter((ms) => ms > at - withinMs && ms <= at)
      const [first] = taken
      return first === undefined || taken.length < most ? 0 : first + withinMs - at
    },
    take: (now) => void taken.push(now.getTime()),
  }
}

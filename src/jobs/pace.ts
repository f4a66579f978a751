/** How fast letters go: so many a minute at most, since servers refuse who is faster. */

const MINUTE_MS = 60_000

export interface Pace {
  /** How long the next letter has to wait; 0 where it need not. */
  msToWait(now: Date): number
  /** A letter goes now. */
  take(now: Date): void
}

/** Within any minute as many as told; the first ones go at once. */
export function createPace(perMinute: number): Pace {
  let taken: number[] = []
  return {
    msToWait(now) {
      const at = now.getTime()
      // A clock that was put back would make letters of the future stand in the way.
      taken = taken.filter((ms) => ms > at - MINUTE_MS && ms <= at)
      const [first] = taken
      return first === undefined || taken.length < perMinute ? 0 : first + MINUTE_MS - at
    },
    take: (now) => void taken.push(now.getTime()),
  }
}

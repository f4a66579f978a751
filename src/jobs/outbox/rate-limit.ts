/** Limits the rate of messages and of requests for leads: at most a given number within a given time. */
import { MINUTE_MS } from '../../time.ts'

export type RateLimit = Readonly<ReturnType<typeof createRateLimit>>

/** At most `most` permits within any span of `withinMs` milliseconds, the first without waiting. */
export function createRateLimit(most: number, withinMs = MINUTE_MS) {
  let taken: number[] = []
  const msToWait = (now: Date): number => {
    const at = now.getTime()
    // Drops times in the future: if the clock was set back, they would block every message.
    taken = taken.filter((ms) => ms > at - withinMs && ms <= at)
    const [first] = taken
    return first === undefined || taken.length < most ? 0 : first + withinMs - at
  }
  const take = (now: Date): void => void taken.push(now.getTime())
  return { msToWait, take }
}

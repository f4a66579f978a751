/** The simulated clock: real time from the moment the service opens, sped up if wanted. */

export interface Clock {
  /** Milliseconds since 1970 in simulated time. */
  now(): number
}

/**
 * @param realNow the real clock
 * @param speed simulated seconds per real second
 * @param notBefore how far time has been simulated already; a fast run may have left it ahead of real time
 */
export function createClock(realNow: () => number, speed: number, notBefore: number): Clock {
  const openedAt = realNow()
  const startsAt = Math.max(openedAt, notBefore)
  return { now: () => Math.floor(startsAt + (realNow() - openedAt) * speed) }
}

/** The simulated clock: real time from the moment the service opens, sped up if wanted. */

export interface Clock {
  /** Milliseconds since 1970 in simulated time. */
  now(): number
}

export interface ClockOptions {
  /** Simulated seconds per real second. */
  readonly speed: number
  /** How far time has been simulated already; a fast run may have left it ahead of real time. */
  readonly notBefore: number
  /** A past instant to begin at: what has been since is played with that speed, and real time from the present on. */
  readonly playFrom: number | undefined
}

/** @param realNow the real clock */
export function createClock(realNow: () => number, { speed, notBefore, playFrom }: ClockOptions): Clock {
  const openedAt = realNow()
  const startsAt = Math.max(playFrom ?? openedAt, notBefore)
  const played = () => Math.floor(startsAt + (realNow() - openedAt) * speed)
  if (playFrom === undefined) return { now: played }
  return { now: () => Math.min(played(), Math.max(realNow(), startsAt)) }
}

/** Keeps the simulation up with its clock while the service is open. */
import type { ServiceLog } from './http/server.ts'
import { HOUR_MS } from './simulation/calendar.ts'
import type { Life } from './simulation/life.ts'

const TICK_MS = 1000
/** The length of a stretch, which blocks the event loop for a few milliseconds only. */
const STRETCH_MS = 2 * HOUR_MS

export interface Ticker {
  /** Plays up to the clock's present. */
  catchUp(): Promise<void>
  /** Resolves when nothing is being played any more. */
  stop(): Promise<void>
}

/** @param onPlayed called after each stretch, when its changes are in the database */
export function startTicker(life: Life, clock: Clock, log: ServiceLog, onPlayed: () => void): Ticker {
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let turn = Promise.resolve()

  const catchUp = (): Promise<void> => {
    turn = life.advance(clock.now(), {
      stretchMs: STRETCH_MS,
      onProgress: onPlayed,
      signal: stopping.signal,
    })
    return turn
  }

  const tick = async (): Promise<void> => {
    try {
      await catchUp()
    } catch (error) {
      // A full disk or a locked file may pass. Changes that were not written are played again next time.
      log.error({ err: error }, 'the simulation could not go on')
    }
    wait()
  }
  const wait = (): void => {
    if (stopping.signal.aborted) return
    timer = setTimeout(() => void tick(), TICK_MS)
  }

  wait()
  return {
    catchUp,
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      // Because stretches are played one after the other, the last one ends them all. Its error goes to its
      // caller.
      await turn.catch(() => undefined)
    },
  }
}

/** The simulated clock: real time from the moment the service opens, sped up on request. */

export interface Clock {
  /** Milliseconds since 1970 in simulated time. */
  now(): number
}

export interface ClockOptions {
  /** Simulated seconds per real second. */
  readonly speed: number
  /** How far time has already been simulated. A fast run may have left it ahead of real time. */
  readonly notBefore: number
  /**
   * A past instant to begin at. The time since is played with `speed`; from the present on it is real time.
   */
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

/** Decides whether the daemon is alive, from the heartbeat that it stores each minute. */
import type { LastHeartbeat } from '../store/schedule/uptime.ts'

/** One or two ticks may be lost; after three the daemon counts as dead. */
export const HEARTBEAT_MAX_MS = 180_000

/**
 * `stopped`: a person ended the daemon. `dead`: it should run but does not, or cannot write. `none`: it
 * never ran.
 */
export type Life = 'alive' | 'stopped' | 'dead' | 'none'

export function lifeOf(beat: LastHeartbeat | undefined, now: Date): Life {
  if (beat === undefined) return 'none'
  if (beat.ended_at !== null) return 'stopped'
  // A heartbeat from the future does not count: after the clock was set back, a live daemon writes a new
  // one at its next tick.
  return Math.abs(now.getTime() - Date.parse(beat.last_tick_at)) <= HEARTBEAT_MAX_MS ? 'alive' : 'dead'
}

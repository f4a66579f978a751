/** Whether the daemon lives, by the beat that it writes into the store each minute. */
import type { LastHeartbeat } from '../store/schedule/uptime.ts'

/** A tick or two may be lost; three are none any more. */
export const HEARTBEAT_MAX_MS = 180_000

/** `stopped`: somebody ended it. `dead`: it should run, and does not, or cannot write. `none`: it never ran. */
export type Life = 'alive' | 'stopped' | 'dead' | 'none'

export function lifeOf(beat: LastHeartbeat | undefined, now: Date): Life {
  if (beat === undefined) return 'none'
  if (beat.ended_at !== null) return 'stopped'
  // Also one from the future is none of now: a daemon begins anew at its next tick after the clock was set back.
  return Math.abs(now.getTime() - Date.parse(beat.last_tick_at)) <= HEARTBEAT_MAX_MS ? 'alive' : 'dead'
}

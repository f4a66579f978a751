/**
 * Records when the daemon ran. A tick that is minutes late is logged, with the cause: the process was
 * blocked or the clock was set. The gap is stored so that missed runs can be explained.
 */
import type { Log } from '../../log.ts'
import type { Store } from '../../store/db/store.ts'
import { addSpan, endSpan, touchSpan } from '../../store/schedule/uptime.ts'

/** Ticks come each minute; one lost tick is not reported. */
const LATE_MS = 150_000
/** Smaller corrections of the clock are normal and not reported. */
const CLOCK_STEP_MS = 60_000

export interface UptimeDeps {
  readonly store: Store
  readonly log: Log
  readonly now: () => Date
  /** A clock that nobody can set and that stops while the machine sleeps: `performance.now`. */
  readonly monotonicMs: () => number
}

export interface Uptime {
  /** Stores a heartbeat; to be called first in each tick. */
  beat(): Promise<void>
  end(): Promise<void>
}

export async function openUptime({ store, log, now, monotonicMs }: UptimeDeps): Promise<Uptime> {
  const begin = (at: Date, after: 'down' | 'blocked' | 'clock') =>
    store.write((trx) => addSpan(trx, { at: at.toISOString(), after }))
  let last = { at: now(), monotonicMs: monotonicMs() }
  let span = await begin(last.at, 'down')
  return {
    async beat() {
      const beat = { at: now(), monotonicMs: monotonicMs() }
      const passedMs = beat.at.getTime() - last.at.getTime()
      const isClockSet = Math.abs(passedMs - (beat.monotonicMs - last.monotonicMs)) > CLOCK_STEP_MS
      if (passedMs >= -CLOCK_STEP_MS && passedMs <= LATE_MS) {
        await store.write((trx) => touchSpan(trx, span, beat.at.toISOString()))
      } else {
        span = await begin(beat.at, isClockSet ? 'clock' : 'blocked')
        log.warn({ from: last.at.toISOString(), to: beat.at.toISOString() }, tell(passedMs, isClockSet))
      }
      // This is set only after the write, so that a gap that could not be stored is detected again.
      last = beat
    },
    end: () => store.write((trx) => endSpan(trx, span, now().toISOString())),
  }
}

function tell(passedMs: number, isClockSet: boolean): string {
  const minutes = `${Math.round(Math.abs(passedMs) / 60_000)} minutes`
  if (passedMs < 0) return `The clock was set back by ${minutes}; what ran in that time does not run again`
  return isClockSet
    ? `The clock went on by ${minutes} at once: it was set, or the machine slept`
    : `Nothing could be done for ${minutes}: the process was kept from its work`
}

/**
 * Records when the daemon was running. If a tick is minutes late, the delay is logged with its cause: the
 * process was blocked or the clock was set. The gap is stored, so that missed runs can be explained.
 */

import { LeadsheetError } from '../../errors.ts'
import { beginUptime, endUptime, recordHeartbeat, resumeUptime } from '../../store/schedule/uptime.ts'
import type { JobDeps } from '../job-deps.ts'
import { GAP_MS } from './schedule-state.ts'

export const CLOCK_STEP_MS = 60_000

export interface UptimeDeps extends JobDeps {
  /** `performance.now`: nobody can set it, and it stops while the machine sleeps. */
  readonly monotonicMs: () => number
}

export interface Uptime {
  /** Must be called first in each tick. */
  recordHeartbeat(): Promise<void>
  end(): Promise<void>
}

export async function openUptime({ store, log, now, monotonicMs }: UptimeDeps): Promise<Uptime> {
  let last = { at: now(), monotonicMs: monotonicMs() }
  const begun = { at: last.at.toISOString(), after: 'down' } as const
  const id = await store.write((trx) => beginUptime(trx, begun))
  let fault: string | null = null
  const record = async (): Promise<void> => {
    const heartbeat = { at: now(), monotonicMs: monotonicMs() }
    const passedMs = heartbeat.at.getTime() - last.at.getTime()
    const isClockSet = Math.abs(passedMs - (heartbeat.monotonicMs - last.monotonicMs)) > CLOCK_STEP_MS
    if (passedMs >= -CLOCK_STEP_MS && passedMs <= GAP_MS) {
      await store.write((trx) => recordHeartbeat(trx, id, heartbeat.at.toISOString()))
    } else {
      const after = isClockSet ? 'clock' : fault === null ? 'blocked' : 'unwritable'
      await store.write((trx) => resumeUptime(trx, id, { at: heartbeat.at.toISOString(), after }))
      log.warn(
        { from: last.at.toISOString(), to: heartbeat.at.toISOString() },
        gapText(passedMs, isClockSet, fault),
      )
    }
    // `last` is set only after the write, so that a gap that could not be stored is found again at the next
    // tick.
    last = heartbeat
    fault = null
  }
  return {
    recordHeartbeat: () =>
      record().catch((thrown: unknown) => {
        if (thrown instanceof LeadsheetError) fault = thrown.message
        throw thrown
      }),
    end: () => store.write((trx) => endUptime(trx, id, now().toISOString())),
  }
}

function gapText(passedMs: number, isClockSet: boolean, fault: string | null): string {
  const minutes = `${Math.round(Math.abs(passedMs) / 60_000)} minutes`
  if (passedMs < 0) return `The clock was set back by ${minutes}; what ran in that time does not run again`
  if (fault !== null && !isClockSet) return `Nothing could be stored for ${minutes}: ${fault}`
  return isClockSet
    ? `The clock went on by ${minutes} at once: it was set, or the machine slept`
    : `Nothing could be done for ${minutes}: the process was kept from its work`
}

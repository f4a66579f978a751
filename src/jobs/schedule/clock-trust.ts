/**
 * Decides whether the clock may be believed. After the clock was set, nothing is begun until the Date of an
 * upstream's answer confirms the new time, or the clock is back where it was. Otherwise a clock that is ahead
 * for minutes would send the report of a day that is not over.
 */
import { CLOCK_AHEAD_MAX_MS } from '../../checks/machine.ts'
import type { Store } from '../../store/db/store.ts'
import { forgetScheduledRuns, isAnyNotedAfter } from '../../store/schedule/scheduled-run.ts'
import { formatUtc } from '../../time.ts'
import { CLOCK_STEP_MS, type UptimeDeps } from './uptime.ts'

const ASK_WITHIN_MS = 10_000

/** Compares our clock with that of the upstream. Milliseconds by which ours is ahead; null if unknown. */
export interface UpstreamClock {
  /** The difference at the last answer. */
  last(): number | null
  /** The difference now: sends a request. */
  ask(signal: AbortSignal): Promise<number | null>
}

export interface ClockTrust {
  /** Compares the clock with that of the last call. It must be called first in each tick. */
  look(): Promise<void>
  /** Says why nothing may begin; null if the clock is believed. */
  doubt(): string | null
}

/** @param upstreamClock absent if nobody can be asked: then the clock is always believed */
export function createClockTrust({
  store,
  log,
  now,
  monotonicMs,
  upstreamClock,
}: UptimeDeps & { readonly upstreamClock?: UpstreamClock }): ClockTrust {
  let believed: { readonly at: Date; readonly monotonicMs: number; readonly aheadMs: number | null } | null =
    null
  let doubt: string | null = null
  return {
    doubt: () => doubt,
    async look() {
      if (upstreamClock === undefined) return
      const looked = { at: now(), monotonicMs: monotonicMs(), aheadMs: upstreamClock.last() }
      const expected = believed && new Date(believed.at.getTime() + looked.monotonicMs - believed.monotonicMs)
      const isSet = expected && Math.abs(looked.at.getTime() - expected.getTime()) > CLOCK_STEP_MS
      if (isSet || (believed === null && (await isAnyNotedAfter(store.db, afterNow(looked.at))))) {
        const aheadMs = await upstreamClock.ask(AbortSignal.timeout(ASK_WITHIN_MS))
        const isRight = aheadMs !== null && isNear(aheadMs, believed?.aheadMs ?? 0)
        if (!isRight) {
          const text = `${doubtText(expected, looked.at, aheadMs)} Nothing is begun until they agree.`
          if (doubt === null) log.warn(text)
          doubt = text
          return
        }
        await forget(store, looked.at, log)
      }
      if (doubt !== null) log.info('the clock is believed again')
      believed = looked
      doubt = null
    },
  }
}

/** Returns whether the clocks agree, or differ as they did before the clock was set. */
function isNear(aheadMs: number, beforeMs: number): boolean {
  return [0, beforeMs].some((ms) => Math.abs(aheadMs - ms) <= CLOCK_AHEAD_MAX_MS)
}

function afterNow(at: Date): string {
  return new Date(at.getTime() + CLOCK_STEP_MS).toISOString()
}

function doubtText(expected: Date | null, at: Date, aheadMs: number | null): string {
  const set =
    expected === null
      ? ''
      : ` It was set to ${formatUtc(at.toISOString())} at ${formatUtc(expected.toISOString())}.`
  const upstream =
    aheadMs === null
      ? 'the upstream, which cannot be asked'
      : `the upstream: it is ${Math.round(Math.abs(aheadMs) / 60_000)} minutes ${aheadMs > 0 ? 'ahead' : 'behind'}`
  return `The clock of this machine is not confirmed by ${upstream}.${set}`
}

/** Forgets the runs that lie in the future, so that the real ones come when it is their time. */
async function forget(store: Store, at: Date, log: UptimeDeps['log']): Promise<void> {
  const runs = await store.write((trx) => forgetScheduledRuns(trx, afterNow(at)))
  for (const { schedule, due_at, state } of runs)
    log.warn({ schedule, due_at, state }, 'noted while the clock was ahead: forgotten')
}

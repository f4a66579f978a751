/**
 * Decides whether the clock may be believed. After the clock was set, or after a long time without a daemon,
 * nothing is begun until the Date of an upstream's answer confirms the time, the clock is back where it was, or the
 * upstream has not told its time for 30 minutes. Otherwise a clock that is ahead for minutes would send the report of a
 * day that is not over.
 */
import { CLOCK_AHEAD_MAX_MS } from '../../checks/machine.ts'
import type { Store } from '../../store/db/store.ts'
import { forgetScheduledRuns, isAnyNotedAfter } from '../../store/schedule/scheduled-run.ts'
import { listGaps } from '../../store/schedule/uptime.ts'
import { formatUtc, HOUR_MS, MINUTE_MS } from '../../time.ts'
import { CLOCK_STEP_MS, type UptimeDeps } from './uptime.ts'

const ASK_WITHIN_MS = 10_000
/**
 * A shorter time without a daemon needs no confirmed clock, and a clock that is less ahead is believed at the
 * start.
 */
const START_AHEAD_MAX_MS = HOUR_MS
/** The longest wait for an upstream that does not tell its time. A time service sets a clock within minutes. */
const UNCONFIRMED_MINUTES = 30

/** Compares our clock with that of the upstream. Milliseconds by which ours is ahead; null if unknown. */
interface UpstreamClock {
  last(): number | null
  /** The difference now: sends a request. */
  ask(signal: AbortSignal): Promise<number | null>
}

export interface ClockTrust {
  /** Must be called first in each tick. */
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
  /** The time since which the upstream has not told its time; null if it did when it was last asked. */
  let silentFromMs: number | null = null
  const openedAt = now()
  return {
    doubt: () => doubt,
    async look() {
      if (upstreamClock === undefined) return
      const looked = { at: now(), monotonicMs: monotonicMs(), aheadMs: upstreamClock.last() }
      const expected = believed && new Date(believed.at.getTime() + looked.monotonicMs - believed.monotonicMs)
      const isSet = expected && Math.abs(looked.at.getTime() - expected.getTime()) > CLOCK_STEP_MS
      const isNoted = believed === null && (await isAnyNotedAfter(store.db, afterNow(looked.at)))
      const downSince = believed === null ? await findDownSince(store, openedAt, looked.at) : null
      if (isSet || isNoted || downSince !== null) {
        const aheadMs = await upstreamClock.ask(AbortSignal.timeout(ASK_WITHIN_MS))
        silentFromMs = aheadMs === null ? (silentFromMs ?? looked.monotonicMs) : null
        const silentMs = silentFromMs === null ? 0 : looked.monotonicMs - silentFromMs
        if (aheadMs !== null && isNear(aheadMs, believed?.aheadMs ?? 0)) {
          await forget(store, looked.at, log)
        } else if (silentMs >= UNCONFIRMED_MINUTES * MINUTE_MS) {
          log.warn(`nobody confirmed the clock for ${UNCONFIRMED_MINUTES} minutes: work goes on with it`)
        } else if (aheadMs === null || isNoted || !isAsBefore(aheadMs, looked.at, downSince)) {
          if (doubt === null) log.warn(doubtText(expected, looked.at, aheadMs))
          doubt = doubtText(expected, looked.at, aheadMs)
          return
        }
      }
      if (doubt !== null) log.info('the clock is believed again')
      believed = looked
      doubt = silentFromMs = null
    },
  }
}

function isNear(aheadMs: number, beforeMs: number): boolean {
  return [0, beforeMs].some((ms) => Math.abs(aheadMs - ms) <= CLOCK_AHEAD_MAX_MS)
}

/** Returns when the last daemon before this one ran; null if none did, or less than an hour ago. */
async function findDownSince({ db }: Store, openedAt: Date, at: Date): Promise<Date | null> {
  const since = new Date(openedAt.getTime() - CLOCK_STEP_MS).toISOString()
  const [gap] = await listGaps(db, { since, now: at.toISOString(), leastMs: START_AHEAD_MAX_MS })
  return gap?.from == null ? null : new Date(gap.from)
}

/**
 * Returns whether a clock at the start is near enough, or was already ahead for the last daemon: by the clock
 * of the upstream, that daemon still has to come.
 * @param downSince null if the clock was set while this daemon ran
 */
function isAsBefore(aheadMs: number, at: Date, downSince: Date | null): boolean {
  if (downSince === null) return false
  const upstreamMs = at.getTime() - aheadMs
  return aheadMs <= START_AHEAD_MAX_MS || upstreamMs + CLOCK_AHEAD_MAX_MS < downSince.getTime()
}

function afterNow(at: Date): string {
  return new Date(at.getTime() + CLOCK_STEP_MS).toISOString()
}

function doubtText(expected: Date | null, at: Date, aheadMs: number | null): string {
  const set =
    expected === null
      ? ''
      : ` It was set to ${formatUtc(at.toISOString())} at ${formatUtc(expected.toISOString())}.`
  const [upstream, until] =
    aheadMs === null
      ? ['which does not tell its time.', `it does, for ${UNCONFIRMED_MINUTES} minutes at most`]
      : [
          `which says that it is ${Math.round(Math.abs(aheadMs) / MINUTE_MS)} minutes ${aheadMs > 0 ? 'ahead' : 'behind'}.`,
          'they agree',
        ]
  return `The clock of this machine is not confirmed by the upstream, ${upstream}${set} Nothing is begun until ${until}.`
}

/** Forgets the runs that lie in the future, so that the real ones come when it is their time. */
async function forget(store: Store, at: Date, log: UptimeDeps['log']): Promise<void> {
  const runs = await store.write((trx) => forgetScheduledRuns(trx, afterNow(at)))
  for (const { schedule, due_at, state } of runs)
    log.warn({ schedule, due_at, state }, 'noted while the clock was ahead: forgotten')
}

/** Prunes data that is older than the settings keep, in small batches. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../domain/model.ts'
import type { Store } from '../../store/db/store.ts'
import { pruneEvents, pruneSamples, type Series } from '../../store/retention/retention.ts'
import { withLease } from '../../store/schedule/lease.ts'
import { DAY_MS } from '../../time.ts'

export interface Retention {
  readonly dailyAfterDays: number
}

interface Pruned {
  readonly table: Series | 'event'
  readonly before: Instant
  readonly deleted: number
}

interface PruneJob {
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** A sender may repeat an event for some days. A later repeat only causes one more request. */
const EVENT_DAYS = 7

/**
 * Prunes all tables. The result does not depend on how often this runs or where it is interrupted.
 * @throws LeadsheetError job_busy while another process prunes; the signal's reason if the signal is aborted
 */
export async function prune(store: Store, retention: Retention, job: PruneJob): Promise<Pruned[]> {
  return withLease(store, 'prune', job.now, ({ lost }) =>
    pruneAll(store, retention, { ...job, signal: AbortSignal.any([job.signal, lost]) }),
  )
}

async function pruneAll(
  store: Store,
  { dailyAfterDays }: Retention,
  { now, signal }: PruneJob,
): Promise<Pruned[]> {
  const at = now()
  const pause = async (): Promise<void> => {
    signal.throwIfAborted()
    await nextTurn()
  }
  const optionsFor = (before: Instant) => ({ before, now: at.toISOString(), pause })
  const done: Pruned[] = []
  const samplesBefore = daysBefore(at, dailyAfterDays)
  for (const table of ['pipeline_stat', 'agent_sample'] as const) {
    const deleted = await pruneSamples(store, table, optionsFor(samplesBefore))
    done.push({ table, before: samplesBefore, deleted })
  }
  const eventsBefore = daysBefore(at, EVENT_DAYS)
  const events = await pruneEvents(store, optionsFor(eventsBefore))
  return [...done, { table: 'event', before: eventsBefore, deleted: events }]
}

/** Returns the start of the UTC day that lies `days` days before `at`, so that each day is pruned as a whole. */
function daysBefore(at: Date, days: number): Instant {
  return new Date(Math.floor(at.getTime() / DAY_MS - days) * DAY_MS).toISOString()
}

/** Prunes data that is older than the settings keep, in small batches. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../domain/model.ts'
import type { Store } from '../../store/db/store.ts'
import { pruneEvents, pruneSamples, pruneVersions, type Series } from '../../store/retention/retention.ts'
import { claimLease } from '../../store/schedule/lease.ts'
import { DAY_MS } from '../../time.ts'

export interface Retention {
  /** The age in days from which only the first sample of each day is kept. */
  readonly dailyAfterDays: number
  /** The number of years for which old versions of leads are kept; null to keep them for ever. */
  readonly versionsYears: number | null
}

/** The result of pruning one table. */
export interface Pruned {
  readonly table: Series | 'lead_version' | 'event'
  /** The time limit: only rows from before this instant were considered. */
  readonly before: Instant
  /** The number of rows that were deleted, or would be deleted in a dry run. */
  readonly deleted: number
}

interface PruneJob {
  readonly now: () => Date
  /** True if the rows are only counted and not deleted. */
  readonly isDry: boolean
  readonly signal: AbortSignal
}

/**
 * The number of days for which events are kept. A sender may repeat an event for some days, and an event that
 * is still stored is recognised. A later repeat does no harm: it only causes one more request.
 */
const EVENT_DAYS = 7

/**
 * Prunes all tables. The result does not depend on how often this runs or where it is interrupted.
 * @throws LeadsheetError job_busy while another process prunes; the signal's reason if the signal is aborted
 */
export async function prune(store: Store, retention: Retention, job: PruneJob): Promise<Pruned[]> {
  if (job.isDry) return pruneAll(store, retention, job)
  const lease = await claimLease(store, 'prune', job.now)
  try {
    const signal = AbortSignal.any([job.signal, lease.lost])
    return await pruneAll(store, retention, { ...job, signal })
  } finally {
    await lease.release()
  }
}

async function pruneAll(
  store: Store,
  { dailyAfterDays, versionsYears }: Retention,
  { now, isDry, signal }: PruneJob,
): Promise<Pruned[]> {
  const at = now()
  const pause = async (): Promise<void> => {
    signal.throwIfAborted()
    await nextTurn()
  }
  const optionsFor = (before: Instant) => ({ before, now: at.toISOString(), isDry, pause })
  const done: Pruned[] = []
  const samplesBefore = daysBefore(at, dailyAfterDays)
  for (const table of ['pipeline_stat', 'agent_sample'] as const) {
    const deleted = await pruneSamples(store, table, optionsFor(samplesBefore))
    done.push({ table, before: samplesBefore, deleted })
  }
  const eventsBefore = daysBefore(at, EVENT_DAYS)
  const events = await pruneEvents(store, optionsFor(eventsBefore))
  done.push({ table: 'event', before: eventsBefore, deleted: events })
  if (versionsYears === null) return done
  const before = yearsBefore(at, versionsYears)
  const versions = await pruneVersions(store, optionsFor(before))
  return [...done, { table: 'lead_version', before, deleted: versions }]
}

/** Returns the start of the UTC day that lies `days` days before `at`, so that each day is pruned as a whole. */
function daysBefore(at: Date, days: number): Instant {
  return new Date(Math.floor(at.getTime() / DAY_MS - days) * DAY_MS).toISOString()
}

function yearsBefore(at: Date, years: number): Instant {
  return new Date(Date.UTC(at.getUTCFullYear() - years, at.getUTCMonth(), at.getUTCDate())).toISOString()
}

/** Pruning: what the settings do not want to be kept any longer goes, a little at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Instant } from '../../model.ts'
import type { Store } from '../../store/db/store.ts'
import { pruneEvents } from '../../store/events/event.ts'
import {
  downsampleRows,
  type PruneCounts,
  type PruneOptions,
  pruneVersions,
  type Series,
} from '../../store/retention/retention.ts'
import { claimLease } from '../../store/schedule/lease.ts'

export interface Retention {
  /** Readings that are older are thinned: to the first of each hour, and later of each day. */
  readonly hourlyAfterDays: number
  readonly dailyAfterDays: number
  /** Null for ever. */
  readonly versionsYears: number | null
}

/** Of one table, what went or would go. */
export interface Pruned extends PruneCounts {
  readonly table: Series | 'lead_version' | 'event'
  /** What is older than this was looked at. */
  readonly before: Instant
}

interface PruneJob {
  readonly now: () => Date
  /** Only counts. */
  readonly isDry: boolean
  readonly signal: AbortSignal
}

const DAY_MS = 86_400_000
/** Senders try for some days; what comes again after its event is forgotten is only read once more. */
const EVENT_DAYS = 7

/**
 * What goes is the same however often and in however many pieces it is done.
 * @throws LeadsheetError job_busy while another process prunes, and the reason of the signal
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
  { hourlyAfterDays, dailyAfterDays, versionsYears }: Retention,
  { now, isDry, signal }: PruneJob,
): Promise<Pruned[]> {
  const at = now()
  const settings: PruneOptions = { now: at.toISOString(), isDry, pause: () => pauseUnless(signal) }
  const dailyDays = Math.max(hourlyAfterDays, dailyAfterDays)
  const plan = { hourlyBefore: daysBefore(at, hourlyAfterDays), dailyBefore: daysBefore(at, dailyDays) }
  const done: Pruned[] = []
  for (const table of ['pipeline_stat', 'agent_sample'] as const) {
    const before = plan.hourlyBefore
    done.push({ table, before, ...(await downsampleRows(store, table, plan, settings)) })
  }
  const eventsBefore = daysBefore(at, EVENT_DAYS)
  done.push({ table: 'event', before: eventsBefore, ...(await pruneEvents(store, eventsBefore, settings)) })
  if (versionsYears === null) return done
  const before = yearsBefore(at, versionsYears)
  done.push({ table: 'lead_version', before, ...(await pruneVersions(store, before, settings)) })
  return done
}

/** Lets others have their turn. */
async function pauseUnless(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await nextTurn()
}

/** The beginning of the day in UTC, so that no day is thinned in two pieces. */
function daysBefore(at: Date, days: number): Instant {
  return new Date(Math.floor(at.getTime() / DAY_MS - days) * DAY_MS).toISOString()
}

function yearsBefore(at: Date, years: number): Instant {
  return new Date(Date.UTC(at.getUTCFullYear() - years, at.getUTCMonth(), at.getUTCDate())).toISOString()
}

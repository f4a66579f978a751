/** Builds the schedule of a sync. The daily full sync also prunes old data. */

import { dayBefore } from '../../domain/period.ts'
import type { SyncResult } from '../../domain/sync.ts'
import type { Store } from '../../store/db/store.ts'
import { listCountedDays, refreshDailyCounts } from '../../store/insight/daily-count.ts'
import { refreshStallThresholds } from '../../store/insight/stall-threshold.ts'
import { type Lease, withLease } from '../../store/schedule/lease.ts'
import { addScheduledRun, isAnyDue, isAnyOpen } from '../../store/schedule/scheduled-run.ts'
import { isTransient, retryLater, tryQuietly } from '../schedule/job-failure.ts'
import { noteScheduledRuns } from '../schedule/note-due-runs.ts'
import { prune, type Retention } from '../schedule/retention.ts'
import { type Schedule, type ScheduleSettings, SYNC_LEASE } from '../schedule/schedule.ts'
import { syncUnder } from './run-sync.ts'
import type { SyncDeps, SyncOptions } from './sync-context.ts'

interface SyncWork extends SyncDeps {
  readonly syncOptions: (signal: AbortSignal) => SyncOptions
  readonly retention: Retention
  /** The time zones of the reports. After a sync, the leads of each day are counted, in each time zone. */
  readonly timeZones: readonly string[]
}

export interface ScheduledSyncDeps extends SyncWork {
  readonly publish: (signal: AbortSignal) => Promise<void>
  /** Runs {@link syncAndPrune} in another process. If this field is absent, the sync runs in this process. */
  readonly syncElsewhere?: RunSync
}

/**
 * Runs a scheduled sync.
 * @param full true to read all leads, false to read only the leads that changed
 * @throws LeadsheetError job_busy if another process took over the lease, store_unreachable
 */
export type RunSync = (full: boolean, lease: Lease, signal: AbortSignal) => Promise<SyncResult>

export async function syncAndPrune(work: SyncWork, ...[full, lease, signal]: Parameters<RunSync>) {
  const isOtherDue = () => isAnyDue(work.store.db, work.now().toISOString())
  const result = await syncUnder(lease, work, { ...work.syncOptions(signal), full, isOtherDue })
  if (full && !signal.aborted) await tryQuietly(work.log, signal, () => pruneOld(work, signal))
  const { inserted, updated, deleted } = result.leads
  const hasChanges = inserted + updated + deleted > 0
  if (!signal.aborted) await tryQuietly(work.log, signal, () => countAhead(work, hasChanges))
  return result
}

/** Computes in advance what reports need. If this fails, a report computes it itself. */
async function countAhead({ store, now, timeZones }: SyncWork, hasChanges: boolean): Promise<void> {
  await refreshStallThresholds(store, now())
  for (const timeZone of hasChanges ? timeZones : []) {
    const { to: end } = dayBefore(now(), timeZone)
    await refreshDailyCounts(store, await listCountedDays(store.db, end, timeZone), now())
  }
}

export function syncSchedule(
  work: ScheduledSyncDeps,
  { full, ...settings }: ScheduleSettings & { readonly full: boolean },
): Schedule {
  const runSync: RunSync = work.syncElsewhere ?? ((...run) => syncAndPrune(work, ...run))
  return {
    ...settings,
    leaseName: SYNC_LEASE,
    runsAtFirstSight: !full,
    async run({ attempt }, lease, signal) {
      work.log.info({ full }, 'sync begins')
      const result = await runSync(full, lease, signal)
      const message = result.problems.map((problem) => problem.message).join('; ') || summaryOf(result)
      if (signal.aborted) return { state: 'again', message, notBefore: null }
      await tryQuietly(work.log, signal, () => work.publish(signal))
      if (result.outcome === 'deferred') return { state: 'again', message, notBefore: result.notBefore }
      if (result.outcome !== 'failed') return { state: 'done', message }
      // A failed full sync is tried again, because the next one runs only a day later. A failed incremental
      // sync is not, because the next one comes soon.
      const isWorthIt = full && result.problems.every(({ code }) => isTransient(code))
      return isWorthIt ? retryLater(message, attempt, work.now()) : { state: 'failed', message }
    },
  }
}

async function pruneOld(work: SyncWork, signal: AbortSignal): Promise<void> {
  const pruned = await prune(work.store, work.retention, { now: work.now, signal })
  for (const { table, before, deleted } of pruned.filter((one) => one.deleted > 0))
    work.log.info({ table, before, rows: deleted }, 'pruned')
}

function summaryOf({ leads }: SyncResult): string {
  const read = leads.seen === 1 ? '1 lead' : `${leads.seen} leads`
  return `${read} read, ${leads.inserted} new, ${leads.updated} changed, ${leads.deleted} deleted`
}

// Starts a sync on request by adding a scheduled run that is due now, so that the request survives a restart.

/**
 * Adds a scheduled run, unless a sync is already due.
 * @param schedule a schedule of syncs
 * @throws LeadsheetError job_busy while a sync is running
 */
export async function askSync(store: Store, schedule: Schedule, now: () => Date): Promise<void> {
  await withLease(store, schedule.leaseName, now, async () => {
    const at = now()
    const instant = at.toISOString()
    // Before the new run, stores the runs that became due earlier. Later calls look only for runs after the
    // last stored one, so they would miss these runs.
    await noteScheduledRuns(store, schedule, new Date(at.getTime() - 1))
    if (await isAnyOpen(store.db, schedule.name, instant)) return
    const scheduledRun = { schedule: schedule.name, due_at: instant, noted_at: instant }
    await store.write((trx) =>
      addScheduledRun(trx, { ...scheduledRun, state: 'pending', not_before: null, message: null }),
    )
  })
}

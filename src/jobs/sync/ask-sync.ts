/**
 * Starts a sync on request: adds a scheduled run that is due now. The request therefore outlives a restart,
 * is listed with the other runs, and never runs beside another sync.
 */

import type { Store } from '../../store/db/store.ts'
import { claimLease } from '../../store/schedule/lease.ts'
import { addScheduledRun, isAnyOpen } from '../../store/schedule/scheduled-run.ts'
import { noteScheduledRuns } from '../schedule/enqueue-due-runs.ts'
import type { Schedule } from '../schedule/schedule.ts'

/**
 * Adds a scheduled run, unless a sync is due already.
 * @param schedule a schedule of syncs
 * @throws LeadsheetError job_busy while a sync runs
 */
export async function askSync(store: Store, schedule: Schedule, now: () => Date): Promise<void> {
  const lease = await claimLease(store, schedule.leaseName, now)
  try {
    const at = now()
    const instant = at.toISOString()
    // Earlier due times are stored first, because later calls continue from the last stored run, which will
    // be the run added here.
    await noteScheduledRuns(store, schedule, new Date(at.getTime() - 1))
    if (await isAnyOpen(store.db, schedule.name, instant)) return
    const scheduledRun = { schedule: schedule.name, due_at: instant, noted_at: instant }
    await store.write((trx) =>
      addScheduledRun(trx, { ...scheduledRun, state: 'due', not_before: null, message: null }),
    )
  } finally {
    await lease.release()
  }
}

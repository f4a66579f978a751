/**
 * A sync that a person asks for: noted as a due time of its schedule at this moment, so that it outlives a restart,
 * stands in the ledger, and never runs beside another.
 */

import type { Store } from '../../store/db/store.ts'
import { claimLease } from '../../store/schedule/lease.ts'
import { addScheduledRun, isAnyOpen } from '../../store/schedule/scheduled-run.ts'
import { noteScheduledRuns } from '../schedule/enqueue-due-runs.ts'
import type { Schedule } from '../schedule/schedule.ts'

/**
 * Notes nothing where a sync is due already.
 * @param schedule of syncs
 * @throws LeadsheetError job_busy while one runs
 */
export async function askSync(store: Store, schedule: Schedule, now: () => Date): Promise<void> {
  const lease = await claimLease(store, schedule.leaseName, now)
  try {
    const at = now()
    const instant = at.toISOString()
    // Due times are counted from the last one noted, which is going to be this one; so those before it come first.
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

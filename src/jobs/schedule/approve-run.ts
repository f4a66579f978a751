/** Approves a scheduled report that is held or waits. */
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Store } from '../../store/db/store.ts'
import { releaseScheduledRun, type ScheduledRun } from '../../store/schedule/scheduled-run.ts'

/**
 * Lets the report's scheduled run go ahead.
 * @param schedule its name in the store, such as `report:daily`
 * @returns the scheduled run as it was before
 * @throws LeadsheetError usage_invalid if no run of the schedule is held or waits
 */
export async function release(store: Store, schedule: string, now: Date): Promise<ScheduledRun> {
  const released = await store.write((trx) => releaseScheduledRun(trx, schedule, now.toISOString()))
  if (released !== undefined) return released
  throw new LeadsheetError('usage_invalid', `Nothing of ${schedule} is held or waits`, {
    hint: `${shellCommand('schedule')} shows what became of each; ${shellCommand('report send NAME')} sends one by hand.`,
  })
}

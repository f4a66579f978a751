/** A report that is held, or waits, is let go by a person. */
import { LeadsheetError, shellCommand } from '../../errors.ts'
import type { Store } from '../../store/db/store.ts'
import { releaseScheduledRun, type ScheduledRun } from '../../store/schedule/scheduled-run.ts'

/**
 * @param schedule as in the ledger: `report:daily`
 * @returns its due time as it was
 * @throws LeadsheetError usage_invalid where nothing of it is held or waits
 */
export async function release(store: Store, schedule: string, now: Date): Promise<ScheduledRun> {
  const released = await store.write((trx) => releaseScheduledRun(trx, schedule, now.toISOString()))
  if (released !== undefined) return released
  throw new LeadsheetError('usage_invalid', `Nothing of ${schedule} is held or waits`, {
    hint: `${shellCommand('schedule')} shows what became of each; ${shellCommand('report send NAME')} sends one by hand.`,
  })
}

/** A report that a daemon finds due by the real clock, and that does not come due again while a test looks on. */
import { openStore } from '../../../src/store/open.ts'
import { addScheduledRun } from '../../../src/store/schedule/scheduled-run.ts'

const HOUR_MS = 3_600_000

/** Each hour, half an hour from now: at a full hour it would come round in the midst of a test now and then. */
export function hourlyNotNow(): string {
  return `${(new Date().getUTCMinutes() + 30) % 60} * * * *`
}

/**
 * A zone in which it is noon. Near midnight, the run that was due half an hour ago covers another day than a report by
 * hand.
 */
export function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours()
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

/** As if the daemon of a database had been down for some hours: the time that it was set up is no missed one. */
export async function makeReportDue(file: string): Promise<void> {
  await using store = await openStore(file, new Date())
  const dueAt = new Date(Date.now() - 3 * HOUR_MS).toISOString()
  await store.write((trx) =>
    addScheduledRun(trx, {
      ...{ schedule: 'report:daily', due_at: dueAt, state: 'skipped', noted_at: dueAt },
      ...{ not_before: null, message: null },
    }),
  )
}

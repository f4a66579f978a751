/** A report that a daemon finds due by the real clock, and that does not come due again during the test. */
import { openStore } from '../../../src/store/open.ts'
import { noteRun } from '../data/operation.ts'

const HOUR_MS = 3_600_000

/**
 * Returns an hourly schedule whose next time is half an hour away. With a full hour, the report would
 * sometimes come due during the test.
 */
export function hourlyNotNow(): string {
  return `${(new Date().getUTCMinutes() + 30) % 60} * * * *`
}

/**
 * Returns a time zone in which it is noon. Near midnight, a run that was due half an hour ago would cover
 * another day than a report made by hand.
 */
export function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours()
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

/**
 * Makes a report due by setting back the times of the daemon, as if it had been down for some hours since.
 */
export async function makeReportDue(file: string): Promise<void> {
  await using store = await openStore(file, new Date())
  const dueAt = new Date(Date.now() - 3 * HOUR_MS).toISOString()
  await noteRun(store, { schedule: 'report:daily', due_at: dueAt, state: 'skipped' })
}

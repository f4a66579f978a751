/** Leads that come one after the other on a day. */
import type { Lead, Period } from '../../../src/domain/model.ts'
import { localDates } from '../../../src/domain/period.ts'
import { lead } from '../store.ts'

/** Returns leads of which the first comes an hour after the day begins, and then one each minute. Nothing changes later. */
export function leadsOfDay(
  day: Period,
  count: number,
  change: (each: number) => Partial<Lead> = () => ({}),
): Lead[] {
  return Array.from({ length: count }, (_, each) => {
    const at = new Date(Date.parse(day.from) + 3_600_000 + each * 60_000).toISOString()
    const { source = null, ...other } = change(each)
    const times = { createdAt: at, updatedAt: at, statusChangedAt: at }
    return lead(`${localDates(day)} ${source ?? ''} ${each}`, { source, ...times, ...other })
  })
}

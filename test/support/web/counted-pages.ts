/** A store for the dashboard's pages of agents and the record. */

import { onTestFinished } from 'vitest'
import { dayBefore, daysUpTo } from '../../../src/domain/period.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { listCountedDays, refreshDailyCounts } from '../../../src/store/insight/daily-count.ts'
import { leadsOfDay } from '../data/leads-of-day.ts'
import { dailyNumbers } from '../reports/daily-numbers.ts'
import { openFilledStore, save, saveWholeRun } from '../store.ts'

/** A Saturday. All leads were read a quarter of an hour before. */
export const LOOKED_AT = new Date('2026-11-21T09:15:00Z')
export const READ_AT = '2026-11-21T09:00:00.000Z'
export const ZONE = 'Europe/Vienna'

/** Updates the counts by day, as a report does. */
export async function countDays(store: Store): Promise<void> {
  const days = await listCountedDays(store.db, dayBefore(new Date(READ_AT), ZONE).to, ZONE)
  await refreshDailyCounts(store, days, LOOKED_AT)
}

/**
 * Opens a store with new leads of two pipelines on so many days. On the last days there are three times as
 * many.
 */
export async function openDailyStore(days: number): Promise<Store> {
  const store = await openFilledStore(`${days} days`, (empty) => saveDays(empty, days))
  onTestFinished(() => store.close())
  return store
}

async function saveDays(store: Store, days: number): Promise<void> {
  const times = (day: number) => (day >= days - 3 ? 3 : 1)
  const counts = dailyNumbers({ mean: 8, days, seed: 5, times })
  const leads = daysUpTo(READ_AT, days, ZONE).flatMap((day, index) =>
    leadsOfDay(day, counts[index] ?? 0, (each) => ({ pipelineId: each % 2 === 0 ? 'p1' : 'p2' })),
  )
  await save(store, leads)
  await saveWholeRun(store, READ_AT)
}

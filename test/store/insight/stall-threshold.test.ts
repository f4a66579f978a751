// @both-stores
/** Stall thresholds and old leads, computed from leads with known stays. */
import { expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import {
  readOldLeads,
  readStallThresholds,
  refreshStallThresholds,
} from '../../../src/store/insight/stall-threshold.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

const NOW = new Date('2026-11-20T06:00:00.000Z')
const DAY_MS = 86_400_000
const ago = (days: number): string => new Date(NOW.getTime() - days * DAY_MS).toISOString()

/** Saves leads that were `new` for 1 to `count` tenths of a day, then `contacted` for a day, and were won. */
async function saveWinners(store: Store, count: number): Promise<void> {
  for (const [status, since] of [
    ['new', () => 100],
    ['contacted', (stay: number) => 100 - stay],
    ['won', (stay: number) => 99 - stay],
  ] as const) {
    const leads = Array.from({ length: count }, (_, index) => {
      const at = ago(since((index + 1) / 10))
      return lead(`w${index}`, { status, createdAt: ago(100), statusChangedAt: at, updatedAt: at })
    })
    await save(store, leads)
  }
}

const saveOpen = (store: Store, id: string, stageDays: number, change: Partial<Lead> = {}): Promise<void> => {
  const since = ago(stageDays)
  return save(store, [lead(id, { createdAt: since, statusChangedAt: since, updatedAt: since, ...change })])
}

it('the threshold of a stage is the stay that only 5 % of winners exceeded, and old is older than 99 % of them', async () => {
  await using store = await openEmptyStore()
  await saveWinners(store, 300)
  await saveOpen(store, 'young', 5)
  await saveOpen(store, 'old', 40, { valueAmount: 70, valueCurrency: 'EUR' })
  await saveOpen(store, 'elsewhere', 50, { pipelineId: 'p2', valueAmount: 30, valueCurrency: 'USD' })
  await refreshStallThresholds(store, NOW)
  // The stays in `new` are 0.1 to 30 days, and 285 of 300 are at most 28.5.
  expect([...(await readStallThresholds(store.db))]).toEqual([
    ['contacted', { winners: 300, days: 1 }],
    ['new', { winners: 300, days: 28.5 }],
  ])
  // The winners were 1.1 to 31 days old when they were won, and 297 of 300 at most 30.7.
  expect(await readOldLeads(store.db)).toEqual({
    age: { winners: 300, days: 30.7 },
    countedAt: NOW.toISOString(),
    leads: [
      { pipelineId: 'p1', currency: '', open: 1, old: 0, value: 0 },
      { pipelineId: 'p1', currency: 'EUR', open: 1, old: 1, value: 70 },
      { pipelineId: 'p2', currency: 'USD', open: 1, old: 1, value: 30 },
    ],
  })
})

it('the threshold is none where few were won, and counted anew only after about a day', async () => {
  await using store = await openEmptyStore()
  await saveWinners(store, 59)
  await refreshStallThresholds(store, NOW)
  expect((await readStallThresholds(store.db)).get('new')).toEqual({ winners: 59, days: null })
  expect((await readOldLeads(store.db))?.age.days).toBeNull()
  await saveWinners(store, 340)
  await refreshStallThresholds(store, new Date(ago(-1 / 24)))
  expect((await readStallThresholds(store.db)).get('new')?.winners).toBe(59)
  // The stays in `new` are up to 34 days now. The age is none while no lead is three times as old.
  await refreshStallThresholds(store, new Date(ago(-1)))
  expect((await readStallThresholds(store.db)).get('new')).toEqual({ winners: 340, days: 32.3 })
  expect((await readOldLeads(store.db))?.age).toEqual({ winners: 340, days: null })
  await saveOpen(store, 'older', 110)
  await refreshStallThresholds(store, new Date(ago(-2)))
  expect((await readOldLeads(store.db))?.age).toEqual({ winners: 340, days: 34.7 })
})

// @both-stores
/** Stall thresholds and old leads, computed from leads with known stays. */
import { describe, expect, it } from 'vitest'
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
  const at = (step: readonly [string, (tenths: number) => number]): Lead[] =>
    Array.from({ length: count }, (_, index) => {
      const changed = ago(step[1]((index + 1) / 10))
      return lead(`w${index}`, {
        status: step[0],
        createdAt: ago(100),
        statusChangedAt: changed,
        updatedAt: changed,
      })
    })
  await save(store, at(['new', () => 100]))
  await save(store, at(['contacted', (stay) => 100 - stay]))
  await save(store, at(['won', (stay) => 99 - stay]))
}

async function saveOpen(
  store: Store,
  id: string,
  stageDays: number,
  change: Partial<Lead> = {},
): Promise<void> {
  const since = ago(stageDays)
  await save(store, [lead(id, { createdAt: since, statusChangedAt: since, updatedAt: since, ...change })])
}

describe('the threshold of a stage', () => {
  it('is the stay that only 5 % of later winners exceeded, with their number', async () => {
    await using store = await openEmptyStore()
    await saveWinners(store, 300)
    await saveOpen(store, 'open', 5)
    await refreshStallThresholds(store, NOW)
    // The stays in `new` are 0.1 to 30 days, and 285 of 300 are at most 28.5.
    expect(await readStallThresholds(store.db)).toEqual(
      new Map([
        ['contacted', { winners: 300, days: 1 }],
        ['new', { winners: 300, days: 28.5 }],
      ]),
    )
  })

  it('is none where few were won, so that the days of the settings are the limit', async () => {
    await using store = await openEmptyStore()
    await saveWinners(store, 59)
    await refreshStallThresholds(store, NOW)
    expect((await readStallThresholds(store.db)).get('new')).toEqual({ winners: 59, days: null })
    expect((await readOldLeads(store.db))?.age.days).toBeNull()
  })

  it('is none while no lead is three times as old, because slow leads are not won yet', async () => {
    await using store = await openEmptyStore()
    await saveWinners(store, 340)
    await refreshStallThresholds(store, NOW)
    // The stays in `new` are up to 34 days, and the first lead is 100 days old.
    expect((await readStallThresholds(store.db)).get('new')).toEqual({ winners: 340, days: 32.3 })
    expect((await readOldLeads(store.db))?.age).toEqual({ winners: 340, days: null })
    await saveOpen(store, 'older', 110)
    await refreshStallThresholds(store, new Date(NOW.getTime() + DAY_MS))
    expect((await readOldLeads(store.db))?.age).toEqual({ winners: 340, days: 34.7 })
  })

  it('is counted anew only after about a day', async () => {
    await using store = await openEmptyStore()
    await saveWinners(store, 60)
    await refreshStallThresholds(store, NOW)
    await saveWinners(store, 80)
    await refreshStallThresholds(store, new Date(NOW.getTime() + 3_600_000))
    expect((await readStallThresholds(store.db)).get('new')?.winners).toBe(60)
    await refreshStallThresholds(store, new Date(NOW.getTime() + DAY_MS))
    expect((await readStallThresholds(store.db)).get('new')?.winners).toBe(80)
  })
})

it('counts the open leads that are older than all but 1 % of the winners were, with their value', async () => {
  await using store = await openEmptyStore()
  await saveWinners(store, 300)
  await saveOpen(store, 'young', 5)
  await saveOpen(store, 'old', 40, { valueAmount: 70, valueCurrency: 'EUR' })
  await saveOpen(store, 'elsewhere', 50, { pipelineId: 'p2', valueAmount: 30, valueCurrency: 'USD' })
  await refreshStallThresholds(store, NOW)
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

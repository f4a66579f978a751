// @both-stores
/** Stall thresholds, old leads and urgent leads, computed from leads with known stays. */
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { EVERY_LEAD } from '../../../src/store/figures/lead-filter.ts'
import { inReadTransaction } from '../../../src/store/figures/query.ts'
import { readStalled } from '../../../src/store/figures/report-lists.ts'
import { fillFilteredLeads } from '../../../src/store/figures/temp-tables.ts'
import {
  readOldLeads,
  readStallThresholds,
  refreshStallThresholds,
} from '../../../src/store/insight/stall-threshold.ts'
import { readUrgentLeads } from '../../../src/store/insight/urgent-leads.ts'
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

async function urgent(store: Store, rowsMax = 10) {
  const scope = { from: ago(1), to: NOW.toISOString(), filter: EVERY_LEAD, stalledDays: 14 }
  return inReadTransaction(store.db, async (trx) =>
    readUrgentLeads(trx, scope, await readStallThresholds(trx.db), 3, rowsMax),
  )
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
    await saveOpen(store, 'soon', 12)
    await saveOpen(store, 'later', 9)
    await saveOpen(store, 'stalled', 20)
    // A lead of another pipeline must not make each lead appear twice.
    await saveOpen(store, 'elsewhere', 1, { pipelineId: 'p2' })
    await refreshStallThresholds(store, NOW)
    expect((await readStallThresholds(store.db)).get('new')).toEqual({ winners: 59, days: null })
    expect((await urgent(store)).rows).toMatchObject([
      { id: 'soon', limitDays: 14, stageDays: 12, isOfWinners: false },
    ])
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

describe('urgent leads', () => {
  it('are those that will cross the threshold of their stage, the best value first', async () => {
    await using store = await openEmptyStore()
    await saveWinners(store, 300)
    await saveOpen(store, 'early', 25)
    await saveOpen(store, 'small', 26, { valueAmount: 10, valueCurrency: 'EUR' })
    await saveOpen(store, 'none', 27)
    await saveOpen(store, 'large', 28, { valueAmount: 500, valueCurrency: 'EUR' })
    await saveOpen(store, 'over', 29)
    await refreshStallThresholds(store, NOW)
    const { total, rows } = await urgent(store)
    expect(total).toBe(3)
    expect(rows.map(({ id, stageDays }) => [id, stageDays])).toEqual([
      ['large', 28],
      ['small', 26],
      ['none', 27],
    ])
    expect(rows[0]).toMatchObject({ limitDays: 28.5, isOfWinners: true, companyName: 'Company large' })
    expect(await urgent(store, 1)).toMatchObject({ total: 3, rows: [{ id: 'large' }] })
  })

  it('are also those past a short threshold, until they are listed as stalled', async () => {
    await using store = await openEmptyStore()
    await saveWinners(store, 300)
    const idle = { status: 'contacted', createdAt: ago(40) }
    for (const days of [0.5, 2, 13.9, 14.1]) await saveOpen(store, `idle ${days}`, days, idle)
    await refreshStallThresholds(store, NOW)
    const { rows } = await urgent(store)
    // All winners were in this stage for a day.
    expect(rows.map(({ id, limitDays }) => [id, limitDays])).toEqual([
      ['idle 13.9', 1],
      ['idle 2', 1],
    ])
    const scope = {
      from: ago(1),
      to: NOW.toISOString(),
      filter: EVERY_LEAD,
      stalledDays: 14,
    }
    const stalled = await inReadTransaction(store.db, async (trx) =>
      readStalled(await fillFilteredLeads(trx, scope), scope, 10),
    )
    expect(stalled.rows.map(({ id }) => id)).toEqual(['idle 14.1'])
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

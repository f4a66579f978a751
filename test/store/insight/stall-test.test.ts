// @both-stores, in turn
/** The thresholds of past dates, tried on the leads that were won after each. */
import { expect, it } from 'vitest'
import { readShares, refreshThresholds } from '../../../src/jobs/insight/winner-shares.ts'
import { countQuietly } from '../../../src/jobs/sync/scheduled-sync.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { listStallTests, testStallThresholds } from '../../../src/store/insight/stall-test.ts'
import {
  countThresholds,
  readOldLeads,
  readStallThresholds,
  refreshStallThresholds,
} from '../../../src/store/insight/stall-threshold.ts'
import { lead, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'
import { SILENT } from '../../support/syncing.ts'

const DAY_MS = 86_400_000
const AS_OF = new Date('2026-11-21T06:00:00Z')
const ago = (days: number) => new Date(AS_OF.getTime() - days * DAY_MS).toISOString()

/**
 * Saves leads that were won, four a day, from `from` days ago on. They were in `new` for 0.5 to 10 days, or some
 * times as long, and in `contacted` for an hour.
 */
async function saveWon(store: Store, from: number, times: (daysAgo: number) => number): Promise<void> {
  const won = Array.from({ length: from * 4 }, (_, index) => {
    const daysAgo = from - index / 4
    // The stays of neighbours differ, as the multiples of 7 modulo 20 do.
    return { id: `${index}`, daysAgo, stay: times(daysAgo) * (1 + ((index * 7) % 20)) * 0.5 }
  })
  const at = (status: string, changed: (one: (typeof won)[number]) => number) =>
    won.map((one) => {
      const since = ago(changed(one))
      const createdAt = ago(one.daysAgo + one.stay + 1 / 24)
      return lead(one.id, { status, createdAt, statusChangedAt: since, updatedAt: since })
    })
  await save(
    store,
    at('new', ({ daysAgo, stay }) => daysAgo + stay + 1 / 24),
  )
  await save(
    store,
    at('contacted', ({ daysAgo }) => daysAgo + 1 / 24),
  )
  await save(
    store,
    at('won', ({ daysAgo }) => daysAgo),
  )
  await saveWholeRun(store, AS_OF.toISOString())
}

it('tests each date once, by the thresholds of the leads that were won before it', async () => {
  await using store = await openEmptyStore()
  await saveWon(store, 300, () => 1)
  await testStallThresholds(store, AS_OF, 1)
  expect(await listStallTests(store.db, AS_OF)).toHaveLength(3)
  await testStallThresholds(store, AS_OF)
  const tests = await listStallTests(store.db, AS_OF)
  const ofNew = tests.filter(({ status }) => status === 'new')
  expect(ofNew.length).toBeGreaterThan(7)
  // On the first date too few were won before. Later, 19 of 20 stayed for at most 9.5 days, and 6 of 120 longer.
  expect(ofNew[0]).toMatchObject({ days: null, longer: 0 })
  for (const { days, winners, longer } of ofNew.slice(1))
    expect({ days, winners, longer }).toEqual({ days: 9.5, winners: 120, longer: 6 })
  const { rows } = { rows: await store.db.selectFrom('stall_test').selectAll().execute() }
  await testStallThresholds(store, new Date(AS_OF.getTime() + DAY_MS))
  expect(await store.db.selectFrom('stall_test').selectAll().execute()).toEqual(rows)
  expect(await readShares(store.db, AS_OF.toISOString())).toMatchObject([
    { status: null, share: 0.01, shown: 'learning' },
    { status: 'contacted', share: 0.05 },
    { status: 'new', share: 0.05, dates: ofNew.length - 1, hits: ofNew.length - 1, isTrusted: true },
  ])
})

it('takes the thresholds of a date from what was won before it alone', async () => {
  await using store = await openEmptyStore()
  await saveWon(store, 300, (daysAgo) => (daysAgo < 100 ? 3 : 1))
  const daysOf = async (daysAgo: number) =>
    (await countThresholds(store.db, new Date(ago(daysAgo)))).find(({ status }) => status === 'new')?.days
  expect(await daysOf(100)).toBe(9.5)
  expect(await daysOf(0)).toBeGreaterThan(20)
})

it.each([
  ['a report', refreshThresholds],
  [
    'a sync',
    (store: Store, now: Date) => countQuietly({ store, log: SILENT, now: () => now, timeZones: [] }, false),
  ],
])(
  '%s withholds a threshold that did not come true on most dates, and tells nothing of a store without leads',
  async (_, refresh) => {
    await using store = await openEmptyStore()
    await refresh(store, AS_OF)
    expect(await readShares(store.db, AS_OF.toISOString())).toEqual([])
    await saveWon(store, 100, () => 1)
    await refreshStallThresholds(store, new Date(AS_OF.getTime() + DAY_MS), async () => new Set())
    expect((await readStallThresholds(store.db)).get('new')?.days).toBe(9.5)
    const dates = Array.from(
      { length: 20 },
      (_, index) => new Date(AS_OF.getTime() - (2 + index) * 30 * DAY_MS),
    )
    const rows = dates.map((date, index) => ({
      ...{ status: 'new', tested_from: date.toISOString().slice(0, 10), days: 5, winners: 100 },
      longer: index < 12 ? 5 : 40,
    }))
    await store.write((trx) => trx.insertInto('stall_test').values(rows).execute())
    await refresh(store, new Date(AS_OF.getTime() + 2 * DAY_MS))
    expect((await readStallThresholds(store.db)).get('new')).toEqual({ winners: 400, days: null })
    expect((await readStallThresholds(store.db)).get('contacted')?.days).toBeCloseTo(0.04)
    expect((await readOldLeads(store.db))?.age).toEqual({ winners: 400, days: 10.04 })
    const tests = await readShares(store.db, AS_OF.toISOString())
    // The two dates that were missing are tested as well, and came true.
    expect(tests.find(({ status }) => status === 'new')).toMatchObject({
      hits: 14,
      dates: 22,
      shown: 'withheld',
    })
  },
)

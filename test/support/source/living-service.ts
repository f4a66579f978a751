/** A service that lives on from day to day, and a copy that is synced each morning. */
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { folderWith } from '../folder.ts'
import { COMPANIES, openWithPast } from '../service.ts'
import { openSyncing } from '../syncing.ts'

const DAY_MS = 86_400_000

interface Life {
  readonly seed: number
  /** The first morning, in ms since 1970. */
  readonly first: number
  readonly days: number
  /** The number of days that the service has lived before. */
  readonly historyDays: number
  /** Tells whether the sync of a day reads everything. The first day is 0. */
  readonly isFull: (day: number) => boolean
  /** The place of the store of the copy; by default a new one. */
  readonly store?: string
}

/** Calls `eachMorning` after each sync, and then `use` with the store of the copy. */
export async function liveThrough(
  { seed, first, days, historyDays, isFull, store }: Life,
  use: (store: Store) => Promise<void>,
  eachMorning: (store: Store, at: Date) => Promise<void> = async () => {},
): Promise<void> {
  let nowMs = first
  await using service = await openWithPast({
    file: join(folderWith(), 'service.db'),
    companiesFile: COMPANIES,
    seed,
    historyDays,
    now: () => nowMs,
  })
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key, store === undefined ? {} : { store })
  for (let day = 0; day < days; day++) {
    nowMs = first + day * DAY_MS
    await service.catchUp()
    syncing.clock.now = new Date(nowMs)
    // Only some leads' activity is read at each sync. Activity read later may tell of moves long ago.
    const details = { perRun: 60, concurrency: 4 }
    expect((await syncing.sync({ pageSize: 500, full: isFull(day), details })).outcome).toBe('ok')
    await eachMorning(syncing.store, new Date(nowMs))
  }
  await use(syncing.store)
}

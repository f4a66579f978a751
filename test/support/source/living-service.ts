/** A service that lives on from day to day, and a copy that is synced each morning. */
import { join } from 'node:path'
import { expect } from 'vitest'
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
}

/** Syncs on each morning into a store, from the third one on as a whole. */
export async function liveThrough(store: string, { seed, first, days, historyDays }: Life): Promise<void> {
  let nowMs = first
  const file = join(folderWith(), 'service.db')
  const now = () => nowMs
  await using service = await openWithPast({ file, companiesFile: COMPANIES, seed, historyDays, now })
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using syncing = await openSyncing(service.url, key, { store })
  for (let day = 0; day < days; day++) {
    nowMs = first + day * DAY_MS
    await service.catchUp()
    syncing.clock.now = new Date(nowMs)
    // Only some leads' activity is read at each sync. Activity read later may tell of moves long ago.
    const details = { perRun: 60, concurrency: 4 }
    expect((await syncing.sync({ pageSize: 500, full: day > 1, details })).outcome).toBe('ok')
  }
}

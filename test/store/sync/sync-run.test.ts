// @both-stores
import { expect, test } from 'vitest'
import { addCounts, startRun } from '../../../src/store/sync/sync-run.ts'
import { openEmptyStore } from '../../support/store.ts'

test('a run that never ended is marked as killed by the next one, and keeps the counts that it had reached', async () => {
  await using store = await openEmptyStore()
  const start = (at: string) => store.write((trx) => startRun(trx, { mode: 'full', parts: ['leads'], at }))
  const first = await start('2026-11-21T06:00:00.000Z')
  await store.write((trx) => addCounts(trx, first, { pages: 1, leads_seen: 2, leads_inserted: 2 }))
  const second = await start('2026-11-21T06:15:00.000Z')
  const runs = await store.db
    .selectFrom('sync_run')
    .select(['id', 'outcome', 'finished_at', 'leads_seen'])
    .orderBy('started_at')
    .execute()
  expect(runs).toEqual([
    { id: first, outcome: 'killed', finished_at: null, leads_seen: 2 },
    { id: second, outcome: null, finished_at: null, leads_seen: 0 },
  ])
})

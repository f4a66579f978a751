// @both-stores
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { savePipelineStat } from '../../../src/store/sync/samples.ts'
import { lead, observedAt, openEmptyStore, save, stat } from '../../support/store.ts'

it('statistics that contradict the leads are kept beside our counts, with the difference in pipeline_overview', async () => {
  await using store = await openEmptyStore()
  const told = { leads: 5, won: 1, open: 4 }
  await save(store, [lead('1', { status: 'won' }), lead('2', { status: 'won' }), lead('3')])
  const observed = observedAt('2026-11-21T06:00:00Z')
  await store.write((trx) =>
    savePipelineStat(trx, { ...stat('p1', observed.at, {}), name: 'Solar', ...told }, observed),
  )
  const { rows } = await sql`SELECT name, leads, won, open, leads_upstream, difference
    FROM pipeline_overview`.execute(store.db)
  expect(rows).toEqual([{ name: 'Solar', leads: 3, won: 2, open: 1, leads_upstream: 5, difference: -2 }])
  const kept = await store.db.selectFrom('pipeline_stat').select(['leads', 'won', 'open']).execute()
  expect(kept).toEqual([told])
})

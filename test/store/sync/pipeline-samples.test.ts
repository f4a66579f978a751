// @both-stores
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { saveLeads } from '../../../src/store/leads/lead.ts'
import { savePipelineStat } from '../../../src/store/sync/samples.ts'
import { isQuarantined, mapLead, mapPipelineStat } from '../../../src/upstream/mapping/lead-mapping.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { folderWith } from '../../support/folder.ts'
import { openNewStore } from '../../support/store.ts'

const NOW = new Date('2026-11-21T06:00:00Z')

function lead(record: Record<string, unknown>): Lead {
  const mapped = mapLead(record, REFERENCE_PROFILE)
  if (isQuarantined(mapped)) throw new Error(mapped.reason)
  return mapped
}

describe('statistics that contradict the leads', () => {
  it('are kept beside our counts, with the difference in pipeline_overview (row 36)', async () => {
    await using store = await openNewStore(join(folderWith(), 'leadsheet.db'), NOW)
    const observed = { runId: 'run', at: NOW.toISOString() }
    const leads = ['won', 'won', 'new'].map((status, index) => lead({ id: index, pipeline_id: 'p1', status }))
    const stat = mapPipelineStat(
      { name: 'Solar', totals: { leads: 5, won: 1, open: 4 } },
      'p1',
      REFERENCE_PROFILE,
      observed.at,
    )
    if (isQuarantined(stat)) throw new Error(stat.reason)
    await store.write(async (trx) => {
      await trx
        .insertInto('stage')
        .values({ status: 'won', position: 0, outcome: 'won', in_funnel: 1 })
        .execute()
      await saveLeads(trx, leads, observed)
      await savePipelineStat(trx, stat, observed)
    })
    const { rows } = await store.db.executeQuery<object>({
      ...store.db.selectFrom('lead').select('id').compile(),
      sql: 'SELECT name, leads, won, open, leads_upstream, difference FROM pipeline_overview',
    })
    expect(rows).toEqual([{ name: 'Solar', leads: 3, won: 2, open: 1, leads_upstream: 5, difference: -2 }])
    const kept = await store.db.selectFrom('pipeline_stat').select(['leads', 'won', 'open']).execute()
    expect(kept).toEqual([{ leads: 5, won: 1, open: 4 }])
  })
})

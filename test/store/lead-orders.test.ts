import { describe, expect, it } from 'vitest'
import type { Lead } from '../../src/model.ts'
import { isHeld, mapLead, mapPipelineStat } from '../../src/source/mapping.ts'
import { REFERENCE_PROFILE } from '../../src/source/reference-profile.ts'
import { saveLeads } from '../../src/store/lead.ts'
import { openStore } from '../../src/store/open.ts'
import { savePipelineStat } from '../../src/store/pipeline.ts'
import { random } from '../support/random.ts'

const SEED = Number(process.env['SEED'] ?? 32)
const NOW = new Date('2026-11-21T06:00:00Z')

function lead(record: Record<string, unknown>): Lead {
  const mapped = mapLead(record, REFERENCE_PROFILE)
  if (isHeld(mapped)) throw new Error(mapped.reason)
  return mapped
}

describe('the versions of a lead', () => {
  it(`end in the same state in 1,000 random orders of arrival (SEED=${SEED}) (row 32)`, async () => {
    await using store = await openStore(':memory:', NOW)
    const next = random(SEED)
    const states = Array.from({ length: 6 }, (_, index) => ({
      status: ['new', 'enriched', 'qualified', 'contacted', 'replied', 'won'][index],
      score: index * 10,
      created_at: '2026-11-01T00:00:00.000Z',
      updated_at: `2026-11-0${index + 2}T00:00:00.000Z`,
    }))
    for (let order = 0; order < 1000; order++) {
      const id = `lead-${order}`
      const left = states.map((state) => lead({ id, ...state }))
      await store.write(async (trx) => {
        while (left.length > 0) {
          const some = left.splice(Math.floor(next() * left.length), next() < 0.3 ? 2 : 1)
          await saveLeads(trx, some, { runId: 'run', at: NOW.toISOString() })
        }
      })
    }
    const ends = await store.db
      .selectFrom('lead')
      .select(['status', 'score', 'created_at', 'updated_at'])
      .distinct()
      .execute()
    expect(ends).toEqual([states.at(-1)])
    const open = await store.db
      .selectFrom('lead_version')
      .where('valid_to', 'is', null)
      .select(['lead_id', 'status'])
      .execute()
    expect(open).toHaveLength(1000)
    expect(new Set(open.map((version) => version.status))).toEqual(new Set(['won']))
  })
})

describe('statistics that contradict the leads', () => {
  it('are kept beside our counts, with the difference in pipeline_overview (row 36)', async () => {
    await using store = await openStore(':memory:', NOW)
    const seen = { runId: 'run', at: NOW.toISOString() }
    const leads = ['won', 'won', 'new'].map((status, index) => lead({ id: index, pipeline_id: 'p1', status }))
    const stat = mapPipelineStat(
      { name: 'Solar', totals: { leads: 5, won: 1, open: 4 } },
      'p1',
      REFERENCE_PROFILE,
      seen.at,
    )
    if (isHeld(stat)) throw new Error(stat.reason)
    await store.write(async (trx) => {
      await trx
        .insertInto('stage')
        .values({ status: 'won', position: 0, outcome: 'won', in_funnel: 1 })
        .execute()
      await saveLeads(trx, leads, seen)
      await savePipelineStat(trx, stat, seen)
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

// @both-stores
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import { countCases, random, SEED_OF_TODAY, shuffled } from '../../support/random.ts'
import { lead, openEmptyStore, save } from '../../support/store.ts'

const SEED = SEED_OF_TODAY
const ORDERS = countCases(40, 300)

describe('a lead', () => {
  it(`is the same in the end, in whatever order its states arrive (${ORDERS} orders, SEED=${SEED})`, async () => {
    const store = await openEmptyStore()
    const states = ['new', 'contacted', 'contacted', 'won', 'lost'].map((status, index) => {
      const at = new Date(Date.parse('2026-11-01T00:00:00Z') + index * 3_600_000).toISOString()
      return lead('1', { status, updatedAt: at, statusChangedAt: at, score: index * 10 })
    })
    const draw = random(SEED)
    const ends = new Set<string>()
    for (let round = 0; round < ORDERS; round++) {
      await store.write(async (trx) => {
        for (const table of ['stage_move', 'lead_minor_update', 'lead_history', 'lead'] as const) {
          await trx.deleteFrom(table).execute()
        }
      })
      for (const page of pagesOf(shuffled([...states, ...states], draw), draw)) await save(store, page)
      const { no, first_seen_at, observed_at, run_id, ...row } = await store.db
        .selectFrom('lead')
        .selectAll()
        .executeTakeFirstOrThrow()
      ends.add(JSON.stringify(row))
    }
    expect(ends.size).toBe(1)
    await store.close()
  })

  it('whose record somebody has deleted can be changed', async () => {
    await using store = await openEmptyStore()
    await save(store, [lead('1')])
    await store.write((trx) => trx.deleteFrom('lead_raw').execute())
    await save(store, [lead('1', { score: 99, updatedAt: '2030-01-01T00:00:00.000Z' })])
    expect(await store.db.selectFrom('lead').select('score').execute()).toEqual([{ score: 99 }])
    expect(await store.db.selectFrom('lead_raw').selectAll().execute()).toHaveLength(1)
  })

  it('keeps what it was given to the message: unusual text, large and broken numbers', async () => {
    const store = await openEmptyStore()
    const odd = lead('9007199254740993', {
      companyName: '深圳 "x" \\ \u{1F680}\n\t',
      valueAmount: 0.1,
      companyEmployees: 9_007_199_254_740_991,
      tags: ['a,b', '"'],
    })
    await save(store, [odd])
    const row = await store.db
      .selectFrom('lead')
      .innerJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
      .selectAll()
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      id: odd.id,
      company_name: odd.companyName,
      value_amount: 0.1,
      company_employees: 9_007_199_254_740_991,
      tags: '["a,b","\\""]',
      raw: odd.raw,
    })
    await store.close()
  })
})

function pagesOf(leads: readonly Lead[], random: () => number): Lead[][] {
  const pages: Lead[][] = []
  for (let from = 0; from < leads.length; ) {
    const to = from + 1 + Math.floor(random() * 4)
    pages.push(leads.slice(from, to))
    from = to
  }
  return pages
}

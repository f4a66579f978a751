// @both-stores
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { FAILING } from '../../../src/report/blocks/agents/view.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { saveAgents } from '../../../src/store/sync/samples.ts'
import { agent, lead, observedAt, openEmptyStore, save, saveWholeRun } from '../../support/store.ts'

const hour = (number: number): string => `2026-11-20T0${number}:00:00.000Z`

/** Saves a sample each hour. Each has the status of agents by id. An agent that is not named is gone. */
async function saveReadings(store: Store, samples: readonly Record<string, string>[]): Promise<void> {
  for (const [index, reading] of samples.entries()) {
    const agents = Object.entries(reading).map(([id, status]) => agent(id, status))
    await store.write((trx) => saveAgents(trx, agents, observedAt(hour(index)), { isWhole: true }))
  }
}

it('agent_outage has a row for each run of failing samples, up to the first that is not or is gone, and null while it lasts', async () => {
  await using store = await openEmptyStore()
  const states = ['running', 'failing', 'error', 'idle', 'failing', 'running', 'failing', 'failing']
  const failing = Object.fromEntries(FAILING.map((status) => [status, status.toUpperCase()]))
  await saveReadings(
    store,
    states.map((status, hours) => ({ a: status, b: 'idle', ...(hours < 2 ? failing : {}) })),
  )
  const outages = sql`SELECT agent_id, began_at, ended_at, samples, hours FROM agent_outage
    ORDER BY agent_id, began_at`
  expect((await outages.execute(store.db)).rows).toEqual([
    { agent_id: 'a', began_at: hour(1), ended_at: hour(3), samples: 2, hours: 2 },
    { agent_id: 'a', began_at: hour(4), ended_at: hour(5), samples: 1, hours: 1 },
    { agent_id: 'a', began_at: hour(6), ended_at: null, samples: 2, hours: 1 },
    // The same statuses are failing as in the report.
    ...FAILING.toSorted().map((agent_id) => {
      return { agent_id, began_at: hour(0), ended_at: hour(2), samples: 2, hours: 2 }
    }),
  ])
})

describe('stage_stay', () => {
  it('has the stays that ended, with what came next, and the one that lasts up to the last whole reading', async () => {
    await using store = await openEmptyStore()
    const [first, second, third] = [
      '2026-11-01T00:00:00.000Z',
      '2026-11-05T00:00:00.000Z',
      '2026-11-08T00:00:00.000Z',
    ] as const
    await save(store, [lead('1', { statusChangedAt: first, updatedAt: first })])
    await save(store, [lead('1', { status: 'contacted', statusChangedAt: second, updatedAt: third })])
    await saveWholeRun(store, '2026-11-07T00:00:00Z')
    const { rows } = await sql`SELECT * FROM stage_stay ORDER BY entered_at`.execute(store.db)
    const stay = { lead_id: '1', pipeline_id: 'p1' }
    expect(rows).toEqual([
      { ...stay, status: 'new', entered_at: first, left_at: second, next_status: 'contacted', days: 4 },
      { ...stay, status: 'contacted', entered_at: second, left_at: null, next_status: null, days: 2 },
    ])
  })

  it('ends the stay of a lead that was removed, without a next status', async () => {
    await using store = await openEmptyStore()
    await save(store, [lead('1')])
    await sql`UPDATE lead SET deleted_at = '2026-11-03T00:00:00.000Z'`.execute(store.db)
    const { rows } = await sql`SELECT status, left_at, next_status, days FROM stage_stay`.execute(store.db)
    expect(rows).toEqual([{ status: 'new', left_at: '2026-11-03T00:00:00.000Z', next_status: null, days: 2 }])
  })
})

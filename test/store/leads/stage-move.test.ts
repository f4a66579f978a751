// @both-stores
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { IN_POSTGRES, lead, openEmptyStore, save, saveActivity } from '../../support/store.ts'

const on = (day: number): string => `2026-11-0${day}T00:00:00.000Z`

describe('the table stage_move', () => {
  async function rowsOf(store: Store): Promise<unknown[]> {
    const rows = await store.db.selectFrom('stage_move').selectAll().orderBy('moved_at').execute()
    return rows.map((row) => [row.from_status, row.to_status, row.moved_at, row.entered_at, row.source])
  }

  const addActivity = (store: Store, id: string, at: string, fromStatus: string, toStatus: string) =>
    saveActivity(store, '1', [{ id, at, fromStatus, toStatus }], '2026-11-20T00:00:00.000Z')

  const state = (status: string, day: number): Lead =>
    lead('1', { status, updatedAt: on(day), statusChangedAt: on(day) })

  it('takes in the activity of a lead, also when it was stored before the move was read', async () => {
    await using store = await openEmptyStore()
    await save(store, [state('contacted', 6)])
    await addActivity(store, 'a1', on(6), 'new', 'contacted')
    await addActivity(store, 'a2', on(8), 'contacted', 'won')
    const both = [
      ['new', 'contacted', on(6), null, 'activity'],
      ['contacted', 'won', on(8), on(6), 'activity'],
    ]
    expect(await rowsOf(store)).toEqual(both)
    await save(store, [state('won', 8)])
    expect(await rowsOf(store)).toEqual(both)
  })

  it('finds the moves of a period by an index that has all that is counted', async () => {
    await using store = await openEmptyStore()
    const plan = await explainPlan(
      store,
      `SELECT pipeline_id, to_status, count(*) FROM stage_move
        WHERE moved_at >= '${on(1)}' AND moved_at < '${on(2)}' GROUP BY pipeline_id, to_status`,
    )
    expect(plan).toMatch(
      IN_POSTGRES
        ? /Index Only Scan using stage_move_by_time on stage_move\s+Index Cond: .*moved_at >= .*moved_at </
        : /^SEARCH stage_move USING COVERING INDEX stage_move_by_time \(moved_at>\? AND moved_at<\?\)/,
    )
  })
})

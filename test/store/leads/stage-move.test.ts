// @both-stores
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { type LeadState, stepsOf } from '../../../src/store/leads/lead-history.ts'
import { movesOf, refreshStageMoves, type StatusActivity } from '../../../src/store/leads/stage-move.ts'
import { BLANK_STATE } from '../../support/data/blank-lead.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { IN_POSTGRES, lead, openEmptyStore, save } from '../../support/store.ts'

const READ_AT = '2026-11-20T00:00:00.000Z'

/** Returns an instant in November: `5` or `'5T10:00:01'`. */
function on(day: number | string): string {
  const [date = '', time = '00:00:00'] = String(day).split('T')
  return `2026-11-${date.padStart(2, '0')}T${time}.000Z`
}

/**
 * Returns a state with this time of update and status. The time of the status change is only told if given.
 */
function seen(changed: number | string, status: string, statusChanged?: number | string): LeadState {
  return {
    ...BLANK_STATE,
    changed_at: on(changed),
    status_changed_at: statusChanged === undefined ? null : on(statusChanged),
    observed_at: READ_AT,
    run_id: 'run',
    pipeline_id: 'p1',
    status,
  }
}

function told(at: number | string, from: string | null, to: string): StatusActivity {
  return { at: on(at), from_status: from, to_status: to, first_seen_at: READ_AT }
}

/** Returns the start and end status, the day and the source of each move. */
function moves(states: readonly LeadState[], activities: readonly StatusActivity[] = []): unknown[] {
  return movesOf(stepsOf(states), activities).map((move) => [
    move.from_status,
    move.to_status,
    move.moved_at,
    move.source,
  ])
}

describe('the moves of a lead', () => {
  it('are the changes of its status, over changes of other fields, with the days before', () => {
    const states = [seen(1, 'new', 1), { ...seen(3, 'new', 1), score: 70 }, seen(7, 'contacted', 6)]
    expect(movesOf(stepsOf(states), [])).toEqual([
      {
        from_status: 'new',
        to_status: 'contacted',
        moved_at: on(6),
        pipeline_id: 'p1',
        entered_at: on(1),
        days_before: 5,
        source: 'version',
        observed_at: READ_AT,
      },
    ])
  })

  it('reach back by its activity to before it was first read', () => {
    const activities = [told(1, null, 'new'), told(3, 'new', 'contacted'), told(5, 'contacted', 'won')]
    expect(movesOf(stepsOf([seen(9, 'won', 5)]), activities)).toMatchObject([
      { from_status: 'new', to_status: 'contacted', moved_at: on(3), entered_at: on(1), days_before: 2 },
      { from_status: 'contacted', to_status: 'won', moved_at: on(5), entered_at: on(3), source: 'activity' },
    ])
  })

  it('stand once where the lead and its activity date them a minute apart', () => {
    const states = [seen(1, 'new', 1), seen('3T00:00:30', 'contacted', '3T00:00:30')]
    expect(moves(states, [told(3, 'new', 'contacted')])).toEqual([['new', 'contacted', on(3), 'activity']])
    expect(moves(states, [told('3T00:01:30', 'new', 'contacted')])).toEqual([
      ['new', 'contacted', on('3T00:01:30'), 'activity'],
    ])
  })

  it('stand twice where the lead goes the same way again, though only the first is in its activity', () => {
    const states = [seen(1, 'new', 1), seen(3, 'contacted', 3), seen(5, 'new', 5), seen(7, 'contacted', 7)]
    expect(moves(states, [told(3, 'new', 'contacted')])).toEqual([
      ['new', 'contacted', on(3), 'activity'],
      ['contacted', 'new', on(5), 'version'],
      ['new', 'contacted', on(7), 'version'],
    ])
  })

  it('take the steps between two sightings from the activity, where the lead does not date its status', () => {
    const activities = [told(3, 'new', 'contacted'), told(4, 'contacted', 'won')]
    expect(moves([seen(1, 'new'), seen(6, 'won')], activities)).toEqual([
      ['new', 'contacted', on(3), 'activity'],
      ['contacted', 'won', on(4), 'activity'],
    ])
  })

  it('go on from where the activity ends, when the lead has moved since', () => {
    const activities = [told(3, 'new', 'contacted'), told(4, 'contacted', 'new')]
    expect(moves([seen(1, 'new'), seen(6, 'contacted')], activities)).toEqual([
      ['new', 'contacted', on(3), 'activity'],
      ['contacted', 'new', on(4), 'activity'],
      ['new', 'contacted', on(6), 'version'],
    ])
  })

  it('say what came before as the activity has it, and no days where its begin is not known', () => {
    const states = [seen(1, 'new', 1), seen(9, 'won', 8)]
    const found = movesOf(stepsOf(states), [told(5, 'contacted', 'won'), told(8, 'lost', 'won')])
    expect(found).toMatchObject([
      { from_status: 'contacted', to_status: 'won', moved_at: on(5), entered_at: null, days_before: null },
    ])
  })

  it('lead from one to the next where several are of one instant, whatever the order of their entries', () => {
    const activities = [told(3, 'contacted', 'won'), told(3, 'new', 'contacted'), told(3, null, 'new')]
    expect(moves([seen(9, 'won', 3)], activities)).toEqual([
      ['new', 'contacted', on(3), 'activity'],
      ['contacted', 'won', on(3), 'activity'],
    ])
  })

  it('have the pipeline that the lead was in then', () => {
    const states = [seen(1, 'new', 1), { ...seen(4, 'new', 1), pipeline_id: 'p2' }, seen(6, 'won', 6)]
    const found = movesOf(stepsOf(states), [told(2, 'new', 'contacted'), told(5, 'contacted', 'lost')])
    expect(found.map((move) => [move.to_status, move.pipeline_id])).toEqual([
      ['contacted', 'p1'],
      ['lost', 'p2'],
      ['won', 'p1'],
    ])
  })
})

describe('the table stage_move', () => {
  async function rowsOf(store: Store): Promise<unknown[]> {
    const rows = await store.db.selectFrom('stage_move').selectAll().orderBy('moved_at').execute()
    return rows.map((row) => [row.from_status, row.to_status, row.moved_at, row.entered_at, row.source])
  }

  async function addActivity(store: Store, id: string, at: string, from: string, to: string): Promise<void> {
    await store.write(async (trx) => {
      const entry = { type: 'status_changed', agent_id: null, summary: null, run_id: 'run' }
      await trx
        .insertInto('activity')
        .values({ lead_id: '1', id, at, from_status: from, to_status: to, first_seen_at: READ_AT, ...entry })
        .execute()
      await refreshStageMoves(trx, ['1'])
    })
  }

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

// @both-stores
import { describe, expect, it } from 'vitest'
import type { Lead } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { type LeadState, stepsOf } from '../../../src/store/leads/lead-history.ts'
import { movesOf, type StatusActivity } from '../../../src/store/leads/stage-move.ts'
import { BLANK_STATE } from '../../support/data/blank-lead.ts'
import { explainPlan } from '../../support/data/plan.ts'
import { IN_POSTGRES, lead, openEmptyStore, save, saveActivity } from '../../support/store.ts'

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

/** States of a lead, and the entries of its activity, by what its moves show. */
const PASTS: Readonly<Record<string, readonly [readonly LeadState[], (readonly StatusActivity[])?]>> = {
  'moves are the changes of a status, over changes of other fields, with the days before': [
    [seen(1, 'new', 1), { ...seen(3, 'new', 1), score: 70 }, seen(7, 'contacted', 6)],
  ],
  'they reach back by the activity to before the lead was first read': [
    [seen(9, 'won', 5)],
    [told(1, null, 'new'), told(3, 'new', 'contacted'), told(5, 'contacted', 'won')],
  ],
  'they stand once where the lead and its activity date them a minute apart': [
    [seen(1, 'new', 1), seen('3T00:00:30', 'contacted', '3T00:00:30')],
    [told(3, 'new', 'contacted')],
  ],
  'they stand once where the activity is a minute later': [
    [seen(1, 'new', 1), seen('3T00:00:30', 'contacted', '3T00:00:30')],
    [told('3T00:01:30', 'new', 'contacted')],
  ],
  'they stand twice where the lead goes the same way again, though only the first is in its activity': [
    [seen(1, 'new', 1), seen(3, 'contacted', 3), seen(5, 'new', 5), seen(7, 'contacted', 7)],
    [told(3, 'new', 'contacted')],
  ],
  'they are all kept of a way there and back within the minute': [
    [seen(1, 'new', 1), seen('3T00:00:40', 'contacted', '3T00:00:40')],
    [
      told(3, 'new', 'contacted'),
      told('3T00:00:20', 'contacted', 'new'),
      told('3T00:00:40', 'new', 'contacted'),
    ],
  ],
  'the steps between two sightings come from the activity, where the lead does not date its status': [
    [seen(1, 'new'), seen(6, 'won')],
    [told(3, 'new', 'contacted'), told(4, 'contacted', 'won')],
  ],
  'they go on from where the activity ends, when the lead has moved since': [
    [seen(1, 'new'), seen(6, 'contacted')],
    [told(3, 'new', 'contacted'), told(4, 'contacted', 'new')],
  ],
  'what came before is as the activity has it, and no days where its begin is not known': [
    [seen(1, 'new', 1), seen(9, 'won', 8)],
    [told(5, 'contacted', 'won'), told(8, 'lost', 'won')],
  ],
  'several of one instant lead from one to the next, whatever the order of their entries': [
    [seen(9, 'won', 3)],
    [told(3, 'contacted', 'won'), told(3, 'new', 'contacted'), told(3, null, 'new')],
  ],
  'each has the pipeline that the lead was in then': [
    [seen(1, 'new', 1), { ...seen(4, 'new', 1), pipeline_id: 'p2' }, seen(6, 'won', 6)],
    [told(2, 'new', 'contacted'), told(5, 'contacted', 'lost')],
  ],
}

it('the moves of a lead follow from its states and its activity', async () => {
  const shown = Object.entries(PASTS).map(([what, [states, activities = []]]) => {
    const moves = movesOf(stepsOf(states), activities).map(
      (move) =>
        `  ${move.from_status} to ${move.to_status} at ${move.moved_at} in ${move.pipeline_id} by ${move.source},` +
        ` entered ${move.entered_at}, days ${move.days_before}, read ${move.observed_at}`,
    )
    return [what, ...moves, ''].join('\n')
  })
  await expect(shown.join('\n')).toMatchFileSnapshot('golden/moves.txt')
})

describe('the table stage_move', () => {
  async function rowsOf(store: Store): Promise<unknown[]> {
    const rows = await store.db.selectFrom('stage_move').selectAll().orderBy('moved_at').execute()
    return rows.map((row) => [row.from_status, row.to_status, row.moved_at, row.entered_at, row.source])
  }

  const addActivity = (store: Store, id: string, at: string, fromStatus: string, toStatus: string) =>
    saveActivity(store, '1', [{ id, at, fromStatus, toStatus }], READ_AT)

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

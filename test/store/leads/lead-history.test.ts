import { describe, expect, it } from 'vitest'
import { type Deletion, historyOf, type LeadState, stepsOf } from '../../../src/store/leads/lead-history.ts'
import { BLANK_STATE } from '../../support/data/blank-lead.ts'

function day(number: number): string {
  return `2026-11-${String(number).padStart(2, '0')}T00:00:00.000Z`
}

/** Returns a state that was seen on the 20th, unless `change` says otherwise. */
function state(changedOn: number, change: Partial<LeadState> = {}): LeadState {
  return {
    ...BLANK_STATE,
    changed_at: day(changedOn),
    status_changed_at: null,
    observed_at: day(20),
    run_id: 'run',
    pipeline_id: 'p1',
    status: 'new',
    ...change,
  }
}

/** Returns the status, score, start and end of each version. */
function spans(states: readonly LeadState[], deletions: readonly Deletion[] = []): unknown[] {
  return historyOf(stepsOf(states), deletions).map((version) => [
    version.status,
    version.score,
    version.valid_from,
    version.valid_to,
  ])
}

describe('the begin of a state', () => {
  it('is its last change of status where the status is new, and its update where something else is', () => {
    const states = [
      state(2, { status_changed_at: day(1) }),
      state(5, { status: 'won', status_changed_at: day(4) }),
      state(7, { status: 'won', status_changed_at: day(4), score: 80 }),
    ]
    expect(spans(states)).toEqual([
      ['new', null, day(1), day(4)],
      ['won', null, day(4), day(7)],
      ['won', 80, day(7), null],
    ])
  })

  it('is its update where the upstream does not tell the change of status, or dates it after the update', () => {
    const states = [
      state(2),
      state(5, { status: 'won' }),
      state(7, { status: 'lost', status_changed_at: day(9) }),
    ]
    expect(spans(states)).toEqual([
      ['new', null, day(2), day(5)],
      ['won', null, day(5), day(7)],
      ['lost', null, day(7), null],
    ])
  })

  it('is not before the last update in which the state before still held', () => {
    const states = [
      state(2, { status_changed_at: day(2) }),
      state(6, { status_changed_at: day(2) }),
      state(8, { status: 'won', status_changed_at: day(4) }),
    ]
    expect(spans(states)).toEqual([
      ['new', null, day(2), day(8)],
      ['won', null, day(8), null],
    ])
  })

  it('is when it was read, for one that the upstream dates like the one before', () => {
    const states = [state(2), state(2, { score: 50, observed_at: day(4) }), state(6, { score: 70 })]
    expect(spans(states)).toEqual([
      ['new', null, day(2), day(4)],
      ['new', 50, day(4), day(6)],
      ['new', 70, day(6), null],
    ])
  })

  it('is just after the one before, for one of the same time that was read after the state that follows it', () => {
    const states = [state(2), state(2, { score: 50, observed_at: day(9) }), state(6, { score: 70 })]
    expect(spans(states)).toEqual([
      ['new', null, day(2), '2026-11-02T00:00:00.001Z'],
      ['new', 50, '2026-11-02T00:00:00.001Z', day(6)],
      ['new', 70, day(6), null],
    ])
  })
})

describe('the versions of a lead', () => {
  it('tell a way there and back as three, and skip updates that change nothing tracked', () => {
    const states = [state(2), state(3), state(4, { score: 50 }), state(5), state(6)]
    expect(spans(states)).toEqual([
      ['new', null, day(2), day(4)],
      ['new', 50, day(4), day(5)],
      ['new', null, day(5), null],
    ])
    expect(stepsOf(states).map((step) => step.minorUpdates.map((update) => update.changed_at))).toEqual([
      [day(3)],
      [],
      [day(6)],
    ])
  })

  it('begin with the return, for the state that the lead took on while it was gone', () => {
    const states = [state(2), state(6, { score: 50 }), state(7, { score: 70 })]
    expect(spans(states, [{ from: day(5), to: day(8) }])).toEqual([
      ['new', null, day(2), day(5)],
      ['new', 50, day(6), day(6)],
      ['new', 70, day(8), null],
    ])
  })

  it('are parted by each of several deletions', () => {
    const deletions = [
      { from: day(3), to: day(4) },
      { from: day(6), to: day(7) },
      { from: day(9), to: null },
    ]
    expect(spans([state(2), state(7, { score: 50 })], deletions)).toEqual([
      ['new', null, day(2), day(3)],
      ['new', null, day(4), day(6)],
      ['new', 50, day(7), day(9)],
    ])
  })

  it('never begin before they end, though a deletion begins before the lead by the upstream’s clock', () => {
    expect(spans([state(7)], [{ from: day(5), to: null }])).toEqual([['new', null, day(7), day(7)]])
  })
})

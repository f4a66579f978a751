import { expect, it } from 'vitest'
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

const won = { status: 'won', status_changed_at: day(4) }

/** States of a lead, and the times when it was gone, by what its versions show. */
const PASTS: Readonly<Record<string, readonly [readonly LeadState[], (readonly Deletion[])?]>> = {
  'a status begins with its last change, another field with its update': [
    [state(2, { status_changed_at: day(1) }), state(5, won), state(7, { ...won, score: 80 })],
  ],
  'a status begins with its update where its change is not told or dated after it': [
    [state(2), state(5, { status: 'won' }), state(7, { status: 'lost', status_changed_at: day(9) })],
  ],
  'a state begins not before the last update in which the state before still held': [
    [state(2, { status_changed_at: day(2) }), state(6, { status_changed_at: day(2) }), state(8, won)],
  ],
  'a state that is dated like the one before begins when it was read': [
    [state(2), state(2, { score: 50, observed_at: day(4) }), state(6, { score: 70 })],
  ],
  'a state of the same time that was read after what follows it begins just after the one before': [
    [state(2), state(2, { score: 50, observed_at: day(9) }), state(6, { score: 70 })],
  ],
  'a way there and back is three versions, and updates that change nothing tracked are none': [
    [state(2), state(3), state(4, { score: 50 }), state(5), state(6)],
  ],
  'a version begins with the return, for the state that the lead took on while it was gone': [
    [state(2), state(6, { score: 50 }), state(7, { score: 70 })],
    [{ from: day(5), to: day(8) }],
  ],
  'versions are parted by each of several deletions, and end with one that lasts': [
    [state(2), state(7, { score: 50 })],
    [
      { from: day(3), to: day(4) },
      { from: day(6), to: day(7) },
      { from: day(9), to: null },
    ],
  ],
  'a version never begins before it ends, though the deletion is before the lead by its own clock': [
    [state(7)],
    [{ from: day(5), to: null }],
  ],
}

it('the versions of a lead begin and end by its states and deletions', async () => {
  const told = Object.entries(PASTS).map(([what, [states, deletions = []]]) => {
    const steps = stepsOf(states)
    const versions = historyOf(steps, deletions).map(
      ({ status, score, valid_from, valid_to }) =>
        `  ${status} ${score ?? '-'} from ${valid_from} to ${valid_to ?? 'now'}`,
    )
    const minor = steps.flatMap((step) =>
      step.minorUpdates.map((update) => `  updated at ${update.changed_at}`),
    )
    return [what, ...versions, ...minor, ''].join('\n')
  })
  await expect(told.join('\n')).toMatchFileSnapshot('golden/versions.txt')
})

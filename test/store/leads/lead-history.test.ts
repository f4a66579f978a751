/** The versions and the moves of a lead follow from its states, its deletions and its activity. */
import { expect, it } from 'vitest'
import { type Deletion, historyOf, type LeadState, stepsOf } from '../../../src/store/leads/lead-history.ts'
import { movesOf, type StatusActivity } from '../../../src/store/leads/stage-move.ts'
import { BLANK_STATE } from '../../support/data/blank-lead.ts'

/**
 * The known states of a lead in November, by what its versions and moves show. States have the day of the update, the
 * status, its own day if that is told, and what else is not as usual. An entry of the activity has its day and the
 * statuses, and a deletion its days.
 */
const PASTS: Readonly<Record<string, { states: string; activity?: string; deletions?: string }>> = {
  'a status begins with its last change, another field with its update': {
    states: '2 new@1, 5 won@4, 7 won@4 score=80',
  },
  'a status begins with its update where its change is not told or dated after it': {
    states: '2 new, 5 won, 7 lost@9',
  },
  'a state begins not before the last update in which the state before still held': {
    states: '2 new@2, 6 new@2, 8 won@4',
  },
  'a state that is dated like the one before begins when it was read': {
    states: '2 new, 2 new score=50 read=4, 6 new score=70',
  },
  'a state of the same time that was read after what follows it begins just after the one before': {
    states: '2 new, 2 new score=50 read=9, 6 new score=70',
  },
  'a way there and back is three versions, and updates that change nothing tracked are none': {
    states: '2 new, 3 new, 4 new score=50, 5 new, 6 new',
  },
  'a version begins with the return, for the state that the lead took on while it was gone': {
    states: '2 new, 6 new score=50, 7 new score=70',
    deletions: '5 to 8',
  },
  'versions are parted by each of several deletions, and end with one that lasts': {
    states: '2 new, 7 new score=50',
    deletions: '3 to 4, 6 to 7, 9 to now',
  },
  'a version never begins before it ends, though the deletion is before the lead by its own clock': {
    states: '7 new',
    deletions: '5 to now',
  },
  'moves are the changes of a status, over changes of other fields, with the days before': {
    states: '1 new@1, 3 new@1 score=70, 7 contacted@6',
  },
  'they reach back by the activity to before the lead was first read': {
    states: '9 won@5',
    activity: '1 >new, 3 new>contacted, 5 contacted>won',
  },
  'they stand once where the lead and its activity date them a minute apart': {
    states: '1 new@1, 3T00:00:30 contacted@3T00:00:30',
    activity: '3 new>contacted',
  },
  'they stand once where the activity is a minute later': {
    states: '1 new@1, 3T00:00:30 contacted@3T00:00:30',
    activity: '3T00:01:30 new>contacted',
  },
  'they stand twice where the lead goes the same way again, though only the first is in its activity': {
    states: '1 new@1, 3 contacted@3, 5 new@5, 7 contacted@7',
    activity: '3 new>contacted',
  },
  'they are all kept of a way there and back within the minute': {
    states: '1 new@1, 3T00:00:40 contacted@3T00:00:40',
    activity: '3 new>contacted, 3T00:00:20 contacted>new, 3T00:00:40 new>contacted',
  },
  'the steps between two sightings come from the activity, where the lead does not date its status': {
    states: '1 new, 6 won',
    activity: '3 new>contacted, 4 contacted>won',
  },
  'they go on from where the activity ends, when the lead has moved since': {
    states: '1 new, 6 contacted',
    activity: '3 new>contacted, 4 contacted>new',
  },
  'what came before is as the activity has it, and no days where its begin is not known': {
    states: '1 new@1, 9 won@8',
    activity: '5 contacted>won, 8 lost>won',
  },
  'several of one instant lead from one to the next, whatever the order of their entries': {
    states: '9 won@3',
    activity: '3 contacted>won, 3 new>contacted, 3 >new',
  },
  'each has the pipeline that the lead was in then': {
    states: '1 new@1, 4 new@1 pipeline=p2, 6 won@6',
    activity: '2 new>contacted, 5 contacted>lost',
  },
}

/** Returns an instant in November: `5` or `5T10:00:01`. */
function on(day = ''): string {
  const [date = '', time = '00:00:00'] = day.split('T')
  return `2026-11-${date.padStart(2, '0')}T${time}.000Z`
}

/** Returns a state, which was read on the 20th unless told otherwise. */
function stateOf(text: string): LeadState {
  const [changed, shown = '', ...rest] = text.split(' ')
  const [status = '', since] = shown.split('@')
  const { score, read = '20', pipeline = 'p1' } = Object.fromEntries(rest.map((pair) => pair.split('=')))
  return {
    ...BLANK_STATE,
    changed_at: on(changed),
    status_changed_at: since === undefined ? null : on(since),
    observed_at: on(read),
    run_id: 'run',
    pipeline_id: pipeline,
    status,
    score: score === undefined ? null : Number(score),
  }
}

function activityOf(text: string): StatusActivity {
  const [day, move = ''] = text.split(' ')
  const [from, to = ''] = move.split('>')
  return { at: on(day), from_status: from || null, to_status: to, first_seen_at: on('20') }
}

function deletionOf(text: string): Deletion {
  const [from, to] = text.split(' to ')
  return { from: on(from), to: to === 'now' ? null : on(to) }
}

const listed = (text = '') => (text === '' ? [] : text.split(', '))

it('the versions and moves of a lead follow from its states, deletions and activity', async () => {
  const told = Object.entries(PASTS).map(([what, { states, activity, deletions }]) => {
    const steps = stepsOf(listed(states).map(stateOf))
    const versions = historyOf(steps, listed(deletions).map(deletionOf)).map(
      ({ status, score, valid_from, valid_to }) =>
        `  ${status} ${score ?? '-'} from ${valid_from} to ${valid_to ?? 'now'}`,
    )
    const minor = steps.flatMap(({ minorUpdates }) =>
      minorUpdates.map((update) => `  updated at ${update.changed_at}`),
    )
    const moves = movesOf(steps, listed(activity).map(activityOf)).map(
      (move) =>
        `  ${move.from_status} to ${move.to_status} at ${move.moved_at} in ${move.pipeline_id} by ${move.source},` +
        ` entered ${move.entered_at}, days ${move.days_before}, read ${move.observed_at}`,
    )
    return [what, ...versions, ...minor, ...moves, ''].join('\n')
  })
  await expect(told.join('\n')).toMatchFileSnapshot('golden/histories.txt')
})

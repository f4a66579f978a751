// @both-stores
/** Leads whose time of update moved back: an upstream was restored from a backup, or a wrong date was corrected. */
import { expect, it } from 'vitest'
import { away, CURSOR, PAGE, paged, pagesOf, records, SINCE } from '../../support/source/listing.ts'
import { changes, type Story, tellSyncs } from '../../support/source/sync-stories.ts'

/** The syncs read at 06:00, 07:00 and so on of this day. */
const DAY = '2026-11-21'
const CREATED = '2026-11-01T00:00:00.000Z'
const moved = (status: string, updated: string, name = 'Acme') => {
  return {
    id: 'a',
    status,
    name,
    created: CREATED,
    updated: updated.includes('-') ? updated : `${DAY}T${updated}`,
  }
}
const OTHERS = records(29)
const whole = (...leads: readonly object[]) => {
  return { hoursLater: 1, answer: pagesOf([...leads, ...OTHERS]) }
}
/** A list of two pages. */
const halves = (first: readonly object[], second: readonly object[]) => {
  return pagesOf([...first, ...OTHERS.slice(0, 15)], [...second, ...OTHERS.slice(15)])
}
const WON = moved('won', '05:00:00.000Z')
const OLD = moved('contacted', '2026-01-02T00:00:00.000Z')
const dated = (updated: string) => records(3).map(({ id }) => ({ id, updated }))

/** A lead as the upstream gives it first, and as it gives it later, with an earlier time. */
const KINDS: Readonly<Record<string, readonly [first: object, later: object]>> = {
  'an upstream restored from a backup': [WON, moved('new', '2026-11-20T09:00:00.000Z')],
  'a date of 2099 that was corrected': [moved('won', '2099-01-01T00:00:00.000Z'), WON],
  'a date of 2099 that was corrected by a change': [
    moved('won', '2099-01-01T00:00:00.000Z'),
    moved('lost', '06:30:00.000Z'),
  ],
  'a field without a history that was undone': [
    moved('new', '05:00:00.000Z', 'Wrong'),
    moved('new', '04:00:00.000Z', 'Right'),
  ],
}

const STORIES: readonly Story[] = [
  ...Object.entries(KINDS).map(([kind, [first, later]]): Story => {
    const then = { ...changes(pagesOf([moved('disqualified', '08:30:00.000Z')])), hoursLater: 1 }
    return [kind, { ...CURSOR, ...SINCE }, pagesOf([first, ...OTHERS]), { ...whole(later), times: 2 }, then]
  }),
  [
    'an older state in a list of changes',
    { ...CURSOR, ...SINCE },
    whole(WON),
    changes(pagesOf([moved('contacted', '04:55:00.000Z')])),
  ],
  [
    'an older state in a full scan that breaks off, and is resumed',
    CURSOR,
    whole(WON),
    { hoursLater: 1, answer: (...asked) => (asked[0] === '1' ? away : halves([OLD], []))(...asked) },
    { hoursLater: 1, answer: halves([OLD], []) },
  ],
  ['an older state on a page before the stored one', CURSOR, whole(WON), halves([OLD], [WON])],
  ['an older state on a page behind the stored one', CURSOR, whole(WON), halves([WON], [OLD])],
  ['an older state of a lead that was deleted', CURSOR, whole(WON), { ...whole(), times: 2 }, whole(OLD)],
  [
    'older states in a scan that is unproven',
    PAGE,
    paged('page', dated('2026-11-20T00:00:00.000Z')),
    paged('page', dated('2020-01-01T00:00:00.000Z'), 30),
  ],
]

it('what each sync finds where the time of a lead moved back, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/moved-back.txt')
})

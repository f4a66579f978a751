// @both-stores
/** So many leads are missing that the sync does not believe it. An operator can confirm some such losses. */
import { expect, it } from 'vitest'
import { away, pagesOf, records } from '../../support/source/listing.ts'
import { type Story, tellSyncs } from '../../support/source/sync-stories.ts'

const SIXTY = { hoursLater: 1, answer: pagesOf(records(60)) }
const accepted = { ...SIXTY, acceptsDeletions: true }
// Ten leads have come back, and ten others are missing for the first time.
const OTHER_SIXTY = pagesOf([...records(50), ...records(10, 90)])

const STORIES: readonly Story[] = [
  ['more than a fifth of the leads missing', {}, pagesOf(records(100)), { ...SIXTY, times: 4 }],
  ['an operator says that they are deleted', {}, pagesOf(records(100)), SIXTY, accepted, SIXTY],
  [
    'an operator says so when some have come back and others have just gone',
    {},
    pagesOf(records(100)),
    SIXTY,
    { ...accepted, answer: OTHER_SIXTY },
    { ...accepted, answer: OTHER_SIXTY },
  ],
  [
    'an operator says so, and the scan does not come to its end',
    {},
    pagesOf(records(100)),
    SIXTY,
    { ...accepted, answer: (...asked) => (asked[0] === null ? pagesOf(records(60), []) : away)(...asked) },
  ],
]

it('what each sync finds where more than a fifth of the leads are missing, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/accept-deletions.txt')
})

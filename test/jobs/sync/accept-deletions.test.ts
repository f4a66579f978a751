// @both-stores
/** So many leads are missing that the sync does not believe it. An operator can confirm some such losses. */
import { expect, it } from 'vitest'
import { openListing, pagesOf, records } from '../../support/source/listing.ts'
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
]

it('what each sync finds where more than a fifth of the leads are missing, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/accept-deletions.txt')
})

it('missing leads are not deleted by a scan that did not come to its end', async () => {
  await using listing = await openListing({}, pagesOf(records(100)))
  await listing.sync()
  listing.answer = pagesOf(records(60))
  await listing.sync()
  listing.answer = (position) => {
    if (position !== null) throw new TypeError('broken')
    return { records: records(60), next: '2' }
  }
  await expect(listing.sync({ acceptsDeletions: true })).rejects.toThrow()
  expect(await listing.store.db.selectFrom('lead_deletion').selectAll().execute()).toEqual([])
})

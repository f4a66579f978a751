// @both-stores
/** The settings name another account or host than the one from which the stored leads were read. */
import { expect, it } from 'vitest'
import { away, CURSOR, pagesOf, records, SINCE } from '../../support/source/listing.ts'
import { type Story, tellSyncs } from '../../support/source/sync-stories.ts'

const CHANGES = { ...CURSOR, ...SINCE }
const twoPages = pagesOf(records(10), records(10, 10))
const elsewhere = { address: 'sandbox.example.com/leads', answer: pagesOf(records(15, 100)) }
const accepted = { ...elsewhere, acceptsAddress: true }

const STORIES: readonly Story[] = [
  ['another address, by a full sync', CHANGES, twoPages, elsewhere],
  ['another address, by a sync of changes', CHANGES, twoPages, { ...elsewhere, full: false }],
  ['another address, by a sync of agents', CHANGES, twoPages, { ...elsewhere, parts: ['agents'] }],
  [
    'another address after an interrupted first scan, and once it is accepted',
    CHANGES,
    (...asked) => (asked[0] === null ? twoPages : away)(...asked),
    elsewhere,
    accepted,
  ],
  ['another address while nothing was read from the first one', CHANGES, away, elsewhere],
  [
    'another address while the first one has no lead',
    CHANGES,
    pagesOf([{ name: 'without an id' }]),
    elsewhere,
  ],
  [
    'another address that is accepted by a sync of changes that fails, and the next one',
    CHANGES,
    twoPages,
    { ...accepted, answer: away, full: false },
    { ...elsewhere, full: false },
  ],
  [
    'a lead that the first source missed, and that another one misses twice',
    CHANGES,
    pagesOf(records(40)),
    pagesOf(records(39)),
    { ...accepted, answer: pagesOf(records(39)) },
    {},
  ],
]

it('what each sync finds at another address, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/other-source.txt')
})

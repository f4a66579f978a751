// @both-stores
import { expect, it } from 'vitest'
import { MAPPING, openListing, PAGE, paged, records, SINCE } from '../../support/source/listing.ts'
import { changes, type Story, tellSyncs } from '../../support/source/sync-stories.ts'

const CHANGES = { ...PAGE, ...SINCE }
const created = (at: string) => paged('page', [{ id: 1, created: at }, { id: 2 }])
const THIRTY = records(30)
const TENTHS = records(1_000).map((record, index) => (index % 10 === 0 ? record : { ...record, phone: 'x' }))
const titled = paged(
  'page',
  records(3).map((record) => ({ ...record, title: `Company ${record.id}` })),
)
const named = { mapping: { lead: { ...MAPPING.lead, company_name: 'title' } } }
const movedKey = { auth: { header: 'X-Api-Key', value: '{key}' } }

const STORIES: readonly Story[] = [
  [
    'a record that cannot be read, still not, and then can',
    PAGE,
    created('soon'),
    created('later'),
    created('2026-11-01'),
  ],
  [
    'a record that cannot be read any more, thrice, that then has no id either, thrice, and then is gone, twice',
    PAGE,
    paged('page', THIRTY),
    { answer: paged('page', [...THIRTY.slice(1), { ...THIRTY[0], created: 'yesterday' }]), times: 3 },
    { answer: paged('page', [...THIRTY.slice(1), { created: 'yesterday' }]), times: 3 },
    { answer: paged('page', THIRTY.slice(1)), hoursLater: 1 },
    { hoursLater: 1 },
  ],
  [
    'a profile with another mapping, and the sync after it',
    CHANGES,
    titled,
    changes(titled),
    { ...changes(titled, 2), profile: named },
  ],
  [
    'fields that each tenth record lacks, which are there whatever the size of a page is',
    PAGE,
    ...[475, 500, 250, 1_000].map((pageSize) => ({ answer: paged('page', TENTHS), pageSize })),
  ],
  ['a profile that sends only the key elsewhere', CHANGES, titled, { ...changes(titled), profile: movedKey }],
]

it('what each sync finds of records that cannot be read and of other profiles, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/quarantine-and-profiles.txt')
})

it('fields that are new, vanished or of another type are told once', async () => {
  const before = records(30).map((record) => ({ ...record, company: { size: 3 }, phone: '1', rare: null }))
  await using listing = await openListing(PAGE, paged('page', before))
  expect((await listing.sync()).scan?.drift).toEqual([])
  const after = records(30).map((record) => ({ ...record, company: { size: '3', city: 'Wien' }, rare: 5 }))
  listing.answer = paged('page', after)
  listing.clock.now = new Date('2026-11-22T06:00:00Z')
  const result = await listing.sync()
  expect(result.outcome).toBe('ok_no_change')
  expect(result.scan?.drift).toEqual([
    { change: 'new', path: 'company.city', types: ['string'] },
    { change: 'retyped', path: 'company.size', types: ['string'] },
    { change: 'vanished', path: 'phone', types: ['string'] },
  ])
  expect((await listing.sync()).scan?.drift).toEqual([])
  const fields = await listing.store.db
    .selectFrom('field_seen')
    .where('path', 'in', ['company.size', 'phone', 'rare'])
    .select(['path', 'types', 'missing_since', 'null_share'])
    .orderBy('path')
    .execute()
  expect(fields).toEqual([
    { path: 'company.size', types: '["number","string"]', missing_since: null, null_share: 0 },
    { path: 'phone', types: '["string"]', missing_since: '2026-11-22T06:00:00.000Z', null_share: 0 },
    { path: 'rare', types: '["number"]', missing_since: null, null_share: 1 / 3 },
  ])
  listing.answer = paged('page', before)
  expect((await listing.sync()).scan?.drift).toContainEqual({
    change: 'new',
    path: 'phone',
    types: ['string'],
  })
})

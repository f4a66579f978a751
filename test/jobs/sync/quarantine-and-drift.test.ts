// @both-stores
import { describe, expect, it } from 'vitest'
import {
  type Listing,
  MAPPING,
  openListing,
  PAGE,
  paged,
  records,
  SINCE,
} from '../../support/source/listing.ts'

async function held(listing: Listing) {
  return listing.store.db.selectFrom('quarantined_record').select(['record_id', 'reason', 'raw']).execute()
}

it('quarantined records are forgotten when their record can be read, and one record is held once', async () => {
  const list = (created: string) => paged('page', [{ id: 1, created }, { id: 2 }])
  await using listing = await openListing(PAGE, list('soon'))
  await listing.sync()
  listing.answer = list('later')
  await listing.sync()
  expect(await held(listing)).toEqual([
    { record_id: '1', reason: 'created_at: "later" is not an instant', raw: '{"id":1,"created":"later"}' },
  ])
  listing.answer = list('2026-11-01')
  expect((await listing.sync()).leads).toMatchObject({ inserted: 1, quarantined: 0 })
  expect(await held(listing)).toEqual([])
})

describe('a changed profile', () => {
  it('reads all leads again and maps unchanged records anew; the next sync is incremental', async () => {
    const all = records(30).map((record) => ({ ...record, title: `Company ${record.id}` }))
    await using listing = await openListing({ ...PAGE, ...SINCE }, paged('page', all))
    await listing.sync()
    expect((await listing.sync({ full: false })).scan?.mode).toBe('incremental')
    const name = () =>
      listing.store.db.selectFrom('lead').where('id', '=', 'l007').select('company_name').executeTakeFirst()
    expect(await name()).toEqual({ company_name: null })

    listing.profile = { ...listing.profile, mapping: { lead: { ...MAPPING.lead, company_name: 'title' } } }
    const remapped = await listing.sync({ full: false })
    expect(remapped).toMatchObject({ scan: { mode: 'full' }, leads: { updated: 30, unchanged: 0 } })
    expect(await name()).toEqual({ company_name: 'Company l007' })
    const versions = await listing.store.db.selectFrom('lead_version').select('lead_id').execute()
    expect(versions).toHaveLength(30)
    expect((await listing.sync({ full: false })).scan?.mode).toBe('incremental')
  })

  it('is no other profile when only the key is sent elsewhere', async () => {
    await using listing = await openListing({ ...PAGE, ...SINCE }, paged('page', records(5)))
    await listing.sync()
    listing.profile = { ...listing.profile, auth: { header: 'X-Api-Key', value: '{key}' } }
    expect((await listing.sync({ full: false })).scan?.mode).toBe('incremental')
  })
})

describe('fields', () => {
  it('that are new, vanished or of another type are told once', async () => {
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

  it('that each tenth record lacks are there whatever the size of a page is', async () => {
    const all = records(1_000).map((record, index) => (index % 10 === 0 ? record : { ...record, phone: 'x' }))
    await using listing = await openListing(PAGE, paged('page', all))
    for (const pageSize of [475, 500, 250, 1_000])
      expect((await listing.sync({ pageSize })).scan?.drift).toEqual([])
  })
})

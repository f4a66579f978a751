// @both-stores
import { describe, expect, it } from 'vitest'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { CURSOR, type Listing, MAPPING, openListing, SINCE } from '../../support/source/listing.ts'
import { openWorld } from '../../support/syncing.ts'
import { body, status } from '../../support/upstream.ts'

const AT = '2026-11-20T00:00:00.000Z'
const LATER = '2026-11-21T05:00:00.000Z'
const ALL = ['a', 'b', 'c'].map((id) => ({ id, status: 'new', name: 'Acme', updated: AT }))
const options = { full: false, overlapMs: 10 * 60_000 }

async function openCopy(deleted?: object): Promise<Listing> {
  const listing = await openListing(
    { ...SINCE, mapping: { ...MAPPING, ...(deleted && { deleted }) } } as never,
    () => ({ records: ALL }),
  )
  await listing.sync()
  return listing
}

async function rowOf({ store }: Listing, id: string) {
  return store.db
    .selectFrom('lead')
    .where('id', '=', id)
    .select(['company_name as name', 'status', 'deleted_at'])
    .executeTakeFirst()
}

describe('a lead that the upstream lists as deleted', () => {
  it.each<[mark: object, rule?: object]>([
    [{ deleted: true }],
    [{ is_deleted: 1 }],
    [{ isDeleted: 'true' }],
    [{ _deleted: true }],
    [{ deleted_at: LATER }],
    [{ deletedAt: 1_795_000_000 }],
    [{ status: 'deleted' }, { from: 'status', values: { deleted: 'true' } }],
    [{ meta: { archived: true } }, { from: 'meta.archived' }],
  ])(
    'by %o is marked as deleted at once, and keeps its fields: a rule of the profile, %o',
    async (mark, rule) => {
      await using listing = await openCopy(rule)
      listing.answer = () => ({ records: [{ id: 'b', updated: LATER, ...mark }, ALL[2]] })
      const result = await listing.sync(options)
      expect(result).toMatchObject({ outcome: 'ok', leads: { deleted: 1, updated: 0, quarantined: 0 } })
      expect(await rowOf(listing, 'b')).toMatchObject({
        name: 'Acme',
        status: 'new',
        deleted_at: expect.any(String),
      })
      expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
    },
  )

  it.each([
    { deleted: false },
    { deleted: null, deleted_at: null, is_deleted: 0 },
    { deleted_at: '0001-01-01T00:00:00Z' },
    { deleted: 'false', deletedAt: '' },
    { status: 'deleted' },
    { archived: true },
  ])('is another one than a lead with %o', async (fields) => {
    await using listing = await openCopy()
    listing.answer = () => ({ records: [...ALL.slice(1), { ...ALL[0], ...fields, updated: LATER }] })
    expect(await listing.sync(options)).toMatchObject({ leads: { deleted: 0, updated: 1 } })
  })

  it('stays deleted while each whole list has it, and comes back without the mark', async () => {
    await using listing = await openCopy()
    const marked = [...ALL.slice(1), { ...ALL[0], deleted: true }]
    listing.answer = () => ({ records: marked, total: 3 })
    for (let time = 0; time < 3; time++) {
      const { scan } = await listing.sync()
      expect(scan).toMatchObject({ result: 'complete', distinct: 2, warnings: [] })
    }
    expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
    listing.answer = () => ({ records: ALL })
    await listing.sync()
    expect((await rowOf(listing, 'a'))?.deleted_at).toBeNull()
  })

  it('may fill whole pages in a first load, and is marked in the load that read it', async () => {
    const pages = [ALL, ...['gone', 'a', 'lost'].map((id) => [{ id, updated: LATER, deleted: true }])]
    await using listing = await openListing(CURSOR, (position) => {
      const at = Number(position ?? 0)
      return { records: pages[at] ?? [], next: at < 3 ? String(at + 1) : null }
    })
    expect(await listing.sync()).toMatchObject({ outcome: 'ok', leads: { inserted: 3, deleted: 1 } })
    expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
  })

  it('is deleted by a mark without a time in a whole list of unproven end too', async () => {
    await using listing = await openCopy()
    listing.answer = () => ({ records: [{ id: 'a', deleted: true }, ...ALL.slice(1)], total: 9 })
    const { scan, leads } = await listing.sync()
    expect([scan?.result, leads?.deleted]).toEqual(['unproven', 1])
  })

  it.each([
    { by: 'without a time', time: {} },
    { by: 'of the same time', time: { updated: AT } },
  ])('is deleted by a mark $by, in a whole list as in a list of changes', async ({ time }) => {
    await using listing = await openCopy()
    listing.answer = () => ({ records: [{ id: 'a', deleted: true, ...time }, ...ALL.slice(1)] })
    expect(await listing.sync()).toMatchObject({ outcome: 'ok', leads: { seen: 2, deleted: 1 } })
    listing.answer = () => ({ records: [{ id: 'b', deleted: true, ...time }, ALL[2]] })
    expect(await listing.sync(options)).toMatchObject({ outcome: 'ok', leads: { deleted: 1 } })
    expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
  })
})

describe('a live lead', () => {
  const EARLIER = '2026-11-19T00:00:00.000Z'
  const marks = [
    { by: 'older', mark: { id: 'a', deleted: true, updated: EARLIER } },
    { by: 'equally old', mark: { id: 'a', deleted: true, updated: AT } },
    { by: 'undated', mark: { id: 'a', deleted: true } },
  ]
  const places = [
    { place: 'before it on its page', pages: (mark: object) => [[mark, ...ALL]] },
    { place: 'behind it on its page', pages: (mark: object) => [[...ALL, mark]] },
    { place: 'on a page before', pages: (mark: object) => [[mark], ALL] },
    { place: 'on a page behind', pages: (mark: object) => [ALL, [mark]] },
  ]
  it.each(marks.flatMap((one) => places.map((other) => ({ ...one, ...other }))))(
    'stays live beside an $by mark of deletion $place, in each whole list',
    async ({ mark, pages }) => {
      const lists = pages(mark)
      await using listing = await openListing(CURSOR, (position) => {
        const page = Number(position ?? 0)
        return { records: lists[page] ?? [], next: page + 1 < lists.length ? String(page + 1) : null }
      })
      for (let time = 0; time < 3; time++) {
        expect(await listing.sync()).toMatchObject({ leads: { updated: 0, deleted: 0 } })
      }
      expect((await rowOf(listing, 'a'))?.deleted_at).toBeNull()
      expect(await listing.store.db.selectFrom('lead_deletion').selectAll().execute()).toEqual([])
    },
  )

  it.each([
    ['a list of changes', options, 0],
    ['the first whole list that has only that, but by the second', {}, 1],
  ])('is not deleted by an older state in %s', async (_, asked, later) => {
    await using listing = await openCopy()
    listing.answer = () => ({ records: [{ id: 'a', deleted: true, updated: EARLIER }, ...ALL.slice(1)] })
    expect(await listing.sync(asked)).toMatchObject({ leads: { deleted: 0 } })
    if (later > 0) expect(await listing.sync()).toMatchObject({ outcome: 'ok', leads: { deleted: later } })
  })

  it('without a time stays live beside a dated mark in each whole list', async () => {
    await using listing = await openListing({}, () => ({
      records: [
        { id: 'a', status: 'new' },
        { id: 'a', deleted: true, updated: LATER },
      ],
    }))
    await listing.sync()
    listing.clock.now = new Date('2026-11-22T06:00:00Z')
    expect(await listing.sync()).toMatchObject({ leads: { updated: 0, deleted: 0 } })
  })
})

it.each([
  ['answers with the lead that it was merged into', body('{"id":"b","name":"Acme"}'), 'api_not_found'],
  ['leads to it', status(308, { location: '/api/v1/leads/b/' }), 'api_not_found'],
  ['says that it is deleted', body('{"id":"a","deleted":true}'), 'api_not_found'],
  ['leads to another page', status(301, { location: '/login' }), 'api_unexpected'],
  ['leads to another host', status(301, { location: 'https://elsewhere.example/leads/b' }), 'api_unexpected'],
])(
  'a single lead that %s has the error of a lead that is not found, or of a wrong address',
  async (_, fault, code) => {
    const { upstream, syncing } = await openWorld(0)
    upstream.faults.push(fault, fault)
    await expect(syncing.source.fetchSingleLead('a')).rejects.toMatchObject({ code })
    await expect(syncing.source.fetchDetail('a')).rejects.toMatchObject({ code })
  },
)

// @both-stores
/** The upstream lists a deleted lead with a mark (a tombstone), usually with nothing else than its id. */
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { openSource } from '../../../src/upstream/source.ts'
import { type Listing, MAPPING, openListing } from '../../support/source/listing.ts'
import { SILENT } from '../../support/syncing.ts'

const AT = '2026-11-20T00:00:00.000Z'
const LATER = '2026-11-21T05:00:00.000Z'
const ALL = ['a', 'b', 'c'].map((id) => ({ id, status: 'new', name: 'Acme', updated: AT }))
const FILTER = { filters: { updated_since: { param: 'since' } } } as const
const options = { full: false, overlapMs: 10 * 60_000 }

async function openCopy(deleted?: object): Promise<Listing> {
  const listing = await openListing(
    { ...FILTER, mapping: { ...MAPPING, ...(deleted && { deleted }) } } as never,
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
  it.each<{ by: string; mark: object; rule?: object }>([
    { by: 'deleted', mark: { deleted: true } },
    { by: 'is_deleted as a number', mark: { is_deleted: 1 } },
    { by: 'isDeleted as a text', mark: { isDeleted: 'true' } },
    { by: '_deleted', mark: { _deleted: true } },
    { by: 'deleted_at', mark: { deleted_at: LATER } },
    { by: 'deletedAt in epoch seconds', mark: { deletedAt: 1_795_000_000 } },
    {
      by: 'a status that the profile names',
      mark: { status: 'deleted' },
      rule: { from: 'status', values: { deleted: 'true' } },
    },
    {
      by: 'another field that the profile names',
      mark: { meta: { archived: true } },
      rule: { from: 'meta.archived' },
    },
  ])('by $by is marked as deleted at once, and keeps its fields', async ({ mark, rule }) => {
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
  })

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

  it('may fill whole pages, in a first load too', async () => {
    const pages = Array.from({ length: 5 }, (_, page) => ({
      records: [{ id: `gone${page}`, deleted: true }],
      next: page === 4 ? null : String(page + 1),
    }))
    await using listing = await openListing(
      { paging: { kind: 'cursor', param: 'c', next: 'n' } },
      (position) => (position === null ? { records: ALL, next: '0' } : (pages[Number(position)] ?? {})),
    )
    expect(await listing.sync()).toMatchObject({ outcome: 'ok', leads: { seen: 3, inserted: 3 } })
  })

  it('is marked in the load that read it', async () => {
    await using listing = await openListing(
      { paging: { kind: 'cursor', param: 'c', next: 'n' } },
      (position) =>
        position === null
          ? { records: ALL, next: '0' }
          : { records: [{ id: 'a', updated: LATER, deleted: true }] },
    )
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
      await using listing = await openListing(
        { paging: { kind: 'cursor', param: 'c', next: 'n' } },
        (position) => {
          const page = Number(position ?? 0)
          return { records: lists[page] ?? [], next: page + 1 < lists.length ? String(page + 1) : null }
        },
      )
      for (let time = 0; time < 3; time++) {
        expect(await listing.sync()).toMatchObject({ leads: { updated: 0, deleted: 0 } })
      }
      expect((await rowOf(listing, 'a'))?.deleted_at).toBeNull()
      expect(await listing.store.db.selectFrom('lead_deletion').selectAll().execute()).toEqual([])
    },
  )

  it('stays live if a list of changes has an older state of it that was deleted', async () => {
    await using listing = await openCopy()
    listing.answer = () => ({ records: [{ ...ALL[0], deleted: true, updated: EARLIER }, ...ALL.slice(1)] })
    expect(await listing.sync(options)).toMatchObject({ leads: { deleted: 0 } })
  })

  it('is deleted by the second whole list that has only an older state of it', async () => {
    await using listing = await openCopy()
    listing.answer = () => ({ records: [{ id: 'a', deleted: true, updated: EARLIER }, ...ALL.slice(1)] })
    expect(await listing.sync()).toMatchObject({ leads: { deleted: 0 } })
    expect(await listing.sync()).toMatchObject({ outcome: 'ok', leads: { deleted: 1 } })
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

describe('a single lead', () => {
  it.each<readonly [string, number, object, object]>([
    ['answers with the lead that it was merged into', 200, { id: 'b', name: 'Acme' }, {}],
    ['leads to it (301)', 301, {}, { location: '/leads/b' }],
    ['leads to it (308)', 308, {}, { location: '/leads/b/' }],
    ['says that it is deleted', 200, { id: 'a', deleted: true }, {}],
  ])('that %s counts as not found', async (_, status, body, headers) => {
    await using server = await answering(status, body, headers)
    await expect(server.source.fetchSingleLead('a')).rejects.toMatchObject({ code: 'api_not_found' })
    await expect(server.source.fetchDetail('a')).rejects.toMatchObject({ code: 'api_not_found' })
  })

  it.each(['/v2/leads/a', '/login', 'https://elsewhere.example/leads/b'])(
    'that leads to %s is a mistake of the address',
    async (location) => {
      await using server = await answering(301, {}, { location })
      await expect(server.source.fetchSingleLead('a')).rejects.toMatchObject({ code: 'api_unexpected' })
    },
  )
})

async function answering(status: number, body: object, headers: object) {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const endpoints = { leads: '/leads', lead: '/leads/{id}' }
  const profile = parseProfile(
    { name: 'test', endpoints, paging: { kind: 'none' }, mapping: MAPPING },
    'test',
  )
  const source = openSource({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: 'k3y',
    maxWaitMs: 1000,
    log: SILENT,
    profile,
  })
  return {
    source,
    async [Symbol.asyncDispose]() {
      await source.close()
      server.closeAllConnections()
      server.close()
    },
  }
}

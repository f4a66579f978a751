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
      ...{ name: 'Acme', status: 'new', deleted_at: expect.any(String) },
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
      expect(scan).toMatchObject({ scan_result: 'complete', distinct: 2, warnings: [] })
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
        position === null ? { records: ALL, next: '0' } : { records: [{ id: 'a', deleted: true }] },
    )
    expect(await listing.sync()).toMatchObject({ outcome: 'ok', leads: { inserted: 3, deleted: 1 } })
    expect(await findViolations(listing.store.db, listing.clock.now.toISOString(), 'all')).toEqual([])
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
    ...{ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'k3y', maxWaitMs: 1000, log: SILENT, profile },
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

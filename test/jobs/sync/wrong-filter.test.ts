// @both-stores
import { describe, expect, it } from 'vitest'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { type Answer, type Listing, MAPPING, openListing, SINCE } from '../../support/source/listing.ts'
import { openSyncing } from '../../support/syncing.ts'
import { startUpstream, status } from '../../support/upstream.ts'

const HOUR_MS = 3_600_000
const NEWEST = '2026-11-21T03:00:00.000Z'
const lead = (id: string, updated: string, status = 'new') => ({ id, status, updated })
const ALL = [lead('a', '2026-11-20T00:00:00.000Z'), lead('b', NEWEST)]

/** An upstream that reads the time of the filter in a zone some hours from UTC. */
function upstream(all: readonly { updated: string }[], hoursLate = 0): Answer {
  return (_, __, { updatedSince }) => {
    if (updatedSince === undefined) return { records: all }
    const from = new Date(Date.parse(updatedSince) + hoursLate * HOUR_MS).toISOString()
    return { records: all.filter(({ updated }) => updated >= from) }
  }
}

/** Opens a copy of `ALL`, and then syncs the changes that the upstream gives. */
async function syncChanges(answer: Answer): Promise<Listing> {
  const listing = await openListing(SINCE, upstream(ALL))
  await listing.sync()
  listing.answer = answer
  listing.asked.length = 0
  return listing
}

const options = { full: false, overlapMs: 10 * 60_000 }

describe('a list of changes', () => {
  it('without the newest known change is checked by the whole list, and a warning names the filter', async () => {
    const changed = lead('a', '2026-11-21T05:30:00.000Z', 'won')
    await using listing = await syncChanges(upstream([changed, lead('b', NEWEST)], 8))
    const { scan, leads } = await listing.sync(options)
    expect(scan).toMatchObject({ mode: 'full', result: 'complete' })
    expect(scan?.warnings).toEqual([expect.stringMatching(/^filters\.updated_since leaves out.* lead b /)])
    expect(leads.updated).toBe(1)
  })

  it.each<readonly [string, Answer]>([
    ['was deleted', upstream(ALL.slice(0, 1))],
    ['changed in the meantime', upstream([...ALL.slice(0, 1), lead('b', '2026-11-21T05:50:00.000Z')], -0.1)],
  ])('is no proof against the filter if the newest known lead %s', async (_, answer) => {
    await using listing = await syncChanges(answer)
    expect((await listing.sync(options)).scan?.warnings).toEqual([])
  })

  it('leads to one whole list for a deleted lead, and not to one each time', async () => {
    await using listing = await syncChanges(upstream(ALL.slice(0, 1)))
    const modes = []
    for (let time = 0; time < 3; time++) modes.push((await listing.sync(options)).scan?.mode)
    expect(modes).toEqual(['full', 'incremental', 'incremental'])
  })

  it('with the newest known change is believed', async () => {
    await using listing = await syncChanges(upstream(ALL))
    expect((await listing.sync(options)).scan).toMatchObject({ mode: 'incremental', warnings: [] })
    expect(listing.asked).toHaveLength(1)
  })

  it('may be without what only an event has told of', async () => {
    await using listing = await syncChanges(() => ({ records: [] }))
    await listing.store.db.updateTable('lead').set({ run_id: 'event:20261121T050000Z' }).execute()
    expect((await listing.sync(options)).scan).toMatchObject({ mode: 'incremental', warnings: [] })
  })
})

it('a list with leads that have no update time is read in full each time, and a warning says why', async () => {
  const undated = { id: 'c', status: 'new', updated: null }
  await using listing = await openListing(SINCE, () => ({ records: [...ALL, undated] }))
  expect((await listing.sync()).scan?.warnings).toEqual([
    expect.stringMatching(/^leads without an update time: 1; filters\.updated_since may leave/),
  ])
  listing.answer = upstream([...ALL, { ...undated, updated: '' }, { ...undated, id: 'd', updated: '' }])
  expect(await listing.sync(options)).toMatchObject({ scan: { mode: 'full' }, leads: { inserted: 1 } })
  listing.answer = upstream(ALL)
  // Two whole lists delete the undated leads, and a third one finds that none is left.
  for (let time = 0; time < 3; time++) await listing.sync(options)
  expect((await listing.sync(options)).scan?.mode).toBe('incremental')
})

it.each([
  [304, true, 'an empty page'],
  [204, true, 'an empty page'],
  [204, false, 'an empty page'],
  [304, false, 'no answer'],
] as const)(
  'the status %d without a body, to a list of changes: %s, is %s',
  async (code, isOfChanges, meaning) => {
    await using upstream = await startUpstream(0)
    const paging = { kind: 'page', param: 'page' }
    const filters = { updated_since: { param: 'If-Modified-Since', in: 'header' } }
    const profile = parseProfile({ name: 'test', paging, filters, mapping: MAPPING }, 'test')
    await using syncing = await openSyncing(upstream.url, 'k3y', { source: { profile } })
    upstream.faults.push(status(code))
    const list = syncing.source.listLeads(isOfChanges ? { updatedSince: NEWEST } : {}, null, 10)
    if (meaning === 'no answer') await expect(list).rejects.toMatchObject({ code: 'api_unexpected' })
    else expect(await list).toMatchObject({ records: [], next: null })
  },
)

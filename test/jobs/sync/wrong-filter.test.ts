// @both-stores
import { expect, it } from 'vitest'
import { parseProfile } from '../../../src/upstream/profile/profile.ts'
import { type Answer, MAPPING, openListing, SINCE } from '../../support/source/listing.ts'
import { type Story, tellSyncs } from '../../support/source/sync-stories.ts'
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

const changes = (answer: Answer, times = 1) => ({ full: false, overlapMs: 10 * 60_000, answer, times })
const CHANGED = [lead('a', '2026-11-21T05:30:00.000Z', 'won'), lead('b', NEWEST)]
const CHANGED_MEANWHILE = [...ALL.slice(0, 1), lead('b', '2026-11-21T05:50:00.000Z')]
const UNDATED = { id: 'c', status: 'new', updated: '' }

const STORIES: readonly Story[] = [
  ['changes without the newest known one', SINCE, upstream(ALL), changes(upstream(CHANGED, 8))],
  ['changes with the newest known one', SINCE, upstream(ALL), changes(upstream(ALL))],
  ['the newest known one changed', SINCE, upstream(ALL), changes(upstream(CHANGED_MEANWHILE, -0.1))],
  ['the newest known one was deleted', SINCE, upstream(ALL), changes(upstream(ALL.slice(0, 1)), 3)],
  [
    'leads without an update time, until two whole lists delete them and a third one finds none',
    SINCE,
    () => ({ records: [...ALL, { ...UNDATED, updated: null }] }),
    changes(upstream([...ALL, UNDATED, { ...UNDATED, id: 'd' }])),
    changes(upstream(ALL), 4),
  ],
]

it('what each sync finds in a list of changes that may lack some, and what it leaves', async () => {
  await expect(await tellSyncs(STORIES)).toMatchFileSnapshot('golden/wrong-filter.txt')
})

it('a list of changes may be without what only an event has told of', async () => {
  await using listing = await openListing(SINCE, upstream(ALL))
  await listing.sync()
  await listing.store.db.updateTable('lead').set({ run_id: 'event:20261121T050000Z' }).execute()
  listing.answer = () => ({ records: [] })
  const { scan } = await listing.sync({ full: false })
  expect(scan).toMatchObject({ mode: 'incremental', warnings: [] })
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

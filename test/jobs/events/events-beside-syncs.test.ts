// @both-stores
/** Events that come while a sync reads the list of leads. Neither may undo the work of the other. */
import { expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import {
  eventOf,
  type Following,
  follow,
  heldBack,
  openCopy,
  openFollowing,
  outcomeOf,
} from '../../support/source/following.ts'
import { startUpstream, status, type Upstream } from '../../support/upstream.ts'

const LATER = '2026-11-21T05:59:00.000Z'
const FULL = { full: true, parts: ['leads'], pageSize: 100 } as const
const { updated_at, ...untimed } = REFERENCE_PROFILE.mapping.lead
const WITHOUT_TIMES = {
  ...REFERENCE_PROFILE,
  filters: {},
  mapping: { ...REFERENCE_PROFILE.mapping, lead: untimed },
}

/** Holds the answer to the next request. Its leads are as of the request. */
function holdList(upstream: Upstream) {
  const hold = heldBack(() => {
    const data = [...upstream.leads.values()]
    return JSON.stringify({ data, page: { next_cursor: null, has_more: false, total: data.length } })
  })
  upstream.faults.push(hold.fault)
  return hold
}

/** Runs the work that the daemon does at the end of a sync. */
async function ended(copy: Following, syncing: ReturnType<Following['sync']>) {
  const result = await syncing
  copy.worker.wake()
  await copy.worker.idle()
  expect(await findViolations(copy.store.db, copy.clock.now.toISOString(), 'all')).toEqual([])
  return result
}

async function statusesOf(store: Store, id: string): Promise<string[]> {
  const versions = store.db.selectFrom('lead_version').where('lead_id', '=', id).orderBy('valid_from')
  return (await versions.select('status').execute()).map(({ status }) => status)
}

it.each([
  ['brings its lead', 'with its times', REFERENCE_PROFILE, false],
  ['brings its lead', 'without times', WITHOUT_TIMES, false],
  ['has its lead deleted', 'with its times', REFERENCE_PROFILE, true],
])('an event that comes while the list is read waits, and then %s %s', async (_, __, profile, isDeletion) => {
  const { upstream, copy, ids } = await openCopy(12, { source: { profile } })
  const [id = ''] = ids
  const hold = holdList(upstream)
  const syncing = copy.sync(FULL)
  await hold.isAsked
  if (isDeletion) upstream.leads.delete(id)
  else upstream.put(0, { status: 'won', updated_at: LATER })
  const event = eventOf(id, { isDeletion })
  await follow(copy, event)
  expect(await outcomeOf(copy.store.db, event.id)).toBeNull()
  hold.letGo()
  await ended(copy, syncing)
  expect(await outcomeOf(copy.store.db, event.id)).toBe(isDeletion ? 'deleted' : 'updated')
  if (!isDeletion) expect((await statusesOf(copy.store, id)).at(-1)).toBe('won')
})

it('an event between two runs of a scan is followed at once, and the scan that goes on does not undo it', async () => {
  const { upstream, copy, ids } = await openCopy()
  const [id = '', other = ''] = ids
  const fails = status(404)
  upstream.faults.push(() => undefined, fails, fails, fails, fails)
  expect(await copy.sync({ ...FULL, pageSize: 5 })).toMatchObject({ outcome: 'partial' })
  upstream.faults.length = 0
  expect(await copy.store.db.selectFrom('sync_scan').select('pages').execute()).toEqual([{ pages: 1 }])

  upstream.put(0, { status: 'won', updated_at: LATER })
  upstream.leads.delete(other)
  // It lies before the place at which the scan goes on.
  const brought = upstream.put(12, { updated_at: '2025-12-31T00:00:00.000Z' })
  const events = [eventOf(id), eventOf(other, { isDeletion: true }), eventOf(brought.id)]
  await follow(copy, ...events)
  const outcomes = await Promise.all(events.map((each) => outcomeOf(copy.store.db, each.id)))
  expect(outcomes).toEqual(['updated', 'deleted', 'inserted'])

  expect((await ended(copy, copy.sync({ ...FULL, pageSize: 5 }))).scan).toMatchObject({
    result: 'complete',
  })
  expect((await statusesOf(copy.store, id)).at(-1)).toBe('won')
  expect(await copy.store.db.selectFrom('missing_lead').selectAll().execute()).toEqual([])
})

it('an event and the list in whole seconds do not contradict each other', async () => {
  const { upstream, copy, ids } = await openCopy()
  const [id = ''] = ids
  const sync = async () => ended(copy, copy.sync(FULL))
  upstream.put(0, { status: 'won', updated_at: '2026-11-21T06:05:00.123Z' })
  await follow(copy, eventOf(id))
  upstream.put(0, { status: 'won', updated_at: '2026-11-21T06:05:00Z' })
  expect(await sync()).toMatchObject({ outcome: 'ok_no_change', scan: { warnings: [] } })
  // A change in the same second, which the list alone tells of.
  upstream.put(0, { status: 'lost', updated_at: '2026-11-21T06:05:00Z' })
  expect(await sync()).toMatchObject({ leads: { updated: 1 }, scan: { warnings: [] } })
  expect((await statusesOf(copy.store, id)).slice(-2)).toEqual(['won', 'lost'])
  expect(await sync()).toMatchObject({ outcome: 'ok_no_change' })
})

it('events wait for the first load of all leads; what came before it is then read, and what came during it is followed', async () => {
  await using upstream = await startUpstream(30)
  await using copy = await openFollowing(upstream.url)
  const [first = '', second = '', third = ''] = upstream.leads.keys()
  const before = eventOf(third)
  await follow(copy, before)
  expect(upstream.requests).toEqual([])
  copy.clock.now = new Date('2026-11-21T06:10:00Z')
  const hold = holdList(upstream)
  const syncing = copy.sync(FULL)
  await hold.isAsked
  upstream.put(0, { status: 'won', updated_at: LATER })
  const during = [eventOf(first), eventOf(second)]
  await follow(copy, ...during)
  expect(upstream.requests).toHaveLength(1)
  hold.letGo()
  await ended(copy, syncing)
  const outcomes = await Promise.all([before, ...during].map(({ id }) => outcomeOf(copy.store.db, id)))
  expect(outcomes).toEqual(['read', 'updated', 'unchanged'])
  expect((await statusesOf(copy.store, first)).at(-1)).toBe('won')
})

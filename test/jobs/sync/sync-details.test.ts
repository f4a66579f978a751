import { describe, expect, it } from 'vitest'
import type { WireLead } from '../../../src/contract/lead.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { folderWith } from '../../support/folder.ts'
import { startService } from '../../support/service.ts'
import { openSyncing, openWorld, type Syncing } from '../../support/syncing.ts'
import { startUpstream, status, type Upstream } from '../../support/upstream.ts'

const ALL = { perRun: 1000, concurrency: 4 }
/** One request after the other, so that their order is certain. */
const IN_ORDER = { ...ALL, concurrency: 1 }
const PARTS = ['leads', 'details'] as const
const MINUTE_MS = 60_000

function detailsOf(syncing: Syncing) {
  return syncing.store.db.selectFrom('lead_detail').selectAll().orderBy('lead_id').execute()
}

function activityOf(syncing: Syncing) {
  return syncing.store.db.selectFrom('activity').selectAll().orderBy('lead_id').orderBy('at').execute()
}

/** Returns the ids of the leads that were requested singly, in order. */
function askedOf(upstream: Upstream): string[] {
  return upstream.requests.flatMap(({ path }) => /\/leads\/(\w+)$/.exec(path)?.[1] ?? [])
}

function isOpen({ status }: WireLead): boolean {
  return !['won', 'lost', 'disqualified'].includes(status)
}

function newestFirst(leads: readonly WireLead[]): WireLead[] {
  return leads.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
}

function bestFirst(upstream: Upstream): WireLead[] {
  return [...upstream.leads.values()].sort((a, b) => (b.score ?? -1) - (a.score ?? -1))
}

function pass(syncing: Syncing, minutes: number): void {
  syncing.clock.now = new Date(syncing.clock.now.getTime() + minutes * MINUTE_MS)
}

describe('the details of leads', () => {
  it('are read from the reference service: enrichment, its extracted columns, and activity', async () => {
    await using service = await startService(folderWith(), new Date('2026-11-21T06:00:00Z'), 2)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    await using syncing = await openSyncing(service.url, key)
    const result = await syncing.sync({ pageSize: 500, details: ALL })
    expect(result).toMatchObject({ outcome: 'ok', complete: true })
    expect(result.details).toEqual({ read: result.leads.seen, notFound: 0, failed: 0 })

    const activity = await activityOf(syncing)
    const details = (await detailsOf(syncing)).map(({ raw, run_id, ...row }) => ({
      ...row,
      activity: activity
        .filter((entry) => entry.lead_id === row.lead_id)
        .map(({ run_id, ...entry }) => entry),
    }))
    const some = details.filter((_, index) => index % 20 === 0)
    await expect(`${JSON.stringify(some, null, 2)}\n`).toMatchFileSnapshot('golden/details.json')

    const again = await syncing.sync({ pageSize: 500, details: ALL })
    expect(again).toMatchObject({ outcome: 'ok_no_change', details: { read: 0, notFound: 0, failed: 0 } })
  })

  it('are read of open leads first, then of closed ones, the newest of each first, as many as a run may ask for, and of no deleted ones', async () => {
    const { upstream, syncing } = await openWorld(20)
    const details = { ...IN_ORDER, perRun: 8 }
    const read: number[] = []
    for (let run = 0; run < 4; run++) read.push((await syncing.sync({ parts: PARTS, details })).details.read)
    expect(read).toEqual([8, 8, 4, 0])
    const leads = [...upstream.leads.values()]
    const wanted = [
      ...newestFirst(leads.filter(isOpen)),
      ...newestFirst(leads.filter((lead) => !isOpen(lead))),
    ]
    expect(leads.filter(isOpen).length).toBeGreaterThan(3)
    expect(askedOf(upstream)).toEqual(wanted.map(({ id }) => id))
    await syncing.store.db.deleteFrom('detail_request').execute()
    await syncing.store.db.updateTable('lead').set({ deleted_at: '2026-11-21T06:00:00.000Z' }).execute()
    expect((await syncing.sync({ parts: ['details'], details })).details.read).toBe(0)
  })

  it('are read again of the leads that changed, and of no others', async () => {
    const { upstream, syncing } = await openWorld(35)
    await syncing.sync({ parts: PARTS, details: ALL })
    const { id } = upstream.put(3, { status: 'won', updated_at: '2026-11-20T10:00:00.000Z' })
    const funding = { total_usd: 'about 5 M' }
    upstream.details.set(id, { enrichment: { funding, hiring: { is_hiring: true, open_roles: 4 } } })
    upstream.requests.length = 0
    await syncing.sync({ parts: PARTS, details: ALL })
    expect(askedOf(upstream)).toEqual([id])
    const row = (await detailsOf(syncing)).find((detail) => detail.lead_id === id)
    expect(row).toMatchObject({ open_roles: 4, is_hiring: 1, funding_total_usd: null })
    expect(row).toMatchObject({ lead_updated_at: '2026-11-20T10:00:00.000Z' })
  })

  it('are read again where the content changed and its time did not', async () => {
    const { upstream, syncing } = await openWorld(5)
    await syncing.sync({ parts: PARTS, details: ALL })
    const { id } = upstream.put(3, { tags: ['other'] })
    upstream.requests.length = 0
    await syncing.sync({ parts: PARTS, details: ALL, full: true })
    expect(askedOf(upstream)).toEqual([id])
  })

  it('say of which state of the lead they are, and leave the lead itself to the list', async () => {
    const { upstream, syncing } = await openWorld(1)
    const [lead] = upstream.leads.values()
    upstream.details.set(lead?.id ?? '', { status: 'won', updated_at: '2026-11-20T10:00:00.000Z' })
    await syncing.sync({ parts: PARTS, details: ALL })
    expect((await detailsOf(syncing))[0]?.lead_updated_at).toBe('2026-11-20T10:00:00.000Z')
    expect(await syncing.store.db.selectFrom('lead').select(['status', 'updated_at']).execute()).toEqual([
      { status: lead?.status, updated_at: lead?.updated_at },
    ])
  })
})

it('with another profile details are read anew', async () => {
  await using upstream = await startUpstream(5)
  for (const id of upstream.leads.keys()) upstream.details.set(id, { facts: { open_roles: 3 } })
  await using syncing = await openSyncing(upstream.url)
  await syncing.sync({ parts: PARTS, details: ALL })
  const mapping = { ...REFERENCE_PROFILE.mapping, enrichment: ['facts'] }
  await using remapped = await openSyncing(upstream.url, 'test-key', {
    folder: syncing.folder,
    source: { profile: { ...REFERENCE_PROFILE, mapping } },
  })
  expect((await remapped.sync({ parts: PARTS, details: ALL })).details.read).toBe(5)
  expect((await detailsOf(remapped)).map((row) => row.enrichment)).toEqual(Array(5).fill('{"open_roles":3}'))
  expect((await remapped.sync({ parts: PARTS, details: ALL })).details.read).toBe(0)
})

describe('an activity history', () => {
  const entry = { type: 'note', at: '2026-11-01T08:00:00.000Z', agent_id: 'a1', summary: 'called' }

  async function syncOne(upstream: Upstream, syncing: Syncing, activity: readonly unknown[]) {
    const { id } = upstream.put(0, { updated_at: syncing.clock.now.toISOString() })
    upstream.details.set(id, { activity })
    pass(syncing, 15)
    return syncing.sync({ parts: PARTS, details: ALL })
  }

  it('keeps what the upstream drops, takes what is new, and has each entry once', async () => {
    const { upstream, syncing } = await openWorld(1)
    await syncOne(upstream, syncing, [
      { ...entry, id: '1' },
      { ...entry, id: '2' },
      { ...entry, id: '2' },
    ])
    await syncOne(upstream, syncing, [
      { ...entry, id: '2', summary: 'called twice' },
      { ...entry, id: '3' },
    ])
    expect((await activityOf(syncing)).map((row) => [row.id, row.summary])).toEqual([
      ['1', 'called'],
      ['2', 'called twice'],
      ['3', 'called'],
    ])
  })

  it('has each entry once also where the upstream numbers none', async () => {
    const { upstream, syncing } = await openWorld(1)
    await syncOne(upstream, syncing, [entry, { ...entry, summary: 'wrote' }])
    await syncOne(upstream, syncing, [{ ...entry, summary: 'wrote' }, entry, { ...entry, summary: 'met' }])
    expect((await activityOf(syncing)).map((row) => row.summary).sort()).toEqual(['called', 'met', 'wrote'])
  })

  it('has an entry that cannot be read held, told, and forgotten once it can be', async () => {
    const { upstream, syncing } = await openWorld(1)
    const held = () => syncing.store.db.selectFrom('quarantined_record').selectAll().execute()
    const bad = [{ ...entry, id: '2', at: 'yesterday' }, null]
    const result = await syncOne(upstream, syncing, [{ ...entry, id: '1' }, ...bad])
    expect(result).toMatchObject({ outcome: 'partial', details: { read: 1, notFound: 0, failed: 0 } })
    expect(result.problems.map(({ part, message }) => [part, message])).toEqual([
      ['details', '2 entries of activity could not be read'],
    ])
    expect((await activityOf(syncing)).map((row) => row.id)).toEqual(['1'])
    const first = await held()
    const reasons = ['at: "yesterday" is not an instant', 'at: nothing there']
    expect(first.map((row) => row.reason).sort()).toEqual(reasons)
    expect(first.every((row) => row.resource === 'activity' && row.record_id !== null)).toBe(true)
    await syncOne(upstream, syncing, [{ ...entry, id: '1' }, ...bad])
    expect((await held()).map((row) => row.first_seen_at)).toEqual(first.map((row) => row.first_seen_at))
    const good = ['1', '2'].map((id) => ({ ...entry, id }))
    expect((await syncOne(upstream, syncing, good)).outcome).toBe('ok')
    expect(await held()).toEqual([])
  })
})

describe('details that cannot be read', () => {
  it('keep no others from being read, nor the run from being whole, and are tried again after ten minutes', async () => {
    const { upstream, syncing } = await openWorld(20)
    const [one, other] = bestFirst(upstream)
    for (const lead of [one, other]) upstream.detailFaults.set(lead?.id ?? '', status(500))
    const result = await syncing.sync({ parts: PARTS, details: ALL })
    expect(result).toMatchObject({ outcome: 'ok', complete: true, problems: [] })
    expect(result.details).toEqual({ read: 18, notFound: 0, failed: 2 })

    pass(syncing, 9)
    expect((await syncing.sync({ parts: ['details'], details: ALL })).details.failed).toBe(0)
    upstream.detailFaults.clear()
    pass(syncing, 1)
    expect((await syncing.sync({ parts: ['details'], details: ALL })).details.read).toBe(2)
    expect(await detailsOf(syncing)).toHaveLength(20)
  })

  it('are tried again after a week at the latest, however often they could not be read', async () => {
    const { upstream, syncing } = await openWorld(1)
    const [id = ''] = upstream.leads.keys()
    upstream.detailFaults.set(id, status(404))
    const minutes: number[] = []
    for (let round = 0; round < 8; round++) {
      await syncing.sync({ parts: PARTS, details: ALL })
      const row = await syncing.store.db.selectFrom('detail_request').selectAll().executeTakeFirstOrThrow()
      minutes.push((Date.parse(row.due_at ?? '') - syncing.clock.now.getTime()) / MINUTE_MS)
      syncing.clock.now = new Date(row.due_at ?? '')
    }
    expect(minutes).toEqual([10, 40, 160, 640, 2560, 10_080, 10_080, 10_080])
  })

  it('are tried again at once when the lead changes', async () => {
    const { upstream, syncing } = await openWorld(3)
    const { id } = upstream.put(1)
    upstream.detailFaults.set(id, status(500))
    await syncing.sync({ parts: PARTS, details: ALL })
    upstream.detailFaults.clear()
    upstream.put(1, { updated_at: '2026-11-20T10:00:00.000Z' })
    expect((await syncing.sync({ parts: PARTS, details: ALL })).details.read).toBe(1)
  })

  it('since the lead is gone meanwhile are no problem', async () => {
    const { upstream, syncing } = await openWorld(5)
    await syncing.sync({ parts: ['leads'] })
    const [id] = upstream.leads.keys()
    upstream.leads.delete(id ?? '')
    const result = await syncing.sync({ parts: ['details'], details: ALL })
    expect(result).toMatchObject({ outcome: 'ok', complete: true, problems: [] })
    expect(result.details).toEqual({ read: 4, notFound: 1, failed: 0 })
    const queue = await syncing.store.db.selectFrom('detail_request').selectAll().execute()
    expect(queue.filter((row) => row.due_at !== null)).toMatchObject([
      { failures: 1, last_error: expect.stringContaining('404') },
    ])
  })

  it('of another lead than the one asked for are not taken for its own', async () => {
    const { upstream, syncing } = await openWorld(3)
    const [id, other] = upstream.leads.keys()
    upstream.details.set(id ?? '', { id: other })
    expect((await syncing.sync({ parts: PARTS, details: ALL })).details).toEqual({
      read: 2,
      notFound: 1,
      failed: 0,
    })
    expect((await detailsOf(syncing)).map((row) => row.lead_id)).not.toContain(id)
  })

  it('of many leads in a row are the fault of the upstream: the run goes no further and says so', async () => {
    const { upstream, syncing } = await openWorld(35)
    for (const id of upstream.leads.keys()) upstream.detailFaults.set(id, status(404))
    const result = await syncing.sync({ parts: PARTS, details: IN_ORDER })
    expect(result).toMatchObject({ outcome: 'partial', complete: false, details: { read: 0, notFound: 10 } })
    expect(result.leads.inserted).toBe(35)
    expect(result.problems).toMatchObject([{ part: 'details', code: 'api_not_found' }])
    expect(result.problems[0]?.message).toMatch(/^none of 10 leads in a row could be read, the last: .* 404/)
    expect(askedOf(upstream)).toHaveLength(10)
  })

  it('for the key is refused end the run at once', async () => {
    const { upstream, syncing } = await openWorld(35)
    await syncing.sync({ parts: ['leads'] })
    for (const id of upstream.leads.keys()) upstream.detailFaults.set(id, status(403))
    const result = await syncing.sync({ parts: ['details'], details: IN_ORDER })
    expect(result.problems).toMatchObject([{ part: 'details', code: 'api_forbidden' }])
    expect(askedOf(upstream)).toHaveLength(1)
    expect(await syncing.store.db.selectFrom('detail_request').selectAll().execute()).toEqual([])
  })
})

describe('a run that ends among the details', () => {
  it('waits as the upstream asks, goes on where it was, and asks for none twice', async () => {
    const { upstream, syncing } = await openWorld(20)
    await syncing.sync({ parts: ['leads'] })
    upstream.requests.length = 0
    upstream.faults.push(
      ...Array.from({ length: 7 }, () => () => false),
      status(429, { 'retry-after': '3600' }),
    )
    const put = await syncing.sync({ parts: ['details'], details: IN_ORDER })
    expect(put).toMatchObject({ outcome: 'deferred', details: { read: 7 } })
    expect(put.notBefore).toBe('2026-11-21T07:00:00.000Z')

    pass(syncing, 59)
    expect((await syncing.sync({ parts: ['details'], details: IN_ORDER })).requests).toBe(0)
    pass(syncing, 2)
    expect((await syncing.sync({ parts: ['details'], details: IN_ORDER })).details.read).toBe(13)
    const asked = askedOf(upstream)
    expect(asked).toHaveLength(21)
    expect(new Set(asked).size).toBe(20)
  })

  it.each([
    [
      'was stopped says so',
      new Error('stop'),
      { outcome: 'partial', problems: [{ code: 'run_interrupted' }] },
    ],
    [
      'used up its time is whole',
      new DOMException('late', 'TimeoutError'),
      { outcome: 'ok', complete: true, problems: [] },
    ],
  ])('since it %s, and has kept each answer that it got', async (_, reason, expected) => {
    const { syncing } = await openWorld(20)
    const stop = new AbortController()
    const onProgress = ({ part, done }: { part: string; done: number }): void => {
      if (part === 'details' && done === 6) stop.abort(reason)
    }
    const options = { parts: PARTS, details: ALL }
    const result = await syncing.sync({ ...options, signal: stop.signal, onProgress })
    expect(result).toMatchObject({ ...expected, details: { notFound: 0, failed: 0 } })
    expect(result.details.read).toBe((await detailsOf(syncing)).length)
    expect((await syncing.sync(options)).details.read).toBe(20 - result.details.read)
  })
})

// @both-stores
import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import type { UpstreamEvent } from '../../../src/domain/model.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { saveAddress } from '../../../src/store/sync/watermark.ts'
import { REFERENCE_PROFILE } from '../../../src/upstream/profile/reference-profile.ts'
import { folderWith } from '../../support/folder.ts'
import { startService } from '../../support/service.ts'
import {
  eventOf,
  type Following,
  follow,
  heldBack,
  openCopy,
  openFollowing,
  outcomeOf,
} from '../../support/source/following.ts'
import { body, status } from '../../support/upstream.ts'

const LATER = '2026-11-21T05:59:00.000Z'
async function statusOf(store: Store, id: string): Promise<string | undefined> {
  const row = await store.db.selectFrom('lead').where('id', '=', id).select('status').executeTakeFirst()
  return row?.status
}

async function queued(store: Store): Promise<string[]> {
  return (await store.db.selectFrom('event_queue').select('resource_id').execute()).map(
    (row) => row.resource_id,
  )
}

function outcomesOf({ store }: Following, events: readonly UpstreamEvent[]) {
  return Promise.all(events.map(({ id }) => outcomeOf(store.db, id)))
}

const MINUTE_MS = 60_000
function pass(copy: Following, minutes: number): void {
  copy.clock.now = new Date(copy.clock.now.getTime() + minutes * MINUTE_MS)
}

/** Moves the clock, and has the worker do what is due then. */
async function wakeAfter(copy: Following, minutes: number): Promise<void> {
  pass(copy, minutes)
  copy.worker.wake()
  await copy.worker.idle()
}

describe('an event', () => {
  it('waits while the settings name another source than that of the copy', async () => {
    const { upstream, copy, ids } = await openCopy()
    const [id = ''] = ids
    await copy.store.write((trx) => saveAddress(trx, 'crm.example.com/leads'))
    await follow(copy, eventOf(id))
    expect(await queued(copy.store)).toEqual([id])
    expect(upstream.requests).toEqual([])
  })

  it('brings its lead into the copy at once, with its details, by one request', async () => {
    const { upstream, copy } = await openCopy()
    const lead = upstream.put(3, { status: 'won', updated_at: LATER })
    upstream.details.set(lead.id, { enrichment: { employees: 12 } })
    const events = [eventOf(lead.id), eventOf(lead.id), eventOf(lead.id)]
    await follow(copy, ...events)
    expect(await statusOf(copy.store, lead.id)).toBe('won')
    expect(upstream.requests.map(({ path }) => path)).toEqual([`/api/v1/leads/${lead.id}`])
    expect(await outcomeOf(copy.store.db, events[2]?.id ?? '')).toBe('updated')
    const detail = await copy.store.db.selectFrom('lead_detail').select(['lead_id', 'enrichment']).execute()
    expect(detail).toEqual([{ lead_id: lead.id, enrichment: '{"employees":12}' }])
  })

  it('leaves a record that the next scan knows by its bytes, so that nothing counts as changed or is read again', async () => {
    const { upstream, copy } = await openCopy()
    const changed = upstream.put(3, { status: 'won', updated_at: LATER })
    const fresh = upstream.put(77, { updated_at: LATER })
    await follow(copy, eventOf(changed.id), eventOf(fresh.id))
    const read = () =>
      sql`SELECT lead.*, raw, fingerprint FROM lead JOIN lead_raw ON lead_raw.lead_no = no
        JOIN lead_fingerprint USING (lead_no)`.execute(copy.store.db)
    const before = await read()
    const { leads } = await copy.sync({ full: true, parts: ['leads'], pageSize: 100 })
    expect(leads).toMatchObject({ seen: 13, inserted: 0, updated: 0, unchanged: 13 })
    expect((await read()).rows).toEqual(before.rows)
  })

  it.each([404, 410])(
    'that calls its lead gone removes it where the upstream answers %d, and only then',
    async (code) => {
      const { upstream, copy, ids } = await openCopy()
      const [gone = '', there = '', missing = ''] = ids
      for (const id of [gone, missing]) upstream.detailFaults.set(id, status(code))
      const events = [gone, there, missing].map((id) => eventOf(id, { isDeletion: id !== missing }))
      await follow(copy, ...events)
      expect(await outcomesOf(copy, events)).toEqual(['deleted', 'unchanged', 'not_found'])
      const deleted = copy.store.db.selectFrom('lead').where('deleted_at', 'is not', null)
      expect(await deleted.selectAll().execute()).toMatchObject([
        { id: gone, deleted_at: '2026-11-21T06:10:00.000Z', run_id: 'event:20261121T061000Z' },
      ])
      expect(await findViolations(copy.store.db, '2026-11-21T06:10:00.000Z', 'all')).toEqual([])
    },
  )

  it('that comes while its lead is being read has it read again', async () => {
    const { upstream, copy, ids } = await openCopy()
    const [id = ''] = ids
    const hold = heldBack(() => JSON.stringify(upstream.leads.get(id)))
    upstream.detailFaults.set(id, hold.fault)
    upstream.put(0, { status: 'won', updated_at: '2026-11-21T05:58:00.000Z' })
    await copy.intake.take([eventOf(id)])
    await hold.isAsked
    upstream.detailFaults.delete(id)
    upstream.put(0, { status: 'lost', updated_at: LATER })
    await copy.intake.take([eventOf(id)])
    hold.letGo()
    await copy.worker.idle()
    expect(await statusOf(copy.store, id)).toBe('lost')
    expect(await queued(copy.store)).toEqual([])
  })

  it('waits for no slow lead, and is there again after a stop', async () => {
    const { upstream, copy, ids } = await openCopy()
    const [slow = '', quick = ''] = ids
    const hold = heldBack(() => '[1]')
    upstream.detailFaults.set(slow, hold.fault)
    await copy.intake.take([eventOf(slow)])
    await hold.isAsked
    const event = eventOf(quick)
    await copy.intake.take([event])
    await vi.waitFor(async () => expect(await outcomeOf(copy.store.db, event.id)).toBe('unchanged'))
    expect(copy.worker.isBusy()).toBe(true)
    await copy.stop()
    hold.letGo()
    expect(await queued(copy.store)).toEqual([slow])
  })

  it('that fails puts off its own lead alone, longer and longer, until it is left to the next sync', async () => {
    const { upstream, copy, ids } = await openCopy()
    const [broken = '', sound = ''] = ids
    upstream.detailFaults.set(broken, body('[1]'))
    const events = [eventOf(broken), eventOf(sound)]
    await follow(copy, ...events)
    expect(await outcomesOf(copy, events)).toEqual([null, 'unchanged'])
    let asked = 1
    for (const minutes of [1, 5, 30, 120, 360, 720]) {
      await wakeAfter(copy, minutes - 0.5)
      expect(upstream.requests.filter(({ path }) => path.includes(broken))).toHaveLength(asked)
      await wakeAfter(copy, 0.5)
      expect(upstream.requests.filter(({ path }) => path.includes(broken))).toHaveLength(++asked)
    }
    expect(await outcomeOf(copy.store.db, events[0]?.id ?? '')).toBe('failed')
    expect(await queued(copy.store)).toEqual([])
  })

  it('that a mistake of the program keeps from being followed keeps back no other', async () => {
    const { copy, ids } = await openCopy(12, { concurrency: 1 })
    vi.spyOn(copy.source, 'fetchSingleLead').mockRejectedValueOnce(new TypeError('a mistake'))
    const events = ids.slice(0, 2).map((id) => eventOf(id))
    await follow(copy, ...events)
    // Events of one batch come in the order of their leads.
    expect((await outcomesOf(copy, events)).toSorted()).toEqual([null, 'unchanged'])
  })

  it('waits with all others where the key is refused, or the upstream wants to be left alone', async () => {
    const { upstream, copy, ids } = await openCopy(12, { concurrency: 1 })
    upstream.faults.push(status(401))
    await follow(copy, ...ids.map((id) => eventOf(id)))
    expect(upstream.requests).toHaveLength(1)
    pass(copy, 1)
    upstream.faults.push(status(503, { 'retry-after': '7200' }))
    copy.worker.wake()
    await copy.worker.idle()
    expect(upstream.requests).toHaveLength(2)
    pass(copy, 60)
    await follow(copy, eventOf(ids[0] ?? ''))
    expect(upstream.requests).toHaveLength(2)
    await wakeAfter(copy, 61)
    expect(upstream.requests).toHaveLength(14)
    expect(await queued(copy.store)).toEqual([])
  })

  it('is finished by a complete sync that began after it came', async () => {
    const { upstream, copy, ids } = await openCopy()
    for (const id of ids) upstream.detailFaults.set(id, status(403))
    const events = ids.slice(0, 2).map((id, index) => eventOf(id, { isDeletion: index === 1 }))
    await follow(copy, ...events)
    pass(copy, 0.1)
    await copy.sync({ parts: ['leads'] })
    expect(await outcomesOf(copy, events)).toEqual(['read', null])
  })
})

it('very many events are asked for in the rate that is allowed, and a lead once however many of them came meanwhile', async () => {
  const { upstream, copy, ids } = await openCopy(12, { perTenSeconds: 5, concurrency: 1 })
  await copy.intake.take([...ids, ...ids, ...ids].map((id) => eventOf(id)))
  await copy.worker.idle()
  expect(upstream.requests).toHaveLength(5)
  await wakeAfter(copy, 1)
  expect(upstream.requests).toHaveLength(10)
  await wakeAfter(copy, 1)
  expect(await queued(copy.store)).toEqual([])
  expect(upstream.requests).toHaveLength(12)
})

it('events of an upstream that shows no single lead are left to the next sync of changes', async () => {
  const endpoints = { ...REFERENCE_PROFILE.endpoints, lead: 'none' }
  const { upstream, copy } = await openCopy(12, { source: { profile: { ...REFERENCE_PROFILE, endpoints } } })
  const lead = upstream.put(3, { status: 'won', updated_at: LATER })
  await follow(copy, eventOf(lead.id))
  expect(upstream.requests).toEqual([])
  expect(await queued(copy.store)).toEqual([])
  pass(copy, 1)
  await copy.sync({ parts: ['leads'] })
  expect(await statusOf(copy.store, lead.id)).toBe('won')
})

it('an event that comes while the clock is set back is followed as any other', async () => {
  const { upstream, copy, ids } = await openCopy()
  const [id = ''] = ids
  upstream.faults.push(status(401))
  await follow(copy, eventOf(id))
  pass(copy, -5)
  await copy.intake.take([eventOf(id)])
  await wakeAfter(copy, 10)
  const waiting = await copy.store.db.selectFrom('event').where('done_at', 'is', null).select('id').execute()
  expect([waiting, await queued(copy.store)]).toEqual([[], []])
})

it('events about pipelines have their statistics read, those about agents all agents', async () => {
  await using service = await startService(folderWith(), new Date('2026-11-21T06:00:00Z'), 1)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  await using copy = await openFollowing(service.url, { key })
  await copy.sync({ full: true, parts: ['leads'], pageSize: 100 })
  const { id } = await copy.store.db.selectFrom('pipeline').select('id').limit(1).executeTakeFirstOrThrow()
  const events = [
    eventOf(id, { resource: 'pipeline' }),
    eventOf('', { resource: 'agents' }),
    eventOf('nowhere', { resource: 'pipeline' }),
  ]
  await follow(copy, ...events)
  expect(await outcomesOf(copy, events)).toEqual(['read', 'read', 'not_found'])
  const stats = await copy.store.db.selectFrom('pipeline_stat').select('run_id').execute()
  expect(stats).toEqual([{ run_id: expect.stringMatching(/^event:\d{8}T\d{6}Z$/) }])
  const agents = await copy.store.db.selectFrom('agent').select('id').execute()
  expect(agents.length).toBeGreaterThan(2)
})

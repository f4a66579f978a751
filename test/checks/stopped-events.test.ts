// @both-stores
/** The check that events have stopped reports it if syncs find changes without events, and otherwise not. */
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EventSource } from '../../src/checks/check.ts'
import { readFacts } from '../../src/checks/check.ts'
import { findForAlerts } from '../../src/checks/run-checks.ts'
import { EVENT_TYPES } from '../../src/contract/webhook.ts'
import { dropIndexes } from '../../src/store/db/dropped-index.ts'
import type { Store } from '../../src/store/db/store.ts'
import { COUNT_ALL_DAYS } from '../../src/store/leads/lead-day.ts'
import { beginUptime, recordHeartbeat } from '../../src/store/schedule/uptime.ts'
import { HOUR_MS, NOW } from '../service/support/service.ts'
import { event, follow, receive } from '../support/data/events.ts'
import { IN_POSTGRES, openEmptyStore } from '../support/store.ts'
import { bareInstallation } from '../support/web/installation.ts'

const MINUTE_MS = 60_000
function told(at: string | undefined): string {
  return `${at?.slice(0, 16).replace('T', ' ')} UTC`
}

describe('case by case', () => {
  const at = (minutes: number) => new Date(NOW - minutes * MINUTE_MS).toISOString()
  const REGISTERED = registered(EVENT_TYPES)
  /** Longer than three days. */
  const SILENT = 5_000
  const BY_HAND: EventSource = { readRegistration: async () => null, isByHand: true, canRegister: false }

  function registered(events: readonly string[], minutes = 6_000): EventSource {
    return {
      readRegistration: async () => ({ events: [...events], registeredAt: at(minutes) }),
      isByHand: false,
      canRegister: true,
    }
  }

  interface Run {
    readonly mode?: 'incremental' | 'full'
    readonly inserted?: number
    readonly updated?: number
    readonly isWhole?: boolean
  }

  async function run(
    store: Store,
    minutes: number,
    { mode = 'incremental', ...change }: Run = {},
  ): Promise<void> {
    const { inserted = 0, updated = 0, isWhole = true } = change
    await store.db
      .insertInto('sync_run')
      .values({
        id: `run-${minutes}`,
        started_at: at(minutes),
        finished_at: at(minutes),
        mode,
        parts: '["leads"]',
        outcome: isWhole ? 'ok' : 'failed',
        leads_as_of: isWhole ? at(minutes) : null,
        duration_ms: 1,
        leads_inserted: inserted,
        leads_updated: updated,
        not_before: null,
      })
      .execute()
  }

  /**
   * Opens a store whose daemon is alive. The last event came more than three days ago, and four syncs since then have
   * each found two changes.
   */
  async function openSilent(runs: Run = { inserted: 1, updated: 1 }): Promise<Store> {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    await daemon(store, 7_000)
    await receive(store, [event('1')], at(SILENT))
    await follow(store, 'a', { at: at(SILENT), outcome: 'updated' })
    for (const minutes of [80, 65, 50, 35]) await run(store, minutes, runs)
    return store
  }

  async function daemon(store: Store, minutes: number): Promise<number> {
    return store.write(async (trx) => {
      const id = await beginUptime(trx, { at: at(minutes), after: 'down' })
      await recordHeartbeat(trx, id, at(0))
      return id
    })
  }

  async function find(
    store: Store,
    way = REGISTERED,
    now = NOW,
  ): Promise<readonly { check: string; subject: string; message: string; hint: string }[]> {
    return findOf(store, way, now)
  }

  it('the normal case of these tests is that they stopped', async () => {
    const [problem] = await find(await openSilent())
    expect(problem?.message).toBe(
      `No event about a lead has come since ${told(at(SILENT))}, though 3 syncs found 6 changes meanwhile.`,
    )
  })

  it('an event about a lead is one, a ping or one of a pipeline is none', async () => {
    const store = await openSilent()
    const ping = event('2', { type: 'webhook.ping', resource: null, resourceId: '' })
    await receive(store, [ping, event('3', { resource: 'pipeline', resourceId: 'p1' })], at(20))
    expect(await find(store)).toHaveLength(1)
    await receive(store, [event('4')], at(20))
    expect(await find(store)).toEqual([])
  })

  it('a few changes, one sync, and syncs that found nothing mean nothing', async () => {
    expect(await find(await openSilent({}))).toEqual([])
    const one = await openSilent({})
    await run(one, 20, { updated: 50 })
    expect(await find(one)).toEqual([])
    await run(one, 15, { updated: 1 })
    expect(await find(one)).toHaveLength(1)
  })

  it('what was just found may still be told of', async () => {
    const store = await openSilent({})
    for (const minutes of [9, 5]) await run(store, minutes, { updated: 5 })
    expect(await find(store)).toEqual([])
    expect(await find(store, REGISTERED, NOW + 10 * MINUTE_MS)).toEqual([])
    await store.db
      .updateTable('daemon_uptime')
      .set({ last_heartbeat_at: new Date(NOW + 10 * MINUTE_MS).toISOString() })
      .execute()
    expect(await find(store, REGISTERED, NOW + 10 * MINUTE_MS)).toHaveLength(1)
  })

  it('a webhook need not tell of what it was not registered for', async () => {
    const created = registered(['lead.created'])
    expect(await find(await openSilent({ updated: 9 }), created)).toEqual([])
    expect(await find(await openSilent({ inserted: 9 }), created)).toHaveLength(1)
    const moved = registered(['lead.status_changed', 'pipeline.created'])
    expect(await find(await openSilent({ updated: 9, inserted: 9 }), moved)).toEqual([])
    expect(
      await find(await openSilent({ updated: 9 }), registered(['lead.updated', 'lead.status_changed'])),
    ).toHaveLength(1)
  })

  it('what changed before the last event came was told of', async () => {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    await daemon(store, 7_000)
    await run(store, SILENT + 10)
    await receive(store, [event('1')], at(SILENT))
    await follow(store, 'a', { at: at(SILENT), outcome: 'updated' })
    for (const minutes of [10, 20]) await run(store, SILENT - minutes, { updated: 5 })
    expect(await find(store)).toEqual([])
    await run(store, SILENT - 30, { updated: 5 })
    expect(await find(store)).toHaveLength(1)
  })

  it('silence is one only after three days', async () => {
    const store = await openSilent()
    await receive(store, [event('2')], at(3 * 24 * 60 - 1))
    await follow(store, 'a', { at: at(3 * 24 * 60 - 1), outcome: 'updated' })
    expect(await find(store)).toEqual([])
    expect(await find(await openSilent(), registered(EVENT_TYPES, 4_000))).toEqual([])
  })

  it('a webhook that has never brought anything is told of as well', async () => {
    const store = await openSilent()
    await store.db.deleteFrom('event').execute()
    const [problem] = await find(store)
    expect(problem?.message).toContain(`since ${told(at(6_000))}`)
  })

  it('while the daemon is away nobody can be told, and what waited for it comes late', async () => {
    const store = await openSilent()
    await daemon(store, 60)
    expect(await find(store)).toEqual([])
    const ended = await openSilent()
    await daemon(ended, 4_000)
    expect(await find(ended)).toHaveLength(1)
    await ended.write((trx) =>
      trx
        .updateTable('daemon_uptime')
        .set({ ended_at: at(0) })
        .execute(),
    )
    expect(await find(ended)).toEqual([])
  })

  it('a first load, and a reading by another profile, find what never changed', async () => {
    const first = await openEmptyStore()
    onTestFinished(() => first.close())
    await daemon(first, 5_000)
    await run(first, 50, { mode: 'full', inserted: 1_000 })
    await run(first, 35)
    expect(await find(first)).toEqual([])
    const mapped = await openSilent()
    await sql`INSERT INTO upstream_profile VALUES (1, 'x', ${at(40)})`.execute(mapped.db)
    expect(await find(mapped)).toEqual([])
  })

  it('all leads, read after changes alone, show what those had passed by long ago', async () => {
    const store = await openSilent({})
    for (const minutes of [30, 20]) {
      await run(store, minutes, { mode: 'full', updated: 9 })
      await run(store, minutes - 5)
    }
    expect(await find(store)).toEqual([])
    const always = await openSilent({ mode: 'full', updated: 9 })
    expect(await find(always)).toHaveLength(1)
  })

  it('a sync that did not come to its end leaves the next one what it had passed by', async () => {
    const store = await openSilent({})
    await run(store, 30, { updated: 9, isWhole: false })
    await run(store, 25, { updated: 9 })
    expect(await find(store)).toEqual([])
  })

  it('a clock that was set back makes nothing of events from the future', async () => {
    const store = await openSilent()
    await receive(store, [event('2')], at(-600))
    expect(await find(store)).toEqual([])
  })

  it('one that was registered by hand tells of what it told of before', async () => {
    const [problem] = await find(await openSilent(), BY_HAND)
    expect(problem?.message).toContain('though 3 syncs found 3 changes')
    expect(problem?.hint).toContain('where it was registered')
  })

  it('without a webhook nothing can stop', async () => {
    expect(await find(await openSilent(), { ...BY_HAND, isByHand: false })).toEqual([])
  })
})

describe('what has come', () => {
  it('waits for too long where it is not read in half an hour, unless the first load is under way', async () => {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    const way: EventSource = { readRegistration: async () => null, isByHand: true, canRegister: false }
    const find = (now: number) => findOf(store, way, now)
    await receive(store, [event('1'), event('2', { resourceId: 'b' })], new Date(NOW).toISOString())
    expect(await find(NOW + 29 * MINUTE_MS)).toEqual([])
    const [problem] = await find(NOW + 30 * MINUTE_MS)
    expect(problem).toMatchObject({ check: 'events_waiting' })
    expect(problem?.message).toBe(
      'Of the leads that events told of 2 wait to be read, the first since 2026-11-19 09:30 UTC.',
    )
    // PostgreSQL has no separate first load, so events are read during it.
    if (IN_POSTGRES) return
    await store.write((trx) => dropIndexes(trx, COUNT_ALL_DAYS))
    expect(await find(NOW + 30 * MINUTE_MS)).toEqual([])
  })

  it('fails where a tenth of a day can not be read, and some are none', async () => {
    const store = await openEmptyStore()
    onTestFinished(() => store.close())
    const way: EventSource = { readRegistration: async () => null, isByHand: true, canRegister: false }
    const find = (now: number) => findOf(store, way, now)
    const problems = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) =>
        event(`bad-${from + index}`, { problem: 'it has no lead' }),
      )
    const pings = Array.from({ length: 40 }, (_, index) => event(`ping-${index}`, { resource: null }))
    await receive(store, [...problems(0, 4), ...pings], new Date(NOW).toISOString())
    expect(await find(NOW)).toEqual([])
    await receive(store, problems(4, 5), new Date(NOW).toISOString())
    const [problem] = await find(NOW)
    expect(problem?.message).toBe('5 of 45 events of the last 24 hours could not be read or followed.')
    expect(await find(NOW + 25 * HOUR_MS)).toEqual([])
  })
})

async function findOf(store: Store, events: EventSource, now: number | string) {
  const facts = readFacts(bareInstallation(store, { events }), {}, new Date(now))
  const { findings } = await findForAlerts(facts, (thrown) => {
    throw thrown
  })
  return findings.filter(({ check }) => check.startsWith('events_'))
}

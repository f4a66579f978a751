// @both-stores
/** The check that events have stopped reports it if syncs find changes without events, and otherwise not. */
import { sql } from 'kysely'
import { it } from 'vitest'
import type { EventSource } from '../../src/checks/check.ts'
import { EVENT_TYPES } from '../../src/contract/webhook.ts'
import { dropIndexes } from '../../src/store/db/dropped-index.ts'
import type { Store } from '../../src/store/db/store.ts'
import { COUNT_ALL_DAYS } from '../../src/store/leads/lead-day.ts'
import { event, follow, receive } from '../support/data/events.ts'
import { saveSync, saveUptime } from '../support/data/operation.ts'
import { IN_POSTGRES } from '../support/store.ts'
import { expectTold, later, minutesAgo } from './states.ts'

const EVENTS = registered(EVENT_TYPES)
const BY_HAND: EventSource = { readRegistration: async () => null, isByHand: true, canRegister: false }
/** Longer than three days. */
const SILENT = 5_000
const THREE_DAYS = 3 * 24 * 60

function registered(types: readonly string[], minutes = 6_000): { readonly events: EventSource } {
  const registration = { events: [...types], registeredAt: minutesAgo(minutes) }
  return { events: { readRegistration: async () => registration, isByHand: false, canRegister: true } }
}

/** A sync and its result. By default it has read all changes. */
interface Run {
  readonly mode?: 'incremental' | 'full'
  readonly inserted?: number
  readonly updated?: number
  readonly isWhole?: boolean
}

async function run(store: Store, minutes: number, change: Run = {}): Promise<void> {
  const { mode = 'incremental', isWhole = true, ...leads } = change
  const problems = isWhole ? [] : [{ part: 'leads', code: 'api_unreachable', message: '', hint: '' } as const]
  const end = { mode, outcome: isWhole ? 'ok' : 'failed', problems, leads } as const
  await store.write((trx) => saveSync(trx, minutesAgo(minutes), end))
}

const startDaemon = (store: Store, minutes: number) => saveUptime(store, minutesAgo(minutes), minutesAgo(0))

/** Saves an event that has led to an update. */
async function receiveUpdate(store: Store, id: string, minutes: number): Promise<void> {
  await receive(store, [event(id)], minutesAgo(minutes))
  await follow(store, 'a', { at: minutesAgo(minutes), outcome: 'updated' })
}

/**
 * Starts a daemon that is alive. The last event came more than three days ago, and four syncs since then have each
 * found two changes.
 */
async function fallSilent(store: Store, runs: Run = { inserted: 1, updated: 1 }): Promise<void> {
  await startDaemon(store, 7_000)
  await receiveUpdate(store, '1', SILENT)
  for (const minutes of [80, 65, 50, 35]) await run(store, minutes, runs)
}

it('events', () =>
  expectTold('events', {
    'that stopped are the normal case of these tests': async (store, look) => {
      await fallSilent(store)
      await look('registered', EVENTS)
      await look('registered 4,000 minutes ago', registered(EVENT_TYPES, 4_000))
      await look('registered by hand', { events: BY_HAND })
      await look('without a webhook nothing can stop', { events: { ...BY_HAND, isByHand: false } })
    },
    'have come if one is about a lead; a ping or one of a pipeline is none': async (store, look) => {
      await fallSilent(store)
      const ping = event('2', { type: 'webhook.ping', resource: null, resourceId: '' })
      await receive(store, [ping, event('3', { resource: 'pipeline', resourceId: 'p1' })], minutesAgo(20))
      await look('a ping and one of a pipeline', EVENTS)
      await receive(store, [event('4')], minutesAgo(20))
      await look('one of a lead', EVENTS)
    },
    'need not come for a few changes, one sync, or syncs that found nothing': async (store, look) => {
      await fallSilent(store, {})
      await look('nothing found', EVENTS)
      await run(store, 20, { updated: 50 })
      await look('one sync', EVENTS)
      await run(store, 15, { updated: 1 })
      await look('two', EVENTS)
    },
    'may still come of what was just found': async (store, look) => {
      await fallSilent(store, {})
      for (const minutes of [9, 5]) await run(store, minutes, { updated: 5 })
      await look('at once', EVENTS)
      await look('ten minutes later, without a daemon', EVENTS, later(10))
      const last_heartbeat_at = later(10).toISOString()
      await store.db.updateTable('daemon_uptime').set({ last_heartbeat_at }).execute()
      await look('ten minutes later', EVENTS, later(10))
    },
    'need not come of what a webhook was not registered for': async (store, look) => {
      const kinds = [
        ['lead.created'],
        ['lead.status_changed', 'pipeline.created'],
        ['lead.updated', 'lead.status_changed'],
      ]
      await fallSilent(store, {})
      for (const found of [{ updated: 9 }, { inserted: 9 }]) {
        for (const minutes of [30, 20]) await run(store, minutes, found)
        for (const types of kinds)
          await look(`${JSON.stringify(found)} for ${types.join()}`, registered(types))
        await store.db.deleteFrom('sync_run').where('started_at', '>', minutesAgo(31)).execute()
      }
    },
    'told of what changed before the last one came': async (store, look) => {
      await startDaemon(store, 7_000)
      await run(store, SILENT + 10)
      await receiveUpdate(store, '1', SILENT)
      for (const minutes of [10, 20]) await run(store, SILENT - minutes, { updated: 5 })
      await look('one sync since', EVENTS)
      await run(store, SILENT - 30, { updated: 5 })
      await look('two syncs since', EVENTS)
    },
    'are silent only after three days': async (store, look) => {
      await fallSilent(store)
      await receiveUpdate(store, '2', THREE_DAYS - 1)
      await look('a minute less', EVENTS)
    },
    'that have never come are told of as well': async (store, look) => {
      await fallSilent(store)
      await store.db.deleteFrom('event').execute()
      await look('none', EVENTS)
    },
    'cannot come while the daemon is away, and what waited for it comes late': async (store, look) => {
      await fallSilent(store)
      await startDaemon(store, 4_000)
      await look('alive for days', EVENTS)
      const last = await startDaemon(store, 60)
      await look('alive for an hour', EVENTS)
      await store.db.deleteFrom('daemon_uptime').where('id', '=', last).execute()
      await store.db
        .updateTable('daemon_uptime')
        .set({ ended_at: minutesAgo(0) })
        .execute()
      await look('ended', EVENTS)
    },
    'do not come of a first load': async (store, look) => {
      await startDaemon(store, 5_000)
      await run(store, 50, { mode: 'full', inserted: 1_000 })
      await run(store, 35)
      await look('and one more sync', EVENTS)
    },
    'do not come of a reading by another profile': async (store, look) => {
      await fallSilent(store)
      await sql`INSERT INTO upstream_profile VALUES (1, 'x', ${minutesAgo(40)})`.execute(store.db)
      await look('since 40 minutes', EVENTS)
    },
    'of all leads, read after changes alone, may have come long ago': async (store, look) => {
      await fallSilent(store, {})
      for (const minutes of [30, 20]) {
        await run(store, minutes, { mode: 'full', updated: 9 })
        await run(store, minutes - 5)
      }
      await look('now and then', EVENTS)
      await store.db.updateTable('sync_run').set({ mode: 'full', leads_updated: 9 }).execute()
      await look('always', EVENTS)
    },
    'may have come of what a sync found that did not come to its end': async (store, look) => {
      await fallSilent(store, {})
      await run(store, 30, { updated: 9, isWhole: false })
      await run(store, 25, { updated: 9 })
      await look('and a whole one', EVENTS)
    },
    'from the future, before a clock was set back, mean nothing': async (store, look) => {
      await fallSilent(store)
      await receive(store, [event('2')], minutesAgo(-600))
      await look('one', EVENTS)
    },
    'wait for too long where they are not read in half an hour, unless the first load is under way': async (
      store,
      look,
    ) => {
      await receive(store, [event('1'), event('2', { resourceId: 'b' })], minutesAgo(0))
      for (const minutes of [29, 30]) await look(`${minutes} minutes`, { events: BY_HAND }, later(minutes))
      // PostgreSQL has no separate first load, so events are read during it.
      if (IN_POSTGRES) await store.db.deleteFrom('event_queue').execute()
      else await store.write((trx) => dropIndexes(trx, COUNT_ALL_DAYS))
      await look('in a first load', { events: BY_HAND }, later(30))
    },
    'fail where a tenth of a day cannot be read, and no fewer than five': async (store, look) => {
      const pings = Array.from({ length: 40 }, (_, index) => event(`ping-${index}`, { resource: null }))
      const broken = [1, 2, 3, 4, 5].map((id) => event(`bad-${id}`, { problem: 'it has no lead' }))
      await receive(store, [...broken.slice(1), ...pings], minutesAgo(0))
      await look('four', { events: BY_HAND })
      await receive(store, broken, minutesAgo(0))
      await look('five', { events: BY_HAND })
      await look('five of yesterday', { events: BY_HAND }, later(25 * 60))
    },
  }))

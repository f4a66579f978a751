/**
 * Streams of events that are lost, repeated and out of order, with syncs between them. In the end the copy
 * equals the upstream. Before the last sync, this holds for all leads without a lost event.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UpstreamEvent } from '../../src/domain/model.ts'
import type { Db } from '../../src/store/db/store.ts'
import { findViolations } from '../../src/store/invariants/invariants.ts'
import { random } from '../support/random.ts'
import { type Following, openFollowing } from '../support/source/following.ts'
import { openSyncing } from '../support/syncing.ts'
import { createWorld, serveWorlds, type World, type WorldServer } from './event-world.ts'
import { IS_FULL, SEED } from './scale.ts'

const STREAMS = IS_FULL ? 1000 : 40
/** The number of worlds that run at once. Each waits for the disk most of the time. */
const AT_ONCE = 4
const STEPS = 25
const LEADS = { full: true, parts: ['leads'], pageSize: 5 } as const

let server: WorldServer
beforeAll(async () => {
  server = await serveWorlds()
})
afterAll(() => server.close())

/** Returns each kind of upstream and network in turn. */
function worldOf(seed: number): {
  readonly world: World
  readonly losses: number
  readonly next: () => number
} {
  const next = random(seed)
  const world = createWorld({
    random: next,
    hasTimes: seed % 4 !== 0,
    hasOtherForm: Math.floor(seed / 4) % 3 === 0,
  })
  return { world, losses: seed % 3 === 0 ? 0 : 0.25, next }
}

/** Returns the times of arrival of an event. Some never come, some come twice, and all are randomly late. */
function arrivals(event: UpstreamEvent, step: number, losses: number, next: () => number) {
  if (next() < losses) return []
  const at = (): number => step + Math.floor(next() ** 3 * 12)
  const times = next() < 0.25 ? [at(), at()] : [at()]
  return times.map((time) => ({ event, time }))
}

/** Changes the upstream, delivers events, and sometimes syncs, all at the same time. */
async function live(copy: Following, world: World, losses: number, next: () => number): Promise<void> {
  let coming: { readonly event: UpstreamEvent; readonly time: number }[] = []
  let syncing: Promise<unknown> | null = null
  for (let step = 0; step < STEPS || coming.length > 0; step++) {
    copy.clock.now = world.clock.now
    if (step < STEPS) coming.push(...arrivals(world.change(), step, losses, next))
    const now = coming.filter(({ time }) => time <= step)
    coming = coming.filter(({ time }) => time > step)
    const taken = copy.intake.take(now.map(({ event }) => event).sort(() => next() - 0.5))
    if (syncing === null && next() < 0.1) {
      syncing = copy.sync({ ...LEADS, full: next() < 0.5 }).finally(() => {
        syncing = null
        copy.worker.wake()
      })
    }
    if (next() < 0.3) await copy.worker.idle()
    else for (let turn = 0; turn < next() * 30; turn++) await new Promise(setImmediate)
    expect(await taken).toBe(true)
  }
  await syncing
  copy.worker.wake()
  await copy.worker.idle()
}

/**
 * Reads the leads that exist, by id, without what depends on when they were read. How far a lead has come is left
 * out too, because it is taken from its moves, and a store that reads a lead once knows fewer of them.
 */
async function leadsOf(db: Db, world: World): Promise<Map<string, object>> {
  const rows = await db.selectFrom('lead').where('deleted_at', 'is', null).selectAll().execute()
  const hasTimes = world.profile.filters.updated_since !== undefined
  return new Map(
    rows.map(
      ({
        no,
        first_seen_at,
        observed_at,
        run_id,
        updated_at,
        status_changed_at,
        derived_version,
        ...lead
      }) => [lead.id, hasTimes ? { ...lead, updated_at } : lead],
    ),
  )
}

async function freshlySynced(url: string, world: World): Promise<Map<string, object>> {
  await using fresh = await openSyncing(url, 'test-key', { source: { profile: world.profile } })
  fresh.clock.now = world.clock.now
  await fresh.sync(LEADS)
  return leadsOf(fresh.store.db, world)
}

/** Lists versions with a state that the lead never had, or with states in another order. */
async function untrue(db: Db, world: World): Promise<string[]> {
  const rows = await db
    .selectFrom('lead_version')
    .select(['lead_id', 'status', 'score'])
    .orderBy('lead_id')
    .orderBy('valid_from')
    .execute()
  return [...Map.groupBy(rows, (row) => row.lead_id)].flatMap(([id, versions]) => {
    const told = versions.map(({ status, score }) => `${status} ${score}`)
    const rest = (world.past.get(id) ?? []).values()
    const distinct = told.filter((state, index) => state !== told[index - 1])
    return distinct.every((state) => rest.some((true_) => true_ === state))
      ? []
      : [`${id}: ${told.join(', ')}`]
  })
}

/**
 * Checks leads whose removal no event has told. Only the second sync in a row without the lead marks it as
 * deleted.
 */
async function checkSweeps(copy: Following, world: World, fresh: Map<string, object>, message: string) {
  for (const sweep of ['first', 'second']) {
    copy.clock.now = new Date(copy.clock.now.getTime() + 60_000)
    await copy.sync(LEADS)
    copy.worker.wake()
    await copy.worker.idle()
    const leads = await leadsOf(copy.store.db, world)
    const there = sweep === 'first' ? [...leads].filter(([id]) => fresh.has(id)) : [...leads]
    expect(new Map(there), `${message}, ${sweep} sweep`).toEqual(fresh)
  }
}

async function checkStream(seed: number): Promise<void> {
  const { world, losses, next } = worldOf(seed)
  const message = `SEED=${seed}`
  const url = server.add(world)
  await using copy = await openFollowing(url, { source: { profile: world.profile } })
  copy.clock.now = world.clock.now
  await copy.sync(LEADS)
  await live(copy, world, losses, next)
  const { db } = copy.store
  const fresh = await freshlySynced(url, world)
  if (losses === 0) expect(await leadsOf(db, world), `${message}, before any sweep`).toEqual(fresh)
  await checkSweeps(copy, world, fresh, message)
  expect(await untrue(db, world), message).toEqual([])
  const gone = await db.selectFrom('lead_deletion').select('lead_id').execute()
  expect(
    gone.filter(({ lead_id }) => world.leads.has(lead_id)),
    message,
  ).toEqual([])
  expect(await findViolations(db, copy.clock.now.toISOString(), 'all'), message).toEqual([])
  expect(await db.selectFrom('event_queue').selectAll().execute(), message).toEqual([])
}

describe('the leads of an upstream whose events are lost, doubled and out of order', () => {
  it(`are right after one sweep, and those that are gone after two; where none is lost, before any (${STREAMS} streams, SEED=${SEED}) (row 65)`, async () => {
    const seeds = Array.from({ length: STREAMS }, (_, index) => SEED + index).values()
    const worker = async (): Promise<void> => {
      for (const seed of seeds) await checkStream(seed)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  })
})

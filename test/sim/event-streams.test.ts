/**
 * Streams of events that are lost, repeated and out of order, with syncs between them. In the end the copy
 * equals the upstream. Before the last sync, this holds for all leads without a lost event.
 */
import { expect, it } from 'vitest'
import type { WireLead } from '../../src/contract/lead.ts'
import type { UpstreamEvent } from '../../src/domain/model.ts'
import type { Db } from '../../src/store/db/store.ts'
import { findViolations } from '../../src/store/invariants/invariants.ts'
import { REFERENCE_PROFILE } from '../../src/upstream/profile/reference-profile.ts'
import { random } from '../support/random.ts'
import { eventOf, type Following, openFollowing } from '../support/source/following.ts'
import { openSyncing } from '../support/syncing.ts'
import { startUpstream } from '../support/upstream.ts'
import { IS_FULL, SEED } from './scale.ts'

const STREAMS = IS_FULL ? 1000 : 40
/** The number of worlds that run at once. Each waits for the disk most of the time. */
const AT_ONCE = 4
const STEPS = 25
const LEADS = { full: true, parts: ['leads'], pageSize: 5 } as const

const { updated_at: _, ...untimed } = REFERENCE_PROFILE.mapping.lead
const WITHOUT_TIMES = {
  ...REFERENCE_PROFILE,
  filters: {},
  mapping: { ...REFERENCE_PROFILE.mapping, lead: untimed },
}

type World = Awaited<ReturnType<typeof openWorld>>

const STATUSES = ['discovered', 'contacted', 'won', 'lost'] as const
/** Few enough to be believed when two scans in a row miss them. */
const REMOVALS_MAX = 5

/** Opens an upstream whose leads come, change and go: each kind of upstream and network in turn. */
async function openWorld(seed: number) {
  const next = random(seed)
  const upstream = await startUpstream(0)
  const profile = seed % 4 === 0 ? WITHOUT_TIMES : REFERENCE_PROFILE
  /** Each state that a lead has had, such as `status score`, by lead. */
  const past = new Map<string, string[]>()
  const clock = { now: new Date('2026-11-21T06:00:00Z') }
  const numbers = new Map<string, number>()
  let removals = 0
  const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(next() * list.length)]
  const put = (number: number, status: WireLead['status'], score: number): string => {
    const at = clock.now.toISOString()
    const made = numbers.size === number ? { created_at: at } : {}
    const before = [...upstream.leads.values()].find(({ id }) => numbers.get(id) === number)
    const change = { ...before, ...made, status, score, updated_at: at, status_changed_at: at }
    const { id } = upstream.put(number, change)
    // In some worlds, a single lead has another form than in the list.
    if (Math.floor(seed / 4) % 3 === 0) upstream.details.set(id, { version: 2 })
    numbers.set(id, number)
    past.set(id, [...(past.get(id) ?? []), `${status} ${score}`])
    return id
  }
  const changeOne = (): readonly [type: string, id: string] => {
    const dice = next()
    const found = oneOf([...upstream.leads.keys()])
    if (found === undefined || dice < 0.15) return ['created', put(numbers.size, 'discovered', 0)]
    if (dice < 0.25 && removals++ < REMOVALS_MAX) {
      upstream.leads.delete(found)
      return ['removed', found]
    }
    return ['updated', put(numbers.get(found) ?? 0, oneOf(STATUSES) ?? 'won', Math.floor(next() * 3))]
  }
  for (let number = 0; number < 12; number++) put(number, 'discovered', 0)
  let events = 0
  return {
    upstream,
    profile,
    /** The share of events that the network loses. */
    losses: seed % 3 === 0 ? 0 : 0.25,
    next,
    past,
    clock,
    /** Makes one change, and returns the event that tells of it. */
    change(): UpstreamEvent {
      clock.now = new Date(clock.now.getTime() + 1 + Math.floor(next() * 2000))
      const [type, id] = changeOne()
      return eventOf(id, {
        id: `event-${++events}`,
        type,
        occurredAt: clock.now.toISOString(),
        isDeletion: type === 'removed',
      })
    },
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  }
}

/** Returns the times of arrival of an event. Some never come, some come twice, and all are randomly late. */
function arrivals(event: UpstreamEvent, step: number, losses: number, next: () => number) {
  if (next() < losses) return []
  const at = (): number => step + Math.floor(next() ** 3 * 12)
  const times = next() < 0.25 ? [at(), at()] : [at()]
  return times.map((time) => ({ event, time }))
}

/** Changes the upstream, delivers events, and sometimes syncs, all at the same time. */
async function live(copy: Following, world: World): Promise<void> {
  const { losses, next } = world
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
 * The columns that depend on when a lead was read, and how far it has come: that is taken from its moves, and a store
 * that reads a lead once knows fewer of them.
 */
const OF_READING = ['no', 'first_seen_at', 'observed_at', 'run_id', 'status_changed_at', 'derived_version']

/** Reads the leads that exist, by id. */
async function leadsOf(db: Db, { profile }: World): Promise<Map<string, object>> {
  const rows = await db.selectFrom('lead').where('deleted_at', 'is', null).selectAll().execute()
  const left = profile === WITHOUT_TIMES ? [...OF_READING, 'updated_at'] : OF_READING
  const compared = (row: object) => Object.entries(row).filter(([column]) => !left.includes(column))
  return new Map(rows.map((row) => [row.id, Object.fromEntries(compared(row))]))
}

async function freshlySynced(world: World): Promise<Map<string, object>> {
  await using fresh = await openSyncing(world.upstream.url, 'test-key', {
    source: { profile: world.profile },
  })
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
  await using world = await openWorld(seed)
  const { upstream, profile, losses } = world
  const message = `SEED=${seed}`
  await using copy = await openFollowing(upstream.url, { source: { profile } })
  copy.clock.now = world.clock.now
  await copy.sync(LEADS)
  await live(copy, world)
  const { db } = copy.store
  const fresh = await freshlySynced(world)
  if (losses === 0) expect(await leadsOf(db, world), `${message}, before any sweep`).toEqual(fresh)
  await checkSweeps(copy, world, fresh, message)
  expect(await untrue(db, world), message).toEqual([])
  const gone = await db.selectFrom('lead_deletion').select('lead_id').execute()
  expect(
    gone.filter(({ lead_id }) => upstream.leads.has(lead_id)),
    message,
  ).toEqual([])
  expect(await findViolations(db, copy.clock.now.toISOString(), 'all'), message).toEqual([])
  expect(await db.selectFrom('event_queue').selectAll().execute(), message).toEqual([])
}

it(`the leads of an upstream whose events are lost, doubled and out of order are right after one sweep, and those that are gone after two; where none is lost, before any (${STREAMS} streams, SEED=${SEED})`, async () => {
  const seeds = Array.from({ length: STREAMS }, (_, index) => SEED + index).values()
  const worker = async (): Promise<void> => {
    for (const seed of seeds) await checkStream(seed)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
})

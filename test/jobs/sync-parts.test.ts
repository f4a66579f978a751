import { once } from 'node:events'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../src/errors.ts'
import { sync } from '../../src/jobs/sync.ts'
import type { SyncOptions } from '../../src/jobs/sync-run.ts'
import type { SyncResult } from '../../src/model.ts'
import { openSource, type Source } from '../../src/source/open.ts'
import { findViolations } from '../../src/store/invariants.ts'
import { openStore, type Store } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { openPartWorkers, type PartWorkers } from '../support/part-workers.ts'
import { hasPostgres, newDatabase } from '../support/postgres.ts'
import { random } from '../support/random.ts'
import { startService } from '../support/service.ts'
import { createShiftingList, type ShiftingList, type ShiftingOptions } from '../support/shifting-list.ts'
import { migratedDatabase } from '../support/store.ts'
import { openSyncing, SILENT } from '../support/syncing.ts'

const SEED = Number(process.env['SEED'] ?? 1)
/** `SEEDS=200 npx vitest run test/jobs/sync-parts.test.ts` takes ten minutes. */
const SEEDS = Number(process.env['SEEDS'] ?? 1)
const NOW = new Date('2026-11-21T06:00:00Z')
const PAGE_SIZE = 20
const OPTIONS: SyncOptions = {
  full: true,
  parts: ['leads'],
  pageSize: PAGE_SIZE,
  overlapMs: 0,
  pipelineIds: [],
  signal: new AbortController().signal,
}

/** The way in which a list can be parted. */
const WAYS = {
  'by time': { kind: 'cursor', order: 'updated_asc', hasUpdatedSince: true },
  'by pipeline': { kind: 'cursor', order: 'id', hasUpdatedSince: true, pipelines: 5 },
  'by pages of numbers': { kind: 'page', order: 'id', hasUpdatedSince: false },
  'by pages of offsets': { kind: 'offset', order: 'id', hasUpdatedSince: true },
} as const satisfies Record<string, Partial<ShiftingOptions>>

interface Shared extends AsyncDisposable {
  readonly store: Store
  readonly workers: PartWorkers
  sync(options?: Partial<SyncOptions>): Promise<SyncResult>
}

/** Two workers and a sync, each with a source and a store of its own, on one database. */
async function openShared(sourceOf: () => Source, now: () => Date): Promise<Shared> {
  const url = await newDatabase({ template: await migratedDatabase() })
  const store = await openStore(url, NOW)
  const workers = await openPartWorkers({ url, source: sourceOf, count: 2, pageSize: PAGE_SIZE, now })
  const source = sourceOf()
  return {
    store,
    workers,
    sync: (options) =>
      sync({ source, store, log: SILENT, now, helpers: workers.helpers }, { ...OPTIONS, ...options }),
    async [Symbol.asyncDispose]() {
      await workers[Symbol.asyncDispose]()
      await store.close()
    },
  }
}

interface SharedList extends Shared {
  readonly list: ShiftingList
}

/** The same of a list in memory. */
async function openSharedList(
  way: keyof typeof WAYS,
  change: Partial<ShiftingOptions> = {},
  seed = SEED,
): Promise<SharedList> {
  const list = createShiftingList({
    ...{ random: random(seed), rows: 400, changesAPage: 0, ...WAYS[way] },
    ...change,
  })
  return {
    ...(await openShared(
      () => list.source,
      () => list.clock.now,
    )),
    list,
  }
}

const EACH_WAY = Object.keys(WAYS) as (keyof typeof WAYS)[]

describe.skipIf(!hasPostgres)('a list that several workers read', () => {
  it.each(EACH_WAY)('is parted %s, and each lead is read once', async (way) => {
    await using shared = await openSharedList(way)
    const result = await shared.sync()
    expect(result).toMatchObject({
      outcome: 'ok',
      scan: { verdict: 'complete', distinct: 400, warnings: [] },
    })
    expect(result.leads).toMatchObject({ seen: 400, inserted: 400, updated: 0, unchanged: 0 })
    expect(shared.workers.offered.size).toBeGreaterThan(3)
    expect(shared.workers.taken()).toBeGreaterThan(0)
    expect(await storedIds(shared.store)).toEqual(idsOf(shared.list))
    await expectSound(shared)
  })

  it('makes the same copy as one reader makes in a file, and counts what all have asked for', async () => {
    await using service = await startService(folderWith(), NOW, 20, 1_000_000)
    const key = await service.createKey({ name: 'test', scope: 'read' })
    await using alone = await openSyncing(service.url, key)
    expect((await alone.sync({ parts: ['leads'], pageSize: PAGE_SIZE })).outcome).toBe('ok')
    const sources: Source[] = []
    const sourceOf = (): Source => {
      const options = { baseUrl: service.url, apiKey: key, maxWaitMs: 60_000, log: SILENT, now: () => NOW }
      sources.push(openSource(options))
      return sources.at(-1) as Source
    }
    await using shared = await openShared(sourceOf, () => NOW)
    const result = await shared.sync()
    expect(result.scan).toMatchObject({ verdict: 'complete', passes: 2 })
    expect(shared.workers.offered.size).toBeGreaterThan(3)
    expect(await contentsOf(shared.store)).toEqual(await contentsOf(alone.store))
    expect(result.requests).toBe(sources.reduce((sum, { usage }) => sum + usage.requests, 0))
    expect(sources.filter(({ usage }) => usage.requests > 0).length).toBeGreaterThan(1)
    for (const source of sources) await source.close()
  })

  it.each(EACH_WAY)(
    `loses no lead, parted %s, while leads come, go, change and move, and workers are killed (SEEDS=${SEEDS}, SEED=${SEED})`,
    async (way) => {
      let [complete, parted] = [0, 0]
      for (let seed = SEED; seed < SEED + SEEDS; seed++) {
        const dice = random(seed * 31)
        await using shared = await openSharedList(way, { rows: 240, changesAPage: 1 }, seed)
        const { list, store, workers } = shared
        const killing = setInterval(() => dice() < 0.3 && workers.kill(), 20)
        const before = [...list.rows.keys()]
        const { scan } = await shared.sync()
        if (scan?.verdict === 'complete') {
          complete++
          const stored = new Set(await storedIds(store))
          const missing = before.filter((id) => list.rows.has(id) && !stored.has(id))
          expect(missing, `SEED=${seed}`).toEqual([])
        }
        if (workers.offered.size > 2) parted++
        await expectSound(shared, `SEED=${seed}`)

        list.isStill = true
        // What is gone has to be missing twice.
        for (let round = 0; round < 2; round++) await shared.sync({ acceptsRemovals: true })
        clearInterval(killing)
        const result = await shared.sync()
        expect(result.scan?.verdict, `SEED=${seed}`).toBe('complete')
        expect(result.leads).toMatchObject({ inserted: 0, updated: 0, removed: 0 })
        expect(await storedRows(store), `SEED=${seed}`).toEqual(rowsOf(list))
        await expectSound(shared, `SEED=${seed}`)
      }
      expect(complete).toBeGreaterThan(SEEDS / 2)
      // Some are read by one, since too much changes while their pipelines are counted.
      expect(parted).toBeGreaterThan(SEEDS / 2)
    },
  )
})

describe.skipIf(!hasPostgres)('parts that were begun', () => {
  it('are read on by the next sync, from where they are', async () => {
    await using shared = await openSharedList('by time')
    const { store, list } = shared
    const { listLeads } = list.source
    const stop = new AbortController()
    const isOver = Promise.withResolvers<void>()
    let pages = 0
    list.source.listLeads = async (filters, position, size, options = {}) => {
      const isPage = size === PAGE_SIZE
      if (isPage && ++pages === 12) stop.abort()
      // Those that are on their way come when nobody wants them any more.
      const { signal = stop.signal } = options
      if (isPage && pages >= 12 && !signal.aborted)
        await Promise.race([isOver.promise, once(signal, 'abort')])
      signal.throwIfAborted()
      return listLeads(filters, position, size, options)
    }
    const first = await shared.sync({ signal: stop.signal })
    isOver.resolve()
    list.source.listLeads = listLeads
    expect(first).toMatchObject({ outcome: 'partial', problems: [{ code: 'run_interrupted' }] })
    await expectSound(shared)
    expect(first.leads.inserted).toBe((await storedIds(store)).length)
    expect(first.scan).toMatchObject({ distinct: first.leads.inserted, reportedTotal: 400 })
    const before = list.source.usage.requests
    const second = await shared.sync()
    expect(second).toMatchObject({ outcome: 'ok', scan: { verdict: 'complete', distinct: 400 } })
    expect(second.leads.inserted).toBe(400 - first.leads.inserted)
    expect(list.source.usage.requests - before).toBeLessThan(30)
    expect(await storedIds(store)).toEqual(idsOf(list))
    await expectSound(shared)
  })

  it('end the run when one of them fails, and the others keep their places', async () => {
    await using shared = await openSharedList('by time')
    const { store, list } = shared
    const { listLeads } = list.source
    let isDown = false
    list.source.listLeads = async (filters, position, ...rest) => {
      const isLate = (position ?? '') > '2026-11'
      if (isDown && isLate) throw new LeadsheetError('api_unreachable', 'the upstream is down')
      return listLeads(filters, position, ...rest)
    }
    isDown = true
    const first = await shared.sync()
    expect(first).toMatchObject({ outcome: 'partial', problems: [{ code: 'api_unreachable' }] })
    expect(
      await store.db.selectFrom('sync_part').where('holder', 'is not', null).selectAll().execute(),
    ).toEqual([])
    await expectSound(shared)
    isDown = false
    expect(await shared.sync()).toMatchObject({ outcome: 'ok', scan: { verdict: 'complete', distinct: 400 } })
    expect(await storedIds(store)).toEqual(idsOf(list))
  })

  it('are given up for the whole list where the upstream refuses the place of one', async () => {
    await using shared = await openSharedList('by time')
    const { listLeads } = shared.list.source
    shared.list.source.listLeads = async (filters, position, ...rest) => {
      const isOfPart = filters.updatedSince !== undefined && position !== null
      if (isOfPart) throw new LeadsheetError('api_rejected', 'no such cursor')
      return listLeads(filters, position, ...rest)
    }
    expect(await shared.sync()).toMatchObject({ outcome: 'ok', scan: { verdict: 'complete', distinct: 400 } })
    expect(await storedIds(shared.store)).toEqual(idsOf(shared.list))
    await expectSound(shared)
  })
})

describe.skipIf(!hasPostgres)('a list is read by one', () => {
  it.each<[string, Partial<ShiftingOptions>]>([
    ['is short', { rows: 100 }],
    ['has a cursor, no order by time and no pipelines', { order: 'id' }],
    ['cannot be asked for changes', { hasUpdatedSince: false }],
  ])('where it %s', async (_, change) => {
    await using shared = await openSharedList('by time', change)
    expect(await shared.sync()).toMatchObject({ outcome: 'ok', scan: { verdict: 'complete' } })
    expect(shared.workers.offered.size).toBe(0)
    expect(await storedIds(shared.store)).toEqual(idsOf(shared.list))
  })
})

async function storedIds(store: Store): Promise<string[]> {
  return (await storedRows(store)).map((row) => row.split(' ')[0] ?? '')
}

async function storedRows(store: Store): Promise<string[]> {
  const rows = await store.db
    .selectFrom('lead')
    .where('removed_at', 'is', null)
    .select(['id', 'updated_at'])
    .execute()
  return rows.map((row) => `${row.id} ${row.updated_at}`).sort()
}

function rowsOf(list: ShiftingList): string[] {
  return [...list.rows.values()].map((row) => `${row.id} ${row.updated}`).sort()
}

function idsOf(list: ShiftingList): string[] {
  return [...list.rows.keys()].sort()
}

async function expectSound({ store }: Shared, what = ''): Promise<void> {
  expect(await findViolations(store.db, NOW.toISOString(), 'all'), what).toEqual([])
}

/** What is said of the leads, but for who read them and in which order. */
async function contentsOf({ db }: Store): Promise<unknown[]> {
  const leads = await sql<object>`SELECT * FROM lead JOIN lead_raw ON lead_no = no ORDER BY id`.execute(db)
  const versions = await sql<object>`SELECT * FROM lead_version ORDER BY lead_id, valid_from`.execute(db)
  const counts =
    await sql<object>`SELECT * FROM lead_count ORDER BY pipeline_id, status, value_currency`.execute(db)
  return [...leads.rows, ...versions.rows, ...counts.rows].map((row) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !OF_READING.has(column))),
  )
}

const OF_READING = new Set(['no', 'lead_no', 'rowid', 'run_id'])

/** Several workers read the details for one sync. The result is the same as if one had read them all. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { SyncResult } from '../../../src/domain/sync.ts'
import type { LeadsheetError } from '../../../src/errors.ts'
import { createDetailWorker, type DetailWorker } from '../../../src/jobs/sync/detail-workers.ts'
import { sync } from '../../../src/jobs/sync/run-sync.ts'
import type { SyncOptions } from '../../../src/jobs/sync/sync-context.ts'
import { openPgBossQueue } from '../../../src/queue/pg-boss.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { openSharedRequestRate } from '../../../src/store/sync/request-rate.ts'
import type { Source } from '../../../src/upstream/source.ts'
import { openSource } from '../../../src/upstream/source.ts'
import { generateLead } from '../../bench/generate.ts'
import { hasPostgres, newDatabase, preparedDatabase } from '../../support/postgres.ts'
import { SILENT } from '../../support/syncing.ts'
import { startUpstream, status, type Upstream } from '../../support/upstream.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const LEADS = 100
const OPTIONS: SyncOptions = {
  full: true,
  parts: ['leads', 'details'],
  pageSize: 500,
  overlapMs: 0,
  pipelineIds: [],
  details: { top: null, perRun: 1_000, concurrency: 3 },
  signal: new AbortController().signal,
}

interface Crew extends AsyncDisposable {
  readonly store: Store
  readonly sources: readonly Source[]
  /** Runs a sync by the first worker. */
  sync(options?: Partial<SyncOptions>): Promise<SyncResult>
}

/** Opens so many workers on one database, each with its own connections and client. */
async function openCrew(
  url: string,
  count: number,
  change: (source: Source) => Source = (source) => source,
  batchesAtOnce = 3,
): Promise<Crew> {
  const address = await newDatabase({ template: await crewDatabase() })
  const stop = new AbortController()
  const members: { store: Store; source: Source; detailWorkers: DetailWorker; close(): Promise<void> }[] = []
  for (let worker = 0; worker < count; worker++) {
    const store = await openStore(address, NOW)
    if (store.place.kind !== 'postgres') throw new Error(`${address} is no PostgreSQL`)
    const queue = await openPgBossQueue(store.place, SILENT)
    const real = openSource({
      ...{ baseUrl: url, apiKey: 'test-key', maxWaitMs: 60_000, log: SILENT },
      ...{ backoff: { attempts: 5, baseMs: 0, maxMs: 0 }, requestRate: openSharedRequestRate(store) },
    })
    const source = change(real)
    const own = { store, source, queue, concurrency: batchesAtOnce }
    const detailWorkers = createDetailWorker({ ...own, log: SILENT, now: () => NOW })
    detailWorkers.open(stop.signal)
    const close = async () => {
      await detailWorkers.idle()
      await queue[Symbol.asyncDispose]()
      await real.close()
      await store.close()
    }
    members.push({ store, source, detailWorkers, close })
  }
  const [first] = members
  if (first === undefined) throw new Error('a detailWorkers has a first member')
  const { store, source, detailWorkers } = first
  return {
    store,
    sources: members.map((member) => member.source),
    sync: (options) =>
      sync({ source, store, detailWorkers, log: SILENT, now: () => NOW }, { ...OPTIONS, ...options }),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      for (const { close } of members) await close()
    },
  }
}

/** Returns a database that has the queue, because making the queue takes as long as making the store. */
function crewDatabase(): Promise<string> {
  return preparedDatabase('detailWorkers', async (address) => {
    await using store = await openStore(address, NOW)
    if (store.place.kind === 'postgres')
      await (await openPgBossQueue(store.place, SILENT))[Symbol.asyncDispose]()
  })
}

/** Counts the requests for each single lead. */
function askedOf({ requests }: Upstream): Map<string, number> {
  const ids = requests.flatMap(({ path }) => /\/leads\/(\w+)$/.exec(path)?.[1] ?? [])
  return new Map(
    Map.groupBy(ids, (id) => id)
      .entries()
      .map(([id, times]) => [id, times.length]),
  )
}

describe.skipIf(!hasPostgres)('details that several workers read for one sync', () => {
  it('are read once each, by all of them, and counted as if one had read them', async () => {
    await using upstream = await startUpstream(LEADS)
    await using detailWorkers = await openCrew(upstream.url, 3, undefined, 1)
    const done: number[] = []
    const result = await detailWorkers.sync({
      onProgress: (progress) => void (progress.part === 'details' && done.push(progress.done)),
    })
    expect(result).toMatchObject({
      ...{ outcome: 'ok', complete: true, requests: upstream.requests.length },
      details: { read: LEADS, notFound: 0, failed: 0 },
    })
    expect([...askedOf(upstream).values()]).toEqual(Array.from({ length: LEADS }, () => 1))
    expect(done.at(-1)).toBe(LEADS)
    for (const { usage } of detailWorkers.sources) expect(usage.requests).toBeGreaterThan(5)
    const rows = await detailWorkers.store.db
      .selectFrom('lead_detail')
      .select(['lead_id', 'run_id'])
      .execute()
    expect(new Set(rows.map(({ lead_id }) => lead_id)).size).toBe(LEADS)
    expect(new Set(rows.map(({ run_id }) => run_id))).toEqual(new Set([result.runId]))
    expect(await detailWorkers.sync()).toMatchObject({ details: { read: 0, notFound: 0, failed: 0 } })
  })

  it('are asked for as many at once as the settings say, over all of them', async () => {
    await using upstream = await startUpstream(LEADS)
    let atOnce = 0
    let most = 0
    const counting = (source: Source): Source => ({
      ...source,
      async fetchDetail(id, signal) {
        most = Math.max(most, ++atOnce)
        await new Promise((resolve) => setTimeout(resolve, 5))
        return source.fetchDetail(id, signal).finally(() => atOnce--)
      },
    })
    await using detailWorkers = await openCrew(upstream.url, 3, counting)
    await detailWorkers.sync({ details: { top: null, perRun: 1_000, concurrency: 2 } })
    expect(most).toBe(2)
  })

  it('leave what is gone and what fails for later, each by itself', async () => {
    await using upstream = await startUpstream(LEADS)
    const [gone = '', failing = ''] = [...upstream.leads.keys()]
    upstream.detailFaults.set(gone, status(404))
    upstream.detailFaults.set(failing, status(422))
    await using detailWorkers = await openCrew(upstream.url, 2)
    expect(await detailWorkers.sync()).toMatchObject({ details: { read: LEADS - 2, notFound: 1, failed: 1 } })
    const put = await detailWorkers.store.db
      .selectFrom('detail_queue')
      .where('failures', '>', 0)
      .selectAll()
      .execute()
    expect(put).toHaveLength(2)
  })

  it('end for all of them where ten in a row fail, and go on with the next sync', async () => {
    await using upstream = await startUpstream(LEADS)
    for (const id of upstream.leads.keys()) upstream.detailFaults.set(id, status(422))
    await using detailWorkers = await openCrew(upstream.url, 2)
    const { details, problems } = await detailWorkers.sync()
    expect(problems).toMatchObject([{ part: 'details', code: 'api_rejected' }])
    expect(problems[0]?.message).toContain('none of 10 leads in a row')
    expect(details.failed).toBeGreaterThanOrEqual(10)
    expect(details.failed).toBeLessThan(10 + 3)
    upstream.detailFaults.clear()
    expect(await detailWorkers.sync()).toMatchObject({ details: { read: LEADS - details.failed, failed: 0 } })
  })

  it('end for all of them where the upstream refuses the key, or wants to be left alone for long', async () => {
    await using upstream = await startUpstream(LEADS)
    const [, , third = ''] = [...upstream.leads.keys()]
    upstream.detailFaults.set(third, status(401))
    await using detailWorkers = await openCrew(upstream.url, 2)
    const refused = await detailWorkers.sync()
    expect(refused.problems).toMatchObject([{ part: 'details', code: 'api_unauthorized' }])
    upstream.detailFaults.set(third, status(429, { 'retry-after': '7200' }))
    const deferred = await detailWorkers.sync()
    expect(deferred).toMatchObject({ outcome: 'deferred', problems: [{ code: 'api_deferred' }] })
    expect(deferred.notBefore).not.toBeNull()
    // Any of the workers may have received this answer.
    const before = upstream.requests.length
    for (const { fetchDetail } of detailWorkers.sources)
      await expect(fetchDetail(third)).rejects.toMatchObject({ code: 'api_deferred' } as LeadsheetError)
    expect(upstream.requests).toHaveLength(before)
  })

  it('pass over a lead that a mistake of ours keeps from being read, and say so', async () => {
    await using upstream = await startUpstream(40)
    const [broken = ''] = [...upstream.leads.keys()]
    const breaking = (source: Source): Source => ({
      ...source,
      fetchDetail: (id, signal) =>
        id === broken ? Promise.reject(new TypeError('no such field')) : source.fetchDetail(id, signal),
    })
    await using detailWorkers = await openCrew(upstream.url, 2, breaking)
    expect(await detailWorkers.sync()).toMatchObject({ details: { read: 39, notFound: 0, failed: 1 } })
    const put = await detailWorkers.store.db
      .selectFrom('detail_queue')
      .where('failures', '>', 0)
      .selectAll()
      .execute()
    expect(put).toMatchObject([{ failures: 1, last_error: 'no such field' }])
  })

  it('wait for the next sync where the time of this one is over', async () => {
    await using upstream = await startUpstream(LEADS)
    const stop = new AbortController()
    let asked = 0
    const slow = (source: Source): Source => ({
      ...source,
      async fetchDetail(id, signal) {
        if (++asked === LEADS / 2) stop.abort(new DOMException('the time is over', 'TimeoutError'))
        await new Promise((resolve) => setTimeout(resolve, 50))
        return source.fetchDetail(id, signal)
      },
    })
    await using detailWorkers = await openCrew(upstream.url, 2, slow)
    await detailWorkers.sync({ parts: ['leads'] })
    const first = await detailWorkers.sync({ parts: ['details'], signal: stop.signal })
    expect(first.problems).toEqual([])
    expect(first.details.read).toBeGreaterThan(0)
    expect(first.details.read).toBeLessThan(LEADS)
    const second = await detailWorkers.sync({ parts: ['details'] })
    expect(first.details.read + second.details.read).toBe(LEADS)
  })
})

describe.skipIf(!hasPostgres)('an upstream with a limit that several workers ask', () => {
  it.each([
    ['that it tells with each answer', true],
    ['that it tells when it is used up', false],
  ])('%s refuses no more than it would one, and all is read', async (_what, tells) => {
    const refused: number[] = []
    for (const workers of [1, 4]) {
      await using upstream = await openLimited(tells)
      await using detailWorkers = await openCrew(upstream.url, workers)
      const details = { top: null, perRun: 60, concurrency: 4 }
      expect(await detailWorkers.sync({ details })).toMatchObject({ outcome: 'ok', details: { read: 60 } })
      refused.push(upstream.refused())
    }
    const [alone = 0, together = 0] = refused
    // Requests that were under way when the budget was used up may be added.
    expect(together).toBeLessThanOrEqual(alone + 3)
    if (tells) expect(together).toBeLessThanOrEqual(3)
  })
})

/** Opens an upstream that answers at most twenty-five requests a second. */
async function openLimited(tells: boolean) {
  const leads = Array.from({ length: LEADS }, (_, number) => generateLead(number))
  let refused = 0
  let window = 0
  let used = 0
  const server = createServer((request, response) => {
    const at = Date.now()
    const current = Math.floor(at / 1_000)
    if (current !== window) used = 0
    window = current
    const left = 25 - ++used
    if (tells) response.setHeader('ratelimit-remaining', Math.max(0, left)).setHeader('ratelimit-reset', 1)
    if (left < 0) {
      refused++
      response.writeHead(429, { 'retry-after': '1' })
      return response.end()
    }
    const id = /\/leads\/(\w+)$/.exec(request.url ?? '')?.[1]
    const lead = leads.find((each) => each.id === id)
    const body = lead
      ? { enrichment: null, activity: [], ...lead }
      : { data: leads, page: { next_cursor: null, has_more: false, total: LEADS } }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    refused: () => refused,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Workers that share a store keep to one limit of the upstream together. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { openSharedRequestRate } from '../../../src/store/sync/request-rate.ts'
import { openSource } from '../../../src/upstream/source.ts'
import { generateLead } from '../../bench/generate.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { SILENT } from '../../support/syncing.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const LEADS = 60
/** The number of details that all workers together read at the same time. */
const AT_ONCE = 4

/** Reads the details of all leads by so many workers, each with its own connections and client. */
async function readDetails(url: string, workers: number): Promise<void> {
  const address = await newDatabase()
  const rest = Array.from({ length: LEADS }, (_, number) => generateLead(number).id).values()
  await using opened = new AsyncDisposableStack()
  const readers: Promise<void>[] = []
  for (let worker = 0; worker < workers; worker++) {
    const store = opened.use(await openStore(address, NOW))
    const source = openSource({
      baseUrl: url,
      apiKey: 'test-key',
      maxWaitMs: 60_000,
      log: SILENT,
      backoff: { attempts: 5, baseMs: 0, maxMs: 0 },
      requestRate: openSharedRequestRate(store),
    })
    opened.defer(() => source.close())
    const read = async (): Promise<void> => {
      for (const id of rest) await source.fetchDetail(id)
    }
    for (let reader = 0; reader < AT_ONCE / workers; reader++) readers.push(read())
  }
  await Promise.all(readers)
}

describe.skipIf(!hasPostgres)('an upstream with a limit that several workers ask', () => {
  it.each([
    ['that it tells with each answer', true],
    ['that it tells when it is used up', false],
  ])('%s refuses no more than it would one, and all is read', async (_what, tells) => {
    const refused: number[] = []
    for (const workers of [1, 4]) {
      await using upstream = await openLimited(tells)
      await readDetails(upstream.url, workers)
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

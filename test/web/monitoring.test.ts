/** Tests the probes: their answers to machines, and the information that they keep back. */
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import type { CheckResult, Part } from '../../src/checks/check.ts'
import { fail, ok, warn } from '../../src/checks/check.ts'
import { readHealth } from '../../src/checks/run-checks.ts'
import { LeadsheetError } from '../../src/errors.ts'
import { readMeasures } from '../../src/jobs/metric-values.ts'
import { fileOf } from '../../src/store/db/place.ts'
import { isWriteLocked } from '../../src/store/db/sqlite.ts'
import type { Store } from '../../src/store/db/store.ts'
import { openStore } from '../../src/store/open.ts'
import { addCounts, noteLeadsAsOf, startRun } from '../../src/store/sync/sync-run.ts'
import { healthRoutes, openMetrics } from '../../src/web/monitoring.ts'
import { event, follow, receive } from '../support/data/events.ts'
import { LATEST, timing } from '../support/schedule/schedule.ts'
import { openEmptyStore, saveWholeRun } from '../support/store.ts'
import { SILENT } from '../support/syncing.ts'
import { bareInstallation } from '../support/web/installation.ts'
import { readMetrics } from '../support/web/prometheus.ts'
import { openTestWeb } from '../support/web/server.ts'

const SECRET = 'ana@example.com of report:merger'
const WELL = [
  ok('database', 'can be written'),
  ok('daemon', 'lives'),
  ok('leads', 'read 4 min ago'),
  ok('schedules', 'none is behind'),
]

const reading =
  (...checks: readonly CheckResult<Part>[]) =>
  async () => ({ checks })
const failing = (error: Error) => () => Promise.reject(error)

/** Serves the probes of a daemon that is well but for the change, and returns a function that asks for a path. */
async function serve(change: Partial<Parameters<typeof healthRoutes>[0]>) {
  const well = { readHealth: reading(...WELL), sinceTickMs: () => 0, isLocked: () => false, log: SILENT }
  const { url } = await openTestWeb({}, [healthRoutes({ ...well, ...change })])
  return async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method })
    return { status: response.status, body: await response.text(), headers: response.headers }
  }
}

it.each([
  ['lives while it ticks, also where nothing else is well', 0, 200, '{"live":true}\n'],
  ['does not live after three minutes without a tick', 180_001, 503, '{"live":false}\n'],
])('a daemon %s', async (_, sinceTickMs, status, body) => {
  const ask = await serve({ readHealth: failing(new Error('SQLITE_IOERR')), sinceTickMs: () => sinceTickMs })
  expect(await ask('/healthz')).toMatchObject({ status, body })
  expect(await ask('/healthz', 'HEAD')).toMatchObject({ status, body: '' })
})

it.each<[string, Parameters<typeof healthRoutes>[0]['readHealth'], boolean?]>([
  ['well, though mails wait', reading(...WELL, warn('messages', 'the mail server is away', 'wait'))],
  [
    'old data and a schedule behind',
    reading(
      fail('leads', SECRET, SECRET),
      fail('schedules', `behind: ${SECRET}`, SECRET),
      fail('messages', SECRET, SECRET),
    ),
  ],
  ['a database that cannot be read', failing(new Error(SECRET))],
  ['a server that cannot be reached', failing(new LeadsheetError('store_unreachable', SECRET))],
  ['a heartbeat that a lock keeps out', reading(fail('daemon', SECRET, SECRET)), true],
])(
  'whether all is ready is told, with nothing that is not for everybody: %s',
  async (name, readHealth, isLocked = false) => {
    const ask = await serve({ readHealth, isLocked: () => isLocked })
    const { status, body, headers } = await ask('/readyz')
    expect(body).not.toContain(SECRET)
    await expect(`${status} ${body}`).toMatchFileSnapshot(`golden/ready-${name.replaceAll(/\W+/g, '-')}.txt`)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-store')
  },
)

it('a database that another process has locked is said to be locked, and is ready again afterwards', async () => {
  const store = await openEmptyStore()
  const file = fileOf(store)
  const ask = await serve({
    readHealth: () => readHealth(bareInstallation(store), new Date()),
    isLocked: () => isWriteLocked(file),
  })
  const reasons = async (): Promise<string[]> => JSON.parse((await ask('/readyz')).body).reasons
  using other = Object.assign(new Database(file), { [Symbol.dispose]: () => void other.close() })
  other.exec('BEGIN IMMEDIATE')
  // A write that waits for the lock keeps the connection, so that nothing can be read meanwhile.
  const waiting = store.write((trx) => trx.selectFrom('lead').selectAll().execute())
  expect(await reasons()).toEqual(['the database is locked by another process'])
  other.exec('ROLLBACK')
  await waiting
  await expect.poll(reasons).not.toContain('the database is locked by another process')
})

it('who asks again at once does not make the database work', async () => {
  let reads = 0
  const readHealth = async () => ({ checks: WELL, reads: ++reads })
  const ask = await serve({ readHealth })
  for (let time = 0; time < 5; time++) await ask('/readyz')
  expect(reads).toBe(1)
})

/*
 * Tests /metrics: names and units by the rules of Prometheus, and values from the store, never ahead of a
 * commit.
 */

const NOW = new Date('2026-11-21T12:00:00Z')

async function serveMetrics() {
  const store = await openEmptyStore()
  onTestFinished(store.close)
  const sync = { name: 'sync', timing: timing('*/15 * * * *'), catchUp: LATEST }
  const installation = bareInstallation(store, { schedules: [sync] })
  const measure = (at: Date) => readMeasures(installation, at)
  const metrics = openMetrics({ measure, now: () => NOW, version: '1.2.3' })
  const server = await openTestWeb({ onAnswer: metrics.countAnswer }, [
    metrics.routes,
    (app) => app.get('/preferences/:token', (_, reply) => reply.code(404).send()),
  ])
  const scrape = async () => (await fetch(`${server.url}/metrics`)).text()
  /** Returns the values of the metrics whose names begin so. */
  const read = async (...names: readonly string[]) => {
    const lines = (await scrape()).split('\n')
    return lines.filter((line) => names.some((name) => line.startsWith(`leadsheet_${name}`))).join('\n')
  }
  return { store, scrape, read, ask: (path: string) => fetch(`${server.url}${path}`) }
}

/** Saves one finished run with so many requests. */
async function endRun(store: Store, requests: number): Promise<void> {
  const id = await saveWholeRun(store, '2026-11-21T11:00:00Z')
  await store.db
    .updateTable('sync_run')
    .where('id', '=', id)
    .set({ outcome: 'ok', finished_at: NOW.toISOString(), requests, leads_inserted: 5, duration_ms: 2_500 })
    .execute()
}

it('metrics are named as Prometheus wants, in base units, and have help', async () => {
  const { scrape } = await serveMetrics()
  const metrics = readMetrics(await scrape())
  expect(metrics.size).toBeGreaterThan(35)
  for (const { name, type, help } of metrics.values()) {
    expect(name).toMatch(/^[a-z][a-z\d_]*$/)
    expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|days|[kmg]b|percent|count|sum|bucket)(_|$)/)
    expect([name, help === '', name.endsWith('_total')]).toEqual([name, false, type === 'counter'])
  }
  // An event that has never been has no value, rather than one of 1970.
  for (const name of ['daemon_last_heartbeat_timestamp', 'sync_last_duration'])
    expect(metrics.get(`leadsheet_${name}_seconds`)?.samples, name).toEqual([])
})

it('the time of the last success moves with the commit that ends the reading, while rows count page by page', async () => {
  const { store, read } = await serveMetrics()
  const names = ['last_success', 'sync_rows', 'sync_running', 'data_lag']
  const begin = { mode: 'full', parts: ['leads'], at: '2026-11-21T11:00:00.000Z' } as const
  const runId = await store.write(async (trx) => {
    const id = await startRun(trx, begin)
    await addCounts(trx, id, { pages: 1, leads_seen: 7, leads_inserted: 7 })
    return id
  })
  const during = await read(...names)
  await store.write((trx) => noteLeadsAsOf(trx, runId, begin.at))
  await expect(`${during}\n\n${await read(...names)}`).toMatchFileSnapshot('golden/metrics-success.txt')
})

it('counts what other processes did, once, however often and by however many it is read at a time', async () => {
  const { store, read } = await serveMetrics()
  await endRun(store, 3)
  await read('sync')
  await using other = await openStore(fileOf(store), NOW)
  await endRun(other, 4)
  const all = await Promise.all(Array.from({ length: 8 }, () => read('sync')))
  const last = await read('sync')
  expect(all).toEqual(Array(8).fill(last))
  await expect(last).toMatchFileSnapshot('golden/metrics-sync.txt')
})

it('requests are counted by their route, never by an address that holds a link', async () => {
  const { read, ask } = await serveMetrics()
  await ask('/preferences/the-link-of-ana')
  await ask('/wp-login.php')
  const requests = await read('http_requests')
  await expect(requests).toMatchFileSnapshot('golden/metrics-requests.txt')
  expect(requests).not.toContain('ana')
})

it('events of the last day are counted by what became of them', async () => {
  const { store, read } = await serveMetrics()
  await receive(store, [event('1'), event('2'), event('3', { resourceId: 'b' })], '2026-11-21T11:50:00.000Z')
  await receive(store, [event('1'), event('4', { problem: 'it has no id' })], '2026-11-21T11:50:01.000Z')
  await follow(store, 'a', { at: '2026-11-21T11:50:02.500Z', outcome: 'updated' })
  await expect(await read('events')).toMatchFileSnapshot('golden/metrics-events.txt')
})

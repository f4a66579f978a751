/** Tests the probes: their answers to machines, and the information that they keep back. */
import { expect, it, onTestFinished } from 'vitest'
import { type CheckResult, fail, ok, type Part, warn } from '../../src/checks/check.ts'
import { openWebPages } from '../../src/report/preferences/page.ts'
import { healthRoutes } from '../../src/web/health.ts'
import { openWeb } from '../../src/web/server/server.ts'
import { TEMPLATES_FOLDER } from '../support/report.ts'
import { SILENT } from '../support/syncing.ts'
import { openDashboard } from '../support/web/dashboard.ts'

const SECRET = 'ana@example.com of report:merger'
const WELL = [
  ok('database', 'can be written'),
  ok('daemon', 'lives'),
  ok('leads', 'read 4 min ago'),
  ok('schedules', 'none is behind'),
]

async function serve({
  checks = WELL as readonly CheckResult<Part>[] | Error,
  sinceTickMs = 0,
}: {
  checks?: readonly CheckResult<Part>[] | Error
  sinceTickMs?: number
}) {
  let reads = 0
  const readHealth = async () => {
    reads++
    if (checks instanceof Error) throw checks
    return { checks }
  }
  const pages = await openWebPages(TEMPLATES_FOLDER)
  const server = await openWeb({ host: '127.0.0.1', port: 0, publicUrl: null, pages, log: SILENT }, [
    healthRoutes({ readHealth, sinceTickMs: () => sinceTickMs, log: SILENT }),
  ])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`${server.url}${path}`, { method })
    return { status: response.status, body: await response.text(), headers: response.headers }
  }
  return { ask, reads: () => reads }
}

it('the process lives while the daemon ticks, also where nothing else is well', async () => {
  const { ask } = await serve({ checks: new Error('SQLITE_IOERR') })
  expect(await ask('/healthz')).toMatchObject({ status: 200, body: '{"live":true}\n' })
})

it('a daemon that has not ticked for three minutes does not live, and is to be started again', async () => {
  const { ask } = await serve({ sinceTickMs: 180_001 })
  expect(await ask('/healthz')).toMatchObject({ status: 503, body: '{"live":false}\n' })
})

it('what it has is good while the data are fresh, the database can be written and no schedule is behind', async () => {
  const { ask } = await serve({ checks: [...WELL, warn('messages', 'the mail server is away', 'wait')] })
  const { status, body } = await ask('/readyz')
  expect([status, JSON.parse(body)]).toEqual([
    200,
    {
      ready: true,
      reasons: [],
      checks: { database: 'ok', daemon: 'ok', leads: 'ok', schedules: 'ok' },
    },
  ])
})

it('else it says what is not, and nothing that is not for everybody', async () => {
  const behind = fail('schedules', `behind: ${SECRET}`, SECRET)
  const { ask } = await serve({
    checks: [fail('leads', SECRET, SECRET), behind, fail('messages', SECRET, SECRET)],
  })
  const { status, body, headers } = await ask('/readyz')
  expect([status, JSON.parse(body)]).toEqual([
    503,
    {
      ready: false,
      reasons: ['the data are not fresh enough', 'a schedule is behind'],
      checks: { leads: 'fail', schedules: 'fail' },
    },
  ])
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('cache-control')).toBe('no-store')
})

it('a database that cannot be read is not ready, and its message stays inside', async () => {
  const { ask } = await serve({ checks: new Error(SECRET) })
  const { status, body } = await ask('/readyz')
  expect([status, JSON.parse(body).reasons]).toEqual([503, ['the database cannot be read']])
  expect(body).not.toContain(SECRET)
})

it('both answer a HEAD', async () => {
  const { ask } = await serve({ checks: [fail('leads', 'old', 'sync')] })
  expect(await ask('/healthz', 'HEAD')).toMatchObject({ status: 200, body: '' })
  expect(await ask('/readyz', 'HEAD')).toMatchObject({ status: 503, body: '' })
})

it('who asks again at once does not make the database work', async () => {
  const { ask, reads } = await serve({})
  for (let time = 0; time < 5; time++) await ask('/readyz')
  expect(reads()).toBe(1)
})

it('those who ask again and again are never refused, whoever is behind the same address', async () => {
  const { url } = await openDashboard()
  const statuses = new Set<number>()
  for (let asked = 0; asked < 130; asked++) statuses.add((await fetch(`${url}/healthz`)).status)
  expect([...statuses]).toEqual([200])
  expect([200, 503]).toContain((await fetch(`${url}/readyz`)).status)
})

/**
 * PostgreSQL is stopped, crashes or is cut off during a first load. The load ends complete and without help.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { findViolations } from '../../../src/store/invariants/invariants.ts'
import { openStore } from '../../../src/store/open.ts'
import { findLastCompleteRun } from '../../../src/store/sync/sync-run.ts'
import { folderWith } from '../../support/folder.ts'
import { finished } from '../../support/leadsheet.ts'
import { openTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { type OwnPostgres, startOwnPostgres } from '../../support/postgres/own-postgres.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { run, start } from '../support/program.ts'
import { sampleOf } from '../support/scale.ts'

const LEADS = 4_000
const ANSWER_MS = 200
const PAGE_SIZE = 50
const WHOLE_WITHIN_MS = 4 * 60_000
/** The limit for a worker's log lines during an outage. */
const LINES_MAX = 40

/** Settings with only the first full sync and its retries. */
const SETTINGS = `
api: { page_size: ${PAGE_SIZE} }
enrichment: { policy: none }
snapshot: { when: never }
reports: []
`

const TROUBLES: readonly {
  readonly name: string
  readonly befall: (postgres: OwnPostgres, proxy: TcpProxy) => Promise<void>
}[] = [
  {
    name: 'is stopped and started again',
    async befall(postgres) {
      await postgres.stop('fast')
      await postgres.start()
    },
  },
  {
    name: 'crashes and is started again',
    async befall(postgres) {
      await postgres.stop('immediate')
      await postgres.start()
    },
  },
  { name: 'loses all connections', befall: async (_, proxy) => proxy.cut() },
  {
    name: 'is out of reach for 10 s',
    async befall(_, proxy) {
      await proxy.refuse(true)
      proxy.cut()
      await sleep(10_000)
      await proxy.refuse(false)
    },
  },
  {
    name: 'says nothing for 20 s',
    async befall(_, proxy) {
      proxy.stall(true)
      await sleep(20_000)
      proxy.stall(false)
    },
  },
]

describe.skipIf(!hasPostgres)('a PostgreSQL in mid-sync', () => {
  it.each(sampleOf(TROUBLES, 1))('that $name: its workers go on, and copy all leads', async ({ befall }) => {
    const postgres = await startOwnPostgres()
    await using proxy = await openTcpProxy(Number(new URL(postgres.url).port))
    const env = {
      LEADSHEET_DATABASE_URL: proxy.urlOf(postgres.url),
      LEADSHEET_API_KEY: 'key',
      LEADSHEET_API_URL: await startSlowUpstream(),
      LEADSHEET_SMTP_URL: 'file:./outbox',
      LEADSHEET_FROM: 'reports@example.com',
    }
    const begin = () => start({ args: ['run'], cwd: folderWith({ 'leadsheet.yaml': SETTINGS }), env })
    {
      await using _ = await openStore(postgres.url, new Date())
    }
    const workers = [begin(), begin()]
    const ends = workers.map(finished)
    await expect.poll(() => look(postgres, countLeads), { timeout: 60_000 }).toBeGreaterThan(0)
    expect(await look(postgres, countLeads)).toBeLessThan(LEADS)
    await befall(postgres, proxy)
    await expect.poll(() => look(postgres, isWhole), { timeout: WHOLE_WITHIN_MS, interval: 1_000 }).toBe(true)
    for (const worker of workers) worker.kill('SIGTERM')
    const lines = (await Promise.all(ends)).map(({ stdout, stderr }) => `${stdout}${stderr}`.split('\n'))
    await using store = await openStore(postgres.url, new Date())
    expect(await countLeads(store)).toBe(LEADS)
    expect(await findViolations(store.db, new Date().toISOString(), 'all')).toEqual([])
    for (const told of lines) {
      expect(told.filter((line) => line.includes('is away')).length).toBeLessThanOrEqual(1)
      expect(told.length, told.join('\n')).toBeLessThan(LINES_MAX)
    }
  })

  it('that is gone: `leadsheet sync` ends with word of it', async () => {
    const postgres = await startOwnPostgres()
    const env = {
      LEADSHEET_DATABASE_URL: postgres.url,
      LEADSHEET_API_KEY: 'key',
      LEADSHEET_API_URL: 'http://127.0.0.1:1',
    }
    await postgres.stop('fast')
    const { status, stderr } = await run({ args: ['sync'], cwd: folderWith({}), env })
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('cannot be reached'),
    })
  }, 120_000)
})

async function startSlowUpstream(): Promise<string> {
  const script = join(import.meta.dirname, '../../bench/slow-upstream.ts')
  const child = spawn(process.execPath, [script, String(LEADS), String(ANSWER_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill())
  const [url] = await once(child.stdout, 'data')
  return String(url).trim()
}

/** Queries the store over a connection of its own, which the outage does not affect. */
async function look<T>(postgres: OwnPostgres, ask: (store: Store) => Promise<T>): Promise<T> {
  await using store = await openStore(postgres.url, new Date())
  // The result is awaited here, because the store is closed afterwards.
  return await ask(store)
}

async function countLeads({ db }: Store): Promise<number> {
  const { leads } = await db
    .selectFrom('lead')
    .select((of) => of.fn.countAll<number>().as('leads'))
    .executeTakeFirstOrThrow()
  return leads
}

async function isWhole({ db }: Store): Promise<boolean> {
  return (await findLastCompleteRun(db)) !== undefined
}

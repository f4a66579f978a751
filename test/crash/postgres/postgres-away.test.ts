/**
 * PostgreSQL is stopped, crashes or is cut off during a first load. The load ends complete and without help.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { findLastCompleteRun } from '../../../src/store/sync/sync-run.ts'
import { startUpstream } from '../../bench/programs.ts'
import { folderWith } from '../../support/folder.ts'
import { finished } from '../../support/leadsheet.ts'
import { openTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { type OwnPostgres, startOwnPostgres } from '../../support/postgres/own-postgres.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { start } from '../support/program.ts'
import { sampleOf } from '../support/scale.ts'
import { expectSound } from '../support/store.ts'

const LEADS = 20_000
const WHOLE_WITHIN_MS = 4 * 60_000
/** The limit for a worker's log lines during an outage. */
const LINES_MAX = 40

/** Settings with only the first full sync and its retries. */
const SETTINGS = `
api: { page_size: 500 }
enrichment: { policy: none }
snapshot: { when: never }
reports: []
`

type Trouble = (postgres: OwnPostgres, proxy: TcpProxy) => Promise<void>

const stopAndStart =
  (how: 'fast' | 'immediate'): Trouble =>
  async (postgres) => {
    await postgres.stop(how)
    await postgres.start()
  }

const TROUBLES: readonly (readonly [string, Trouble])[] = [
  ['is stopped and started again', stopAndStart('fast')],
  ['crashes and is started again', stopAndStart('immediate')],
  ['loses all connections', async (_, proxy) => proxy.cut()],
  [
    'is out of reach for 10 s',
    async (_, proxy) => {
      await proxy.refuse(true)
      proxy.cut()
      await sleep(10_000)
      await proxy.refuse(false)
    },
  ],
  [
    'says nothing for 20 s',
    async (_, proxy) => {
      proxy.stall(true)
      await sleep(20_000)
      proxy.stall(false)
    },
  ],
]

describe.skipIf(!hasPostgres)('a PostgreSQL in mid-sync', () => {
  it.each(sampleOf(TROUBLES, 1))('that %s: its workers go on, and copy all leads', async (_, befall) => {
    const postgres = await startOwnPostgres()
    await using upstream = await startUpstream(LEADS)
    await using proxy = await openTcpProxy(Number(new URL(postgres.url).port))
    const env = {
      LEADSHEET_DATABASE_URL: proxy.urlOf(postgres.url),
      LEADSHEET_API_KEY: 'key',
      LEADSHEET_API_URL: `${upstream.address}/slow-v1`,
      LEADSHEET_MAIL_URL: 'file:./outbox',
      LEADSHEET_FROM: 'reports@example.com',
    }
    const begin = () => start({ args: ['run'], cwd: folderWith({ 'leadsheet.yaml': SETTINGS }), env })
    // The schema is made before the workers start.
    await (await openStore(postgres.url, new Date())).close()
    const workers = [begin(), begin()]
    const ends = workers.map(finished)
    await expect.poll(() => look(postgres, countLeads), { timeout: 60_000 }).toBeGreaterThan(0)
    expect(await look(postgres, countLeads)).toBeLessThan(LEADS)
    await befall(postgres, proxy)
    await expect.poll(() => look(postgres, isWhole), { timeout: WHOLE_WITHIN_MS, interval: 1_000 }).toBe(true)
    for (const worker of workers) worker.kill('SIGTERM')
    const lines = (await Promise.all(ends)).map(({ stdout, stderr }) => `${stdout}${stderr}`.split('\n'))
    expect(await look(postgres, countLeads)).toBe(LEADS)
    await expectSound(postgres.url)
    for (const told of lines) {
      expect(told.filter((line) => line.includes('is away')).length).toBeLessThanOrEqual(1)
      expect(told.length, told.join('\n')).toBeLessThan(LINES_MAX)
    }
  })
})

/** Queries the store over a connection of its own, which the outage does not affect. */
async function look<T>(postgres: OwnPostgres, ask: (store: Store) => Promise<T>): Promise<T> {
  await using store = await openStore(postgres.url, new Date())
  // The result is awaited here, because the store is closed afterwards.
  return await ask(store)
}

async function countLeads({ db }: Store): Promise<number> {
  return (await db.selectFrom('lead').select('id').execute()).length
}

async function isWhole({ db }: Store): Promise<boolean> {
  return (await findLastCompleteRun(db)) !== undefined
}

/** A daemon changes to new settings. It runs in the process of the test. */

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ReloadDeps, runThroughReloads } from '../../src/app/hot-reload.ts'
import { loadConfig } from '../../src/config/load.ts'
import { fileOf } from '../../src/store/db/place.ts'
import type { Store } from '../../src/store/db/store.ts'
import { openStore } from '../../src/store/open.ts'
import { addScheduledRun } from '../../src/store/schedule/scheduled-run.ts'
import { folderWith } from '../support/folder.ts'
import { openMailServer } from '../support/mail-server.ts'
import { freePort } from '../support/network/free-port.ts'
import { hourlyNotNow, makeReportDue } from '../support/reports/due-report.ts'
import { type Fault, startUpstream, type Upstream } from '../support/upstream.ts'

const SETTINGS = `
data_dir: .
reports: []
api: { page_size: 10 }
web: { listen: 127.0.0.1:0 }
`

interface Running {
  readonly folder: string
  readonly store: Store
  readonly upstream: Upstream
  readonly lines: readonly string[]
  /** The addresses of the pages of each started daemon. */
  readonly pages: readonly (string | null)[]
  /** Writes other settings and sends the signal. Resolves when they are in force or refused. */
  reload(settings: string): Promise<void>
  readonly wake: () => void
  readonly end: Promise<void>
  stop(): Promise<void>
}

interface StartOptions {
  readonly leads?: number
  readonly faults?: readonly Fault[]
  /** Fills the store as an earlier daemon would have left it; by default no sync is due. */
  readonly prepare?: (store: Store) => Promise<void>
}

/**
 * Makes no sync due. A sync's thread takes longer to start than the daemon, and would look for the database of the
 * settings until it gives up.
 */
const noneDue = (store: Store): Promise<void> =>
  store.write(async (trx) => {
    const at = new Date().toISOString()
    const run = { due_at: at, state: 'skipped' as const, noted_at: at, not_before: null, message: null }
    for (const schedule of ['sync', 'sync-full']) await addScheduledRun(trx, { schedule, ...run })
  })

async function start(
  settings = SETTINGS,
  { leads = 5, faults = [], prepare = noneDue }: StartOptions = {},
): Promise<Running> {
  const upstream = await startUpstream(leads)
  upstream.faults.push(...faults)
  const folder = folderWith({ 'leadsheet.yaml': settings })
  const file = join(folder, 'leadsheet.yaml')
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }
  const read = () => loadConfig({ file, cwd: folder, env })
  const store = await openStore(join(folder, 'leadsheet.db'), new Date())
  await prepare(store)
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(line) })
  const stopping = new AbortController()
  const pages: (string | null)[] = []
  let wake = (): void => {}
  const terminal: ReloadDeps['terminal'] = {
    signal: stopping.signal,
    readConfigAnew: async () => read(),
    logAs: async () => {},
  }
  const tellStarted: ReloadDeps['tellStarted'] = (_, { web }) => void pages.push(web)
  const readings = async (): Promise<number> =>
    (await store.db.selectFrom('config_load').select('id').execute()).length
  const takeReload: ReloadDeps['takeReload'] = (reload) => {
    wake = reload
  }
  const end = runThroughReloads({ terminal, store, log, takeReload, tellStarted }, read(), new Date())
  end.catch(() => {})
  const until = async (isReached: () => Promise<boolean>): Promise<void> => {
    const ended = end.then(() => true)
    while (!(await isReached())) {
      if (await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 10, false))])) return
    }
  }
  await until(async () => (await readings()) > 0)
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('stopped'))
    await end
  }
  onTestFinished(async () => {
    await stop().catch(() => {})
    await store.close()
    await upstream[Symbol.asyncDispose]()
  })
  return {
    ...{ folder, store, upstream, lines, pages, end, stop },
    wake: () => wake(),
    async reload(changed) {
      const before = await readings()
      writeFileSync(file, changed)
      wake()
      await until(async () => (await readings()) > before)
    },
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}

const readingsIn = async (store: Store) =>
  (await store.db.selectFrom('config_load').select('refused').orderBy('id').execute()).map(
    (row) => row.refused,
  )
const changedIn = async (store: Store) =>
  (await store.db.selectFrom('config_load').select('changed').orderBy('id').execute()).map(
    (row) => row.changed,
  )
const scheduledRunsIn = (store: Store) =>
  store.db.selectFrom('scheduled_run').where('schedule', '=', 'sync').select(['state', 'attempts']).execute()

describe('new settings that are right', () => {
  it('are gone over to in the same process, with the lease of a daemon and its pages', async () => {
    const daemon = await start()
    await daemon.reload(`${SETTINGS}sync: { schedule: '0 5 * * *' }\n`)
    expect(await readingsIn(daemon.store)).toEqual([null, null])
    expect(daemon.lines.join('')).toContain('"changed":["sync.schedule"],"msg":"the settings are in force"')
    const leases = await daemon.store.db.selectFrom('lease').select(['name', 'pid']).execute()
    expect(leases).toContainEqual({ name: 'daemon', pid: process.pid })
    const [first, second] = daemon.pages
    await expect(fetch(`${first}/healthz`)).rejects.toThrow()
    expect((await fetch(`${second}/web.css`)).status).toBe(200)
  })

  it('leave the pages where they are, though somebody is just reading them', async () => {
    const port = await freePort()
    const daemon = await start(SETTINGS.replace(':0', `:${port}`))
    const reader = connect(port, '127.0.0.1')
    reader.on('error', () => {})
    const isCut = once(reader, 'close')
    reader.write('GET /web.css HTTP/1.1\r\nHost: localhost\r\n\r\nGET /web.css HTTP/1.1\r\n')
    await once(reader, 'data')
    await daemon.reload(`${SETTINGS.replace(':0', `:${port}`)}log_level: warn\n`)
    await isCut
    expect(daemon.pages).toEqual([`http://127.0.0.1:${port}`, `http://127.0.0.1:${port}`])
    expect((await fetch(`${daemon.pages[1]}/web.css`)).status).toBe(200)
  })

  it('leave no sync behind that was in hand: it goes on where it was', async () => {
    const held = Promise.withResolvers<void>()
    const pass = () => false
    const hold = () => {
      held.resolve()
      return true
    }
    const daemon = await start(SETTINGS, {
      ...{ leads: 100, faults: [pass, pass, pass, hold] },
      prepare: async () => {},
    })
    await held.promise
    daemon.upstream.requests.length = 0
    await daemon.reload(`${SETTINGS}log_level: warn\n`)
    while ((await scheduledRunsIn(daemon.store)).some(({ state }) => state !== 'done')) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(daemon.upstream.requests[0]?.path).toContain('cursor=')
    expect(await daemon.store.db.selectFrom('lead').select('id').execute()).toHaveLength(100)
  })
})

it('new settings lose no message that is just leaving, and none that waits behind it', async () => {
  const held = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  await using mail = await openMailServer({}, async () => {
    held.resolve()
    await free.promise
  })
  const recipients = ['ana@example.com', 'ben@example.com', 'cem@example.com']
  const settings = SETTINGS.replace('[]', `[{ name: daily, schedule: '${hourlyNotNow()}' }]`).concat(`
recipients: [${recipients.join(', ')}]
smtp: { url: ${mail.url} }
mail: { from: reports@example.com, per_minute: 600 }
snapshot: { when: never }
`)
  const daemon = await start(settings, { prepare: (store) => makeReportDue(fileOf(store)) })
  await held.promise
  setTimeout(free.resolve, 300)
  await daemon.reload(`${settings}log_level: warn\n`)
  const states = async (): Promise<string[]> =>
    (await daemon.store.db.selectFrom('delivery').select('state').execute()).map(({ state }) => state)
  await expect.poll(states).toEqual(recipients.map(() => 'sent'))
  expect(mail.received.map(({ to }) => to[0]).toSorted()).toEqual(recipients)
  expect(await readingsIn(daemon.store)).toEqual([null, null])
  // Stopping waits until all connections have ended.
  await daemon.stop()
})

/** The store is named, so that it does not move with the data directory. */
const ELSEWHERE = `${SETTINGS}sync: { schedule: '${hourlyNotNow()}' }
database_url: postgres://leadsheet@db.example.com/leadsheet
`

describe('new settings that are wrong', () => {
  it.each([
    ['a mistake', `${SETTINGS}time_zone: Mars/Olympus\n`, 'time_zone'],
    ['a requirement that is not met', SETTINGS.replace('[]', '[{ name: daily }]'), 'smtp.url'],
    [
      'another data directory',
      ELSEWHERE.replace('data_dir: .', 'data_dir: other'),
      'data_dir cannot change',
      ELSEWHERE,
    ],
    ['another store', ELSEWHERE, 'database_url cannot change'],
    [
      'a report whose template is not there',
      SETTINGS.replace(
        '[]',
        '[{ name: none-such, recipients: [a@example.com] }]\nsmtp: { url: "file:./outbox" }\nmail: { from: b@example.com }',
      ),
      'none-such',
    ],
  ])(
    'are refused with %s, and those of before stay in force',
    async (_name, settings, why, before = SETTINGS) => {
      const daemon = await start(before)
      await daemon.reload(settings)
      const [first, second] = await readingsIn(daemon.store)
      expect(first).toBeNull()
      expect(second).toContain(why)
      expect(daemon.pages).toHaveLength(1)
      expect((await fetch(`${daemon.pages[0]}/web.css`)).status).toBe(200)
      expect(daemon.lines.join('')).toContain('the settings of before stay in force')
      await daemon.reload(before)
      expect(await readingsIn(daemon.store)).toEqual([null, second, null])
    },
  )

  it('are left again where the daemon cannot start with them', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const taken = `127.0.0.1:${portOf(other)}`
    const daemon = await start()
    await daemon.reload(SETTINGS.replace('127.0.0.1:0', taken))
    while (daemon.pages.length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(await readingsIn(daemon.store)).toEqual([null, expect.stringContaining(taken), null])
    expect((await fetch(`${daemon.pages[1]}/web.css`)).status).toBe(200)
    await daemon.reload(`${SETTINGS}log_level: warn\n`)
    expect(await changedIn(daemon.store)).toEqual([null, null, null, '["log_level"]'])
  })
})

it('a daemon that is told to stop while it checks new settings stops', async () => {
  const daemon = await start()
  daemon.wake()
  await daemon.stop()
  expect(await daemon.store.db.selectFrom('lease').select('name').execute()).toEqual([])
})

/** A daemon whose sync, in its own thread, never ends. */
import type { ChildProcess } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { syncInThread } from '../../src/app/sync-thread.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openStore } from '../../src/store/open.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import { createRequestRate } from '../../src/upstream/client/rate-limit.ts'
import { folderWith } from '../support/folder.ts'
import { finished, startLeadsheet } from '../support/leadsheet.ts'
import { mortalThreads } from '../support/process/dying-thread.ts'
import { runWarm } from '../support/process/warm-leadsheet.ts'
import { hourlyNotNow } from '../support/reports/due-report.ts'
import { SILENT } from '../support/syncing.ts'
import { type Fault, startUpstream } from '../support/upstream.ts'

const LEADS = 100
const SETTINGS = `
data_dir: .
sync: { schedule: '${hourlyNotNow()}' }
api: { page_size: 10 }
enrichment: { policy: none }
snapshot: { when: never }
reports: []
`

/** Opens an installation, and an upstream that never answers the request for the fifth page of leads. */
async function openHeld() {
  const upstream = await startUpstream(LEADS)
  const held = Promise.withResolvers<void>()
  const hold: Fault = () => {
    held.resolve()
    return true
  }
  upstream.faults.push(...Array.from({ length: 4 }, () => () => false), hold)
  const cwd = folderWith({ 'leadsheet.yaml': SETTINGS })
  return {
    ...{ upstream, cwd, isHeld: held.promise, file: join(cwd, 'leadsheet.db') },
    env: { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'a key of the test' },
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  }
}

/** Waits for the first line of the log with this text. */
async function untilSaid(daemon: ChildProcess, text: string): Promise<Record<string, unknown>> {
  if (daemon.stderr === null) throw new Error('no stderr')
  const lines = createInterface(daemon.stderr)
  return new Promise((resolve, reject) => {
    lines.on('line', (line) => line.includes(text) && resolve(JSON.parse(line)))
    lines.on('close', () => reject(new Error(`the daemon ended without ${text}`)))
  })
}

function query(file: string, sql: string): unknown[] {
  const database = new Database(file)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

const RUNS = "SELECT state, message FROM scheduled_run WHERE schedule = 'sync'"

it('a thread that dies fails its run, and the next sync goes on where it was', async () => {
  await using installation = await openHeld()
  const { cwd, env, file } = installation
  const end = join(cwd, 'end')
  const daemon = startLeadsheet(['run'], { cwd, env: { ...env, ...mortalThreads(end) } })
  const over = finished(daemon)
  const failure = untilSaid(daemon, '"state":"failed"')
  await installation.isHeld
  writeFileSync(end, '')
  expect(await failure).toMatchObject({ schedule: 'sync' })
  // The end of a run is logged just before it is stored, so the store is polled.
  await expect
    .poll(() => query(file, RUNS))
    .toEqual([{ state: 'failed', message: 'the thread of a sync ended without a result' }])
  await expect.poll(() => query(file, 'SELECT name FROM lease')).toEqual([{ name: 'daemon' }])
  const read = query(file, 'SELECT id FROM lead').length

  rmSync(end)
  installation.upstream.requests.length = 0
  expect(await runWarm(['sync', '--only', 'leads'], { cwd, env })).toMatchObject({ status: 0 })
  expect(read > 0).toBe(installation.upstream.requests[0]?.path.includes('cursor=') === true)
  expect(query(file, 'SELECT id FROM lead')).toHaveLength(LEADS)
  daemon.kill('SIGTERM')
  expect(await over).toMatchObject({ status: 0 })
})

it('a thread whose lease another process has taken writes nothing more', async () => {
  await using installation = await openHeld()
  const { cwd, env, file } = installation
  // The answer is held back until the lease is lost.
  const answered = Promise.withResolvers<void>()
  installation.upstream.faults.splice(4, 1, (_request, response) => {
    answered.promise.then(() => response.writeHead(503).end())
    return true
  })
  const daemon = startLeadsheet(['run'], { cwd, env })
  const over = finished(daemon)
  const said = untilSaid(daemon, 'which took over')
  await expect.poll(() => installation.upstream.requests.length).toBe(5)
  query(file, "UPDATE lease SET holder = 'another' WHERE name = 'sync' RETURNING name")
  const read = query(file, 'SELECT id FROM lead ORDER BY id')
  answered.resolve()
  expect(await said).toMatchObject({ code: 'job_busy' })
  expect(query(file, 'SELECT id FROM lead ORDER BY id')).toEqual(read)
  expect(query(file, 'SELECT finished_at FROM sync_run')).toEqual([{ finished_at: null }])
  daemon.kill('SIGTERM')
  expect(await over).toMatchObject({ status: 0 })
})

it('a thread is told to stop, and ends by itself at its deadline', async () => {
  await using installation = await openHeld()
  const { cwd, env, file } = installation
  const config = loadConfig({ file: join(cwd, 'leadsheet.yaml'), cwd, env })
  await using store = await openStore(file, new Date())
  const requestRate = createRequestRate(() => performance.now())
  const deps = { store, log: SILENT, requestRate, onClock: () => {} }
  const lease = await claimLease(store, 'sync', () => new Date())

  const stop = new AbortController()
  const stopped = syncInThread(config, deps)(true, lease, stop.signal)
  await installation.isHeld
  stop.abort(new Error('the test stops it'))
  expect((await stopped).problems).toMatchObject([
    { code: 'run_interrupted', message: 'the run was told to stop' },
  ])

  installation.upstream.faults.push(() => true)
  const soon = { ...config, api: { ...config.api, runMinutes: 0.01 } }
  const late = await syncInThread(soon, deps)(true, lease, new AbortController().signal)
  expect(late.problems).toMatchObject([{ code: 'run_interrupted', message: 'the run reached its deadline' }])

  const whole = await syncInThread(config, deps)(true, lease, new AbortController().signal)
  expect(whole.problems.filter(({ part }) => part === 'leads')).toEqual([])
  expect(whole.scan).toMatchObject({ scan_result: 'complete', distinct: LEADS })
  expect(query(file, 'SELECT id FROM lead')).toHaveLength(LEADS)
  await lease.release()
})

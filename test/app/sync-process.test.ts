// @long
/** A daemon whose sync, in its own process, never ends. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { syncInProcess } from '../../src/app/sync-process.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openStore } from '../../src/store/open.ts'
import { claimLease } from '../../src/store/schedule/lease.ts'
import { askFile } from '../support/data/alter-file.ts'
import { folderWith } from '../support/folder.ts'
import { finished, startLeadsheet } from '../support/leadsheet.ts'
import { untilSaid } from '../support/process/daemon-address.ts'
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
    upstream,
    cwd,
    isHeld: held.promise,
    file: join(cwd, 'leadsheet.db'),
    env: { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'a key of the test' },
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  }
}

/** Returns the ids of the processes that a program has started. */
function childrenOf({ pid }: ChildProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

const RUNS = "SELECT state, message FROM scheduled_run WHERE schedule = 'sync'"

it('a process that dies fails its run, and the next sync goes on where it was', async () => {
  await using installation = await openHeld()
  const { cwd, env, file } = installation
  const daemon = startLeadsheet(['run'], { cwd, env })
  const over = finished(daemon)
  const failure = untilSaid(daemon.stderr, /"state":"failed"/)
  await installation.isHeld
  for (const pid of childrenOf(daemon)) process.kill(pid, 'SIGKILL')
  expect(await failure).toContain('"schedule":"sync"')
  // The end of a run is logged just before it is stored, so the store is polled.
  await expect
    .poll(() => askFile(file, RUNS))
    .toEqual([
      { state: 'failed', message: 'a process of leadsheet ended with SIGKILL before its work was done' },
    ])
  await expect.poll(() => askFile(file, 'SELECT name FROM lease')).toEqual([{ name: 'daemon' }])
  const read = askFile(file, 'SELECT id FROM lead').length

  installation.upstream.requests.length = 0
  expect(await runWarm(['sync', '--only', 'leads'], { cwd, env })).toMatchObject({ status: 0 })
  expect(read > 0).toBe(installation.upstream.requests[0]?.path.includes('cursor=') === true)
  expect(askFile(file, 'SELECT id FROM lead')).toHaveLength(LEADS)
  daemon.kill('SIGTERM')
  expect(await over).toMatchObject({ status: 0 })
})

it('a process whose lease another process has taken writes nothing more', async () => {
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
  const said = untilSaid(daemon.stderr, /which took over/)
  await expect.poll(() => installation.upstream.requests.length).toBe(5)
  askFile(file, "UPDATE lease SET holder = 'another' WHERE name = 'sync' RETURNING name")
  const read = askFile(file, 'SELECT id FROM lead ORDER BY id')
  answered.resolve()
  expect(await said).toContain('"code":"job_busy"')
  expect(askFile(file, 'SELECT id FROM lead ORDER BY id')).toEqual(read)
  expect(askFile(file, 'SELECT finished_at FROM sync_run')).toEqual([{ finished_at: null }])
  daemon.kill('SIGTERM')
  expect(await over).toMatchObject({ status: 0 })
})

it('a process ends by itself at its deadline, and the next one goes on', async () => {
  await using installation = await openHeld()
  const { cwd, env, file } = installation
  const config = loadConfig({ file: join(cwd, 'leadsheet.yaml'), cwd, env })
  await using store = await openStore(file, new Date())
  const lease = await claimLease(store, 'sync', () => new Date())

  const soon = { ...config, api: { ...config.api, runMinutes: 0.01 } }
  const late = await syncInProcess(soon, SILENT, () => {})(true, lease, new AbortController().signal)
  expect(late.problems).toMatchObject([{ code: 'run_interrupted', message: 'the run reached its deadline' }])

  const whole = await syncInProcess(config, SILENT, () => {})(true, lease, new AbortController().signal)
  expect(whole.problems.filter(({ part }) => part === 'leads')).toEqual([])
  expect(whole.scan).toMatchObject({ result: 'complete', distinct: LEADS })
  expect(askFile(file, 'SELECT id FROM lead')).toHaveLength(LEADS)
  await lease.release()
})

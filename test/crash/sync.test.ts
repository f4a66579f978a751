import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { random } from '../support/random.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { type Program, run, start } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'

const KILLS = IS_FULL ? 200 : 25
/** After so many kills, a new database is used, so that first loads are killed too. */
const KILLS_A_DATABASE = 25
const LEADS = 3_000

const LOADS = IS_FULL ? 4 : 1
const KILLS_A_LOAD = IS_FULL ? 3 : 1
/** In the full run, enough leads for a child process to make the indexes. */
const MANY_LEADS = IS_FULL ? 22_000 : 2_200
const PAGES = 22

function syncOf(upstream: Upstream, pageSize: number): Program {
  return {
    args: ['sync', '--only', 'leads', '--full', '--config', 'small.yaml'],
    cwd: folderWith({ 'small.yaml': `api: { page_size: ${pageSize} }\nsnapshot: { when: never }` }),
    env: { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key', LEADSHEET_DATA_DIR: '.' },
  }
}

/** Returns the tables after a sync that is not killed. */
async function unkilled(upstream: Upstream, pageSize: number) {
  const program = syncOf(upstream, pageSize)
  const begun = performance.now()
  const { status, stderr } = await run(program)
  expect(status, stderr).toBe(0)
  return { tables: hashTables(join(program.cwd, 'leadsheet.db')), ms: performance.now() - begun }
}

describe('a sync killed with SIGKILL', () => {
  it(`resumes to the tables of one that was never killed; ${KILLS} kills, SEED=${SEED} (row 37)`, async () => {
    await using upstream = await startUpstream(LEADS)
    const expected = await unkilled(upstream, 100)
    const next = random(SEED)
    let inMidSync = 0
    let resumed = 0
    for (let kill = 0; kill < KILLS; ) {
      const program = syncOf(upstream, 100)
      const file = join(program.cwd, 'leadsheet.db')
      for (let of = 0; of < KILLS_A_DATABASE; of++, kill++) {
        upstream.requests.length = 0
        const child = start(program)
        await untilRequests(upstream, 1 + Math.floor(next() * 6), child)
        await killAfter(child, next() * 12)
        if (child.signalCode === 'SIGKILL') inMidSync++
        if (upstream.requests[0]?.path.includes('cursor=')) resumed++
        await expectSound(file)
      }
      expect(await run(program)).toMatchObject({ status: 0 })
      await expectSound(file)
      expect(hashTables(file)).toEqual(expected.tables)
    }
    expect(inMidSync).toBeGreaterThan(KILLS * 0.8)
    expect(resumed).toBeGreaterThan(KILLS * 0.5)
  })

  it(`makes its indexes again when it was killed in its first load or while it made them; ${LOADS} loads, SEED=${SEED} (row 37)`, async () => {
    await using upstream = await startUpstream(MANY_LEADS)
    const expected = await unkilled(upstream, MANY_LEADS / PAGES)
    const next = random(SEED)
    for (let load = 0; load < LOADS; load++) {
      const program = syncOf(upstream, MANY_LEADS / PAGES)
      const file = join(program.cwd, 'leadsheet.db')
      for (let kill = 0; kill < KILLS_A_LOAD; kill++) {
        upstream.requests.length = 0
        const child = start(program)
        // The first kill comes during the load. The others mostly come at its end, while the indexes are
        // made.
        await untilRequests(upstream, kill === 0 ? 1 + Math.floor(next() * PAGES) : PAGES, child)
        await killAfter(child, (next() * expected.ms) / 3)
        await expectSound(file)
      }
      expect(await run(program)).toMatchObject({ status: 0 })
      await expectSound(file)
      expect(hashTables(file)).toEqual(expected.tables)
      rmSync(file)
    }
  })
})

/** Waits until the upstream has had so many requests, or the program has ended. */
async function untilRequests(upstream: Upstream, count: number, child: ChildProcess): Promise<void> {
  while (upstream.requests.length < count && child.exitCode === null) await waitMs(1)
}

async function killAfter(child: ChildProcess, ms: number): Promise<void> {
  await waitMs(ms)
  if (child.exitCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

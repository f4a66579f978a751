import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { random } from '../support/random.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { killProgram, run, start, syncOf } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'

const PAGES = 22

const LOADS = [
  {
    what: 'resumes to the tables of one that was never killed',
    leads: 3_000,
    pageSize: 100,
    /** The databases, and the kills of each. */
    databases: IS_FULL ? 8 : 1,
    kills: 25,
    /** The requests after which it is killed, from a number from 0 to 1. */
    requests: (_kill: number, share: number) => 1 + Math.floor(share * 6),
    /** The longest time from there to the kill, of the time of a whole load. */
    within: (_wholeMs: number) => 12,
    /** The least share of kills that find a sync, and of syncs that go on with one. */
    least: [0.84, 0.52],
  },
  {
    what: 'makes its indexes again when it was killed in its first load or while it made them',
    // In the full run, enough leads for a child process to make the indexes.
    leads: PAGES * (IS_FULL ? 1_000 : 100),
    pageSize: IS_FULL ? 1_000 : 100,
    databases: IS_FULL ? 4 : 1,
    kills: IS_FULL ? 3 : 1,
    // The first kill comes during the load. The others mostly come at its end, while the indexes are made.
    requests: (kill: number, share: number) => (kill === 0 ? 1 + Math.floor(share * PAGES) : PAGES),
    within: (wholeMs: number) => wholeMs / 3,
    least: [0, 0],
  },
] as const

describe(`a sync killed with SIGKILL, SEED=${SEED}`, () => {
  it.each(LOADS.map((load) => [load.what, load] as const))('%s', async (_, load) => {
    const { leads, pageSize, databases, kills, requests, within, least } = load
    await using upstream = await startUpstream(leads)
    const api = `{ page_size: ${pageSize} }`
    const whole = syncOf(upstream.url, api)
    const begun = performance.now()
    expect(await run(whole)).toMatchObject({ status: 0 })
    const withinMs = within(performance.now() - begun)
    const next = random(SEED)
    let [inMidSync, resumed] = [0, 0]
    for (let database = 0; database < databases; database++) {
      const program = syncOf(upstream.url, api)
      const file = join(program.cwd, 'leadsheet.db')
      for (let kill = 0; kill < kills; kill++) {
        upstream.requests.length = 0
        const child = start(program)
        await untilRequests(upstream, requests(kill, next()), child)
        await sleep(next() * withinMs)
        await killProgram(child)
        if (child.signalCode === 'SIGKILL') inMidSync++
        if (upstream.requests[0]?.path.includes('cursor=')) resumed++
        await expectSound(file)
      }
      expect(await run(program)).toMatchObject({ status: 0 })
      await expectSound(file)
      expect(hashTables(file)).toEqual(hashTables(join(whole.cwd, 'leadsheet.db')))
      rmSync(file)
    }
    expect(inMidSync).toBeGreaterThanOrEqual(databases * kills * least[0])
    expect(resumed).toBeGreaterThanOrEqual(databases * kills * least[1])
  })
})

/** Waits until the upstream has had so many requests, or the program has ended. */
async function untilRequests(upstream: Upstream, count: number, child: ChildProcess): Promise<void> {
  while (upstream.requests.length < count && child.exitCode === null) await sleep(1)
}

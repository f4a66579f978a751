/** A sync that is killed at any time, between the points of kill-at.ts too. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { random } from '../support/random.ts'
import { startUpstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { killProgram, run, start, syncOf } from './support/program.ts'
import { IS_FULL, SEED } from './support/scale.ts'
import { expectSound } from './support/store.ts'

const KILLS = IS_FULL ? 150 : 8
/** About the time of a page, so that a kill comes at any moment of its way into the store. */
const WITHIN_MS = 12

it(`a sync killed ${KILLS} times at random goes on each time, to the tables of one never killed; SEED=${SEED}`, async () => {
  await using upstream = await startUpstream(3_000)
  const [whole, killed] = [
    syncOf(upstream.url, '{ page_size: 100 }'),
    syncOf(upstream.url, '{ page_size: 100 }'),
  ]
  const [expected, file] = [whole, killed].map(({ cwd }) => join(cwd, 'leadsheet.db')) as [string, string]
  const next = random(SEED)
  let resumed = 0
  for (let kill = 0; kill < KILLS; kill++) {
    upstream.requests.length = 0
    const child = start(killed)
    const pages = 1 + Math.floor(next() * 6)
    while (upstream.requests.length < pages && child.exitCode === null) await sleep(1)
    await sleep(next() * WITHIN_MS)
    await killProgram(child)
    if (upstream.requests[0]?.path.includes('cursor=')) resumed++
    await expectSound(file)
  }
  for (const program of [whole, killed]) expect(await run(program)).toMatchObject({ status: 0 })
  await expectSound(file)
  expect(hashTables(file)).toEqual(hashTables(expected))
  expect(resumed).toBeGreaterThan(KILLS / 2)
})

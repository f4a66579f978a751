// @long
/** The bench of the claims runs to its end in its short form, which meets most goals too. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { GOALS, type Result } from './result.ts'

const run = promisify(execFile)

it('gives every goal a verdict', async () => {
  const { stdout } = await run(process.execPath, ['test/bench/insight/bench.ts', '--short', '--json'])
  const { results }: { results: Result[] } = JSON.parse(stdout)
  expect(new Set(results.map(({ goal }) => goal))).toEqual(new Set(Object.keys(GOALS)))
  const counted = results.filter(({ verdict }) => verdict !== 'withheld')
  const met = counted.filter(({ verdict }) => verdict === 'met')
  expect(met.length).toBeGreaterThan(0.7 * counted.length)
})

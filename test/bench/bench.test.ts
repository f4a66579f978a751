// @long
/** Both benches run to their ends at a small size, and judge every goal that can be measured here. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { missingPostgres } from '../support/postgres/postgres-programs.ts'
import type { Outcome } from './bench.ts'
import { GOALS, SUBJECTS } from './goals.ts'
import { GOALS as CLAIMS, type Result } from './insight/result.ts'
import { hasPython } from './programs.ts'

const run = promisify(execFile)

/** True for goals that compare two numbers of leads, and for goals about programs that are not installed. */
function isOutOfReach(goal: string): boolean {
  if (goal.startsWith('growth-')) return true
  if (goal.endsWith('-python')) return !hasPython('requests, sqlite3')
  if (goal.endsWith('-dlt')) return !hasPython('dlt, sqlalchemy')
  return goal.startsWith('postgres-') && missingPostgres() !== null
}

async function bench(script: string, args: readonly string[]) {
  const { stdout } = await run(process.execPath, [`test/bench/${script}`, ...args, '--json'])
  return JSON.parse(stdout)
}

it('measures all subjects', async () => {
  const args = ['--leads', '1000', '--rounds', '1', '--short']
  const { results, notes }: Outcome = await bench('bench.ts', args)
  expect(results.map(({ goal }) => goal)).toEqual(expect.arrayContaining(GOALS.map(({ name }) => name)))
  const lacking = results.filter(({ goal, verdict }) => verdict === 'not measured' && !isOutOfReach(goal))
  expect(lacking, notes.join('; ')).toEqual([])
})

it('measures what --only names, and refuses a name that it does not know', async () => {
  const { results }: Outcome = await bench('bench.ts', ['--only', 'size'])
  expect(results.map(({ goal, verdict }) => `${goal} ${verdict}`)).toEqual([
    'size-installed met',
    'size-direct met',
  ])
  await expect(bench('bench.ts', ['--only', 'speed'])).rejects.toThrow(
    `found speed, expected some of ${SUBJECTS.join(', ')}`,
  )
})

it('gives every claim of a report a verdict, and meets most in the short form too', async () => {
  const { results }: { results: Result[] } = await bench('insight/bench.ts', ['--short'])
  expect(new Set(results.map(({ goal }) => goal))).toEqual(new Set(Object.keys(CLAIMS)))
  const counted = results.filter(({ verdict }) => verdict !== 'withheld')
  const met = counted.filter(({ verdict }) => verdict === 'met')
  expect(met.length).toBeGreaterThan(0.7 * counted.length)
})

// @long
/** The bench runs to its end with few leads, and judges every goal that can be measured here. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { missingPostgres } from '../support/postgres/postgres-programs.ts'
import { GOALS, SUBJECTS } from './goals.ts'
import type { Outcome } from './page/page.ts'
import { hasPython } from './programs.ts'

const run = promisify(execFile)

/** True for goals that compare two numbers of leads, and for goals about programs that are not installed. */
function isOutOfReach(goal: string): boolean {
  if (goal.startsWith('growth-')) return true
  if (goal.endsWith('-python')) return !hasPython('requests, sqlite3')
  if (goal.endsWith('-dlt')) return !hasPython('dlt, sqlalchemy')
  return goal.startsWith('postgres-') && missingPostgres() !== null
}

it('measures all subjects', async () => {
  const script = 'test/bench/bench.ts'
  const { stdout } = await run(process.execPath, [
    script,
    '--leads',
    '1000',
    '--rounds',
    '1',
    '--short',
    '--json',
  ])
  const { results, notes }: Outcome = JSON.parse(stdout)
  expect(results.map(({ goal }) => goal)).toEqual(expect.arrayContaining(GOALS.map(({ name }) => name)))
  const lacking = results.filter(({ goal, verdict }) => verdict === 'not measured' && !isOutOfReach(goal))
  expect(lacking, notes.join('; ')).toEqual([])
})

it('measures what --only names, and refuses a name that it does not know', async () => {
  const { stdout } = await run(process.execPath, ['test/bench/bench.ts', '--only', 'size', '--json'])
  const { results }: Outcome = JSON.parse(stdout)
  expect(results.map(({ goal, verdict }) => `${goal} ${verdict}`)).toEqual([
    'size-installed met',
    'size-direct met',
  ])
  await expect(run(process.execPath, ['test/bench/bench.ts', '--only', 'speed'])).rejects.toThrow(
    `found speed, expected some of ${SUBJECTS.join(', ')}`,
  )
})

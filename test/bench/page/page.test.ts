/** The page about performance agrees with the goals and with its results. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../bench.ts'
import { GOALS } from '../goals.ts'
import { judge, mediansOf } from '../measurement.ts'
import { PAGE, pageOf, RESULTS } from './page.ts'

const outcome: Outcome = JSON.parse(readFileSync(RESULTS, 'utf8'))
const page = readFileSync(PAGE, 'utf8')

describe('docs/explanation/performance.md', () => {
  it('has the table of its results', () => {
    expect(pageOf(outcome, page)).toBe(page)
    expect(pageOf({ ...outcome, date: '1999-12-31' }, page)).toContain('1999-12-31')
  })

  it('shows each goal as it is now', () => {
    expect([...new Set(outcome.results.map(({ goal }) => goal))]).toEqual(GOALS.map(({ name }) => name))
    for (const { goal, at, limit, unit } of outcome.results)
      expect(GOALS.find(({ name }) => name === goal)).toMatchObject({ at, limit, unit })
  })

  it('has verdicts that follow from what was measured', () => {
    expect(GOALS.flatMap((goal) => judge(goal, outcome.medians, outcome.leads))).toEqual(outcome.results)
  })
})

it.each([
  [
    'is compared with the better floor',
    'first-floor',
    { 'floor-prepared first': 40, 'floor-jsonb first': 20 },
    1.55,
    'not met',
  ],
  ['of speed is met by as many times or more', 'first-python', { 'python first': 77.5 }, 2.5, 'met'],
  ['that has nothing to be compared with is not measured', 'first-node', {}, null, 'not measured'],
  ['of growth needs two numbers of leads', 'growth-first', {}, null, 'not measured'],
])('a goal %s', (_, name, others, measured, verdict) => {
  const ours = [90, 30, 31].map((value) => ['ours first', value] as const)
  const samples = [...ours, ...Object.entries(others)].map(([what, value]) => ({
    what: `${what} cpu`,
    leads: 1000,
    value,
  }))
  const goal = GOALS.find((each) => each.name === name) ?? expect.unreachable(name)
  expect(judge(goal, mediansOf(samples), [1000])[0]).toMatchObject({ kind: 'cpu', measured, verdict })
})

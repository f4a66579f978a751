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

it('the middle of several samples counts', () => {
  const samples = [90, 30, 31].map((value) => ({ what: 'ours first cpu', leads: 1000, value }))
  expect(mediansOf(samples)).toEqual([{ what: 'ours first cpu', leads: 1000, median: 31, samples: 3 }])
})

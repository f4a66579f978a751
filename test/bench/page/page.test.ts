/** The page about performance agrees with the goals, with its results and with its chart. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { GOALS } from '../goals.ts'
import { collectMedians, judge } from '../measurement.ts'
import { chartOf } from './chart.ts'
import { CHART, type Outcome, PAGE, pageOf, RESULTS } from './page.ts'

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
    const find = (what: string, leads: number) =>
      outcome.medians.find((one) => one.what === what && one.leads === leads)?.median
    expect(GOALS.flatMap((goal) => judge(goal, { find }, outcome.leads))).toEqual(outcome.results)
  })

  it('has the chart of its results', () => {
    expect(readFileSync(CHART, 'utf8')).toBe(chartOf(outcome))
  })
})

describe('a goal', () => {
  const goalNamed = (name: string) => GOALS.find((goal) => goal.name === name) ?? expect.unreachable(name)

  it('is compared with the better floor, by medians', () => {
    const medians = collectMedians()
    for (const value of [90, 30, 31]) medians.add('ours first cpu', 1000, value)
    medians.add('floor-prepared first cpu', 1000, 40)
    medians.add('floor-jsonb first cpu', 1000, 20)
    expect(judge(goalNamed('first-floor'), medians, [1000])).toMatchObject([
      { kind: 'cpu', measured: 1.55, verdict: 'not met' },
      { kind: 'wall', measured: null, verdict: 'not measured' },
    ])
  })

  it('of speed is met by as many times or more', () => {
    const medians = collectMedians()
    medians.add('ours first cpu', 1000, 20)
    medians.add('python first cpu', 1000, 50)
    expect(judge(goalNamed('first-python'), medians, [1000])[0]).toMatchObject({
      measured: 2.5,
      verdict: 'met',
    })
  })

  it('of growth needs two numbers of leads', () => {
    const medians = collectMedians()
    medians.add('ours first cpu', 1000, 20)
    medians.add('ours first cpu', 5000, 19)
    expect(judge(goalNamed('growth-first'), medians, [1000])[0]).toMatchObject({ verdict: 'not measured' })
    expect(judge(goalNamed('growth-first'), medians, [1000, 5000])[0]).toMatchObject({
      measured: 0.95,
      verdict: 'met',
    })
  })
})

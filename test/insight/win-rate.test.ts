/** The normal range of the win rate, from counts by day that a seed repeats. */
import { describe, expect, it } from 'vitest'
import { judgeRate, winsOf } from '../../src/insight/win-rate.ts'
import { countCases } from '../support/random.ts'
import { dailyNumbers } from '../support/reports/daily-numbers.ts'

const DAYS = 1096

const daysOf = (decided: number, rate: number, seed: number, overdispersion = 1) => ({
  won: dailyNumbers({ mean: decided * rate, days: DAYS, seed, overdispersion }),
  lost: dailyNumbers({ mean: decided * (1 - rate), days: DAYS, seed: seed + 1, overdispersion }),
})

/** The last window has the given numbers instead. */
function judgeLast(won: number, decided: number, decidedBefore = 4) {
  const days = daysOf(decidedBefore, 0.3, 5)
  const ending = (numbers: number[], last: number) => [
    ...numbers.slice(0, -30),
    ...new Array<number>(29).fill(0),
    last,
  ]
  return judgeRate({ won: ending(days.won, won), lost: ending(days.lost, decided - won) }).steps.at(-1)
}

describe('the normal win rate', () => {
  it.each([
    ['few leads', 0.7, 0.3, 1],
    ['days that scatter more than by chance', 10, 0.3, 3],
  ])('has ranges that hold as often as meant, with %s', (_, decided, rate, overdispersion) => {
    const seeds = Array.from({ length: countCases(30, 120) }, (_, index) => 3 * (index + 1) + 40_000)
    const records = seeds.map((seed) => judgeRate(daysOf(decided, rate, seed, overdispersion)).record)
    const sum = (name: 'judged' | 'hits95' | 'hits80') => records.reduce((all, each) => all + each[name], 0)
    expect(Math.abs(sum('hits95') / sum('judged') - 0.95)).toBeLessThan(0.02)
    expect(Math.abs(sum('hits80') / sum('judged') - 0.8)).toBeLessThan(0.04)
  })

  it('has no range for a rate of few decided leads, such as 2 of 3 or 9 of 9', () => {
    for (const [won, decided] of [
      [2, 3],
      [0, 3],
      [9, 9],
    ] as const)
      expect(judgeLast(won, decided)?.forecast).toBeNull()
  })

  it('finds a rate that doubled unlikely, and one as ever likely', () => {
    expect(judgeLast(72, 120)?.forecast?.probability).toBeLessThan(1e-4)
    expect(judgeLast(36, 120)?.forecast?.probability).toBeGreaterThan(0.2)
  })

  it('begins after eight windows', () => {
    const { won, lost } = daysOf(4, 0.3, 9)
    const { steps } = judgeRate({ won: won.slice(0, 300), lost: lost.slice(0, 300) })
    expect(steps.map(({ forecast }) => forecast !== null)).toEqual([...new Array(8).fill(false), true, true])
  })

  it('adds up the probabilities of wins like a binomial, and wider with more variance', () => {
    const binomial = winsOf(10, 0.3, 10 * 0.3 * 0.7)
    // Published tables: the chance of at most 3 of 10 at 0.3 is 0.6496, of at most 5 is 0.9527.
    expect(binomial.upTo(3)).toBeCloseTo(0.6496, 4)
    expect(binomial.upTo(5)).toBeCloseTo(0.9527, 4)
    // A beta-binomial of both parameters 1 is uniform: its variance is n (n + 2) / 12.
    const uniform = winsOf(10, 0.5, (10 * 12) / 12)
    for (let wins = 0; wins <= 10; wins++) expect(uniform.upTo(wins)).toBeCloseTo((wins + 1) / 11, 6)
    const [many, few] = [winsOf(401, 0.3, 401 * 0.21), winsOf(399, 0.3, 399 * 0.21)]
    for (const probability of [0.025, 0.5, 0.975])
      expect(Math.abs(many.quantile(probability) - few.quantile(probability))).toBeLessThanOrEqual(2)
  })
})

/** Compares the distribution of a count with jStat, whose sums are incomplete gamma and beta functions. */
import { describe, expect, it } from 'vitest'
import {
  logOfTail,
  normalProbability,
  normalQuantile,
  probabilitiesOf,
  rangeWith,
  tailProbability,
} from '../../src/insight/count-distribution.ts'
import { random } from '../support/random.ts'
import { jStat } from '../support/reports/jstat.ts'

interface Given {
  readonly mean: number
  readonly variance: number
}

function upToOfJstat({ mean, variance }: Given, count: number): number {
  if (variance === mean) return 1 - jStat.lowRegGamma(count + 1, mean)
  return jStat.ibeta(mean / variance, (mean * mean) / (variance - mean), count + 1)
}

/** Returns means from `least` to `most`, with variances of one to four times the mean. */
function distributions(least: number, most: number): Given[] {
  const next = random(21)
  return Array.from({ length: 40 }, (_, index) => {
    const mean = least * (most / least) ** next()
    return { mean, variance: index % 2 === 0 ? mean : mean * (1 + 3 * next()) }
  })
}

function largestError(given: readonly Given[]): number {
  const errors = given.flatMap((each) => {
    const { upTo } = probabilitiesOf(each)
    const deviation = Math.sqrt(each.variance)
    return [-3, -2, -1, 0, 1, 2, 3, 4]
      .map((off) => Math.round(each.mean + off * deviation))
      .filter((count) => count >= 0)
      .map((count) => Math.abs(upTo(count) - upToOfJstat(each, count)))
  })
  return Math.max(...errors)
}

describe('a count', () => {
  it('with a small mean has the probabilities of jStat', () => {
    expect(largestError(distributions(0.02, 60))).toBeLessThan(1e-7)
  })

  it('with a large mean has nearly the probabilities of jStat', () => {
    expect(largestError(distributions(60.1, 5000))).toBeLessThan(0.002)
  })

  it('has quantiles, and ranges whose share is nearest to the wanted one', async () => {
    const told = [0.05, 0.6, 3, 12, 59, 61, 700].flatMap((mean) =>
      [1, 2.5].map((times) => {
        const probabilities = probabilitiesOf({ mean, variance: mean * times })
        const quantiles = [0.001, 0.025, 0.1, 0.5, 0.9, 0.975, 0.999].map(probabilities.quantile)
        const ranges = [0.05, 0.2].map((miss) => rangeWith(probabilities, miss))
        return `${mean} ± ${times}: ${quantiles.join(' ')}; ${ranges.map(({ low, high }) => `${low} to ${high}`).join(', ')}`
      }),
    )
    await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/counts.txt')
  })

  it('lies in the tails with the mid-p probability', () => {
    // The probabilities of a Poisson count with mean 3 (R: ppois(6, 3) and ppois(7, 3)).
    const middle = (0.9664914646911 + 0.9880954961436) / 2
    expect(tailProbability({ mean: 3, variance: 3 }, 7)).toBeCloseTo((1 - middle) / 0.7, 10)
    expect(tailProbability({ mean: 3, variance: 3 }, 0)).toBeCloseTo(Math.exp(-3) / 2 / 0.3, 10)
  })
})

it('the normal distribution has the probabilities and quantiles of jStat', () => {
  for (let z = -6; z <= 6; z += 0.1) {
    expect(Math.abs(normalProbability(z) - jStat.normal.cdf(z, 0, 1))).toBeLessThan(1e-7)
  }
  for (let probability = 0.0005; probability < 0.9999; probability += 0.0005) {
    const off = normalQuantile(probability) - jStat.normal.inv(probability, 0, 1)
    expect(Math.abs(off)).toBeLessThan(4.5e-4)
  }
})

it.each([
  [-1, -0.172753779023],
  [0, -Math.LN2],
  [2, -3.78318433368],
  [5, -15.0649983939],
  [10, -53.2312851505],
  [40, -804.608442014],
])('the tail above %d has the logarithm %d', (z, log) => {
  expect(Math.abs(logOfTail(z) / log - 1)).toBeLessThan(1e-5)
})

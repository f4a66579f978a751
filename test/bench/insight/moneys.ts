/** Counts how often the usual ranges of won value hold, with deals of very different sizes. */
import { judgeMoney } from '../../../src/insight/money-range.ts'
import { random } from '../../support/random.ts'
import { dailyNumbers } from '../../support/reports/daily-numbers.ts'
import { type Result, resultOf } from './result.ts'

const DAYS = 3 * 365
const START = Date.parse('2023-01-02T00:00:00Z')
const DATES = Array.from({ length: DAYS }, (_, day) =>
  new Date(START + day * 86_400_000).toISOString().slice(0, 10),
)
/** After a shift, the ranges of so many days are not counted. */
const SETTLED = 20

interface Kind {
  readonly name: string
  readonly won: number
  /** The standard deviation of the logarithm of a deal's value. */
  readonly spread: number
  readonly overdispersion?: number
  /** The factor of the wins in a year. */
  readonly growth?: number
  readonly shift?: number
}

const KINDS: readonly Kind[] = [
  { name: 'won value, 1 deal a day', won: 1, spread: 0.8 },
  { name: 'won value, 1 deal a day of very different sizes', won: 1, spread: 1.4 },
  { name: 'won value, 5 deals a day', won: 5, spread: 0.8 },
  { name: 'won value, 5 deals a day of very different sizes', won: 5, spread: 1.4 },
  { name: 'won value, 30 deals a day', won: 30, spread: 1.1 },
  { name: 'won value, 2 times the variance', won: 5, spread: 1.1, overdispersion: 2 },
  { name: 'won value, grows by half in a year', won: 5, spread: 1.1, growth: 1.5 },
  { name: 'won value, falls by a third in a year', won: 5, spread: 1.1, growth: 0.67 },
  { name: 'won value, after a shift of 40 %', won: 5, spread: 1.1, shift: 0.6 },
]

/** @param firstSeed the record that is published uses other seeds than those that were tuned on */
export function measureMoneys(rounds: number, firstSeed = 70_000): Result[] {
  return KINDS.flatMap((kind) =>
    [
      { horizon: 'day', length: 1 },
      { horizon: 'week', length: 7 },
    ].flatMap(({ horizon, length }) => {
      const hits = { of: 0, hits95: 0, hits80: 0 }
      for (let round = 0; round < rounds; round++) countHits(hits, kind, firstSeed + round, length)
      return [
        resultOf('coverage-95', kind.name, horizon, hits.hits95 / hits.of, hits.of),
        resultOf('coverage-80', kind.name, horizon, hits.hits80 / hits.of, hits.of),
      ]
    }),
  )
}

function countHits(
  hits: { of: number; hits95: number; hits80: number },
  { won: mean, spread, overdispersion = 1, growth = 1, shift }: Kind,
  seed: number,
  length: number,
): void {
  const at = Math.round(DAYS * 0.6) + (seed % 30)
  const times = (day: number) => growth ** (day / 365) * (shift !== undefined && day >= at ? shift : 1)
  const won = dailyNumbers({ mean, days: DAYS, seed, overdispersion, times })
  const next = random(seed * 31)
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const money = won.map((deals) =>
    Array.from({ length: deals }, () => Math.exp(9 + spread * normal())).reduce((sum, each) => sum + each, 0),
  )
  const { steps } = judgeMoney({ dates: DATES, money, won, isLeftOut: [] }, length)
  for (const [index, { money: actual, forecast }] of steps.entries()) {
    const begins = DAYS - (steps.length - index) * length
    if (forecast === null || (shift !== undefined && begins < at + SETTLED)) continue
    hits.of++
    if (actual >= forecast.range95.low && actual <= forecast.range95.high) hits.hits95++
    if (actual >= forecast.range80.low && actual <= forecast.range80.high) hits.hits80++
  }
}

/** Counts how often the normal ranges of win rates hold, with a steady rate and after a change. */
import { isWithin } from '../../../src/insight/normal-range.ts'
import { judgeRate, RATE_DAYS } from '../../../src/insight/win-rate.ts'
import { dailyNumbers } from '../../support/reports/daily-numbers.ts'
import { noRangeHits, resultsOf } from './ranges.ts'
import { addHit, type Result } from './result.ts'

const DAYS = 3 * 365
/** After a shift, the ranges of so many windows are not counted. */
const SETTLED = 3 * RATE_DAYS

const KINDS = [
  { name: 'win rate of 30 %, 20 decided in 30 days', decided: 0.7, rate: 0.3 },
  { name: 'win rate of 25 %, 60 decided in 30 days', decided: 2, rate: 0.25 },
  { name: 'win rate of 70 %, 90 decided in 30 days', decided: 3, rate: 0.7 },
  { name: 'win rate of 30 %, 300 decided in 30 days', decided: 10, rate: 0.3 },
  { name: 'win rate of 30 %, 1,800 decided in 30 days', decided: 60, rate: 0.3 },
  { name: 'win rate of 30 %, 3 times the variance', decided: 10, rate: 0.3, overdispersion: 3 },
  { name: 'win rate that rises from 30 to 36 % in three years', decided: 10, rate: 0.3, growth: 0.3 },
]

/** @param firstSeed the record that is published uses other seeds than those that were tuned on */
export function measureRates(rounds: number, firstSeed = 50_000): Result[] {
  return KINDS.flatMap(({ name, decided, rate, overdispersion = 1, growth = 0 }) =>
    [0, 0.25].flatMap((shift) => {
      const hits = noRangeHits()
      for (let round = 0; round < rounds; round++) {
        const seed = firstSeed + 2 * round
        const at = Math.round(DAYS * 0.5) + (round % 30)
        // The rate of decided leads, so that a shift moves wins to losses.
        const rateOn = (day: number) =>
          rate * (1 + (growth * day) / DAYS) * (day < at ? 1 : 1 + (round % 2 === 0 ? -shift : shift))
        const common = { days: DAYS, overdispersion, mean: decided }
        const won = dailyNumbers({ ...common, seed, times: rateOn })
        const lostOn = (day: number) => 1 - rateOn(day)
        const lost = dailyNumbers({ ...common, seed: seed + 1, times: lostOn })
        const { steps } = judgeRate({ won, lost })
        const first = DAYS - steps.length * RATE_DAYS
        for (const [index, { forecast, won: wins }] of steps.entries()) {
          if (forecast === null) continue
          const begins = first + index * RATE_DAYS
          if (shift > 0 && begins < at + SETTLED) continue
          addHit(hits.in95, isWithin(forecast.range95, wins))
          addHit(hits.in80, isWithin(forecast.range80, wins))
        }
      }
      return resultsOf(hits, shift === 0 ? name : `${name}, after a shift of a quarter`, '30 days')
    }),
  )
}

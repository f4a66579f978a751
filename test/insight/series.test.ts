/** Days, weeks and months around a known yearly dip are expected to have what the same dates had a year before. */
import { describe, expect, it } from 'vitest'
import { isWithin, judgeSeries, type Scale } from '../../src/insight/normal-range.ts'
import { dipsOf, seriesOf } from '../../src/insight/series.ts'
import { countCases } from '../support/random.ts'
import { dailyNumbers, datesFrom } from '../support/reports/daily-numbers.ts'

const DAYS = 735
/** The first one is a Monday. */
const DATES = datesFrom('2024-01-01', DAYS + 10)
const isChristmas = (day: number) => ['12-24', '12-25', '12-26'].includes((DATES[day] ?? '').slice(5))
const isQuiet = (day: number) => (DATES[day] ?? '').slice(5) >= '12-23'

describe('the days around Christmas', () => {
  const values = dailyNumbers({
    mean: 25,
    days: DAYS,
    seed: 4,
    times: (day) => (isChristmas(day) ? 0.05 : isQuiet(day) ? 0.3 : 1),
  })
  const expectedAt = (scale: Scale) => {
    const series = seriesOf({ values }, DATES.slice(0, DAYS), scale)
    return { series, steps: judgeSeries(series).steps }
  }

  it('have the share of the year before, by date, and other days have their own', () => {
    const dips = dipsOf(values, DATES)
    for (const [day, date] of DATES.entries()) {
      const share = dips[day] ?? 0
      if (day < 380 || !isQuiet(day)) expect([date, share === 1 || share > 0.4]).toEqual([date, true])
      if (day >= 380 && isChristmas(day)) expect(share).toBeLessThan(0.3)
    }
    expect(dips.slice(0, 380).every((share) => share === 1)).toBe(true)
  })

  it.each(['day', 'week'] as const)(
    'by %s are normal in the second year, and were not in the first',
    (scale) => {
      const { series, steps } = expectedAt(scale)
      const length = scale === 'day' ? 1 : 7
      const chancesOf = (year: string) =>
        steps.flatMap(({ anomaly, forecast }, index) => {
          const last = DAYS - (series.values.length - 1 - index) * length - 1
          const date = DATES[last] ?? ''
          const isOf = date >= `${year}-12-24` && date <= `${year}-12-31`
          return isOf && forecast ? [{ ...anomaly, forecast, value: series.values[index] ?? 0 }] : []
        })
      expect(Math.min(...chancesOf('2024').map(({ probability = 1 }) => probability))).toBeLessThan(1e-4)
      const second = chancesOf('2025')
      expect(Math.min(...second.map(({ probability = 1 }) => probability))).toBeGreaterThan(0.001)
      const held = second.filter(({ forecast, value }) => isWithin(forecast.range95, value))
      expect(held.length).toBeGreaterThan(0.6 * second.length)
    },
  )
})

it('numbers that only scatter have no dips, and neither have few leads', () => {
  for (const mean of [0.3, 3, 40])
    for (let seed = 1; seed <= countCases(2, 5); seed++)
      expect(dipsOf(dailyNumbers({ mean, days: DAYS, seed, overdispersion: 1.5 }), DATES)).toEqual(
        DATES.map(() => 1),
      )
})

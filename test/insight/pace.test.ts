/** The expected end of a month is forecast with the range of its record, or not at all. */
import { describe, expect, it } from 'vitest'
import { type CountedDays, forecastEnd } from '../../src/insight/pace.ts'
import { countCases, random } from '../support/random.ts'
import { dailyNumbers, FLAT_WEEK, weekdaysOf } from '../support/reports/daily-numbers.ts'

const MONTH = 30

function forecast(
  all: readonly number[],
  month: number,
  day: number,
  of: Pick<CountedDays, 'isLeftOut' | 'isHoliday'> = {},
) {
  const values = all.slice(0, month * MONTH + day)
  const spanOf = (index: number) => ({ from: index * MONTH, to: (index + 1) * MONTH })
  const earlier = Array.from({ length: month }, (_, index) => spanOf(index))
  return forecastEnd({ values, places: weekdaysOf(values), ...of }, earlier, spanOf(month))
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0)
}

function shown(outcome: ReturnType<typeof forecast>): string {
  if (outcome === null) return 'none'
  const { expected, range, record } = outcome
  return `${expected.toFixed(1)}, ${range.low} to ${range.high}, ${record.hits} of ${record.of} held`
}

describe('the end of a month', () => {
  it('is forecast with a range that holds about as often as its record says', () => {
    let [forecasts, hits, recorded, of] = [0, 0, 0, 0]
    let [error, errorOfLine] = [0, 0]
    for (let seed = 1; seed <= countCases(8, 30); seed++) {
      const values = dailyNumbers({ mean: 12, days: 30 * MONTH, seed: 40 + seed, overdispersion: 1.5 })
      for (const month of [24, 27, 29]) {
        const outcome = forecast(values, month, 10)
        if (outcome === null) continue
        const whole = sum(values.slice(month * MONTH, (month + 1) * MONTH))
        forecasts++
        if (whole >= outcome.range.low && whole <= outcome.range.high) hits++
        recorded += outcome.record.hits
        of += outcome.record.of
        error += Math.abs(outcome.expected - whole)
        errorOfLine += Math.abs(3 * sum(values.slice(month * MONTH, month * MONTH + 10)) - whole)
      }
    }
    expect(forecasts).toBeGreaterThan(16)
    expect(Math.abs(hits / forecasts - recorded / of)).toBeLessThan(0.12)
    expect(hits / forecasts).toBeGreaterThan(0.7)
    expect(error).toBeLessThan(errorOfLine)
  })

  it('has its expected end and range from two weeks on, with the record of each month since the first', async () => {
    const values = dailyNumbers({ mean: 12, days: 30 * MONTH, seed: 9 })
    const days = [
      ...[13, 14, 20].map((day) => [0, day]),
      [1, 10],
      [2, 10],
      [24, 10],
      [24, 20],
      [24, 29],
      [24, 30],
    ]
    const told = days.map(([month = 0, day = 0]) => {
      const soFar = sum(values.slice(month * MONTH, month * MONTH + day))
      return `month ${month}, day ${day}, so far ${soFar}: ${shown(forecast(values, month, day))}`
    })
    for (const months of [3, 12])
      for (const [earlier = 0, day = 0] of [
        [0, 20],
        [0, 50],
        [1, 50],
      ]) {
        const span = { from: earlier * months * MONTH, to: (earlier + 1) * months * MONTH }
        const known = values.slice(0, span.from + day)
        const past = earlier === 0 ? [] : [{ from: 0, to: months * MONTH }]
        const outcome = forecastEnd({ values: known, places: weekdaysOf(known) }, past, span)
        told.push(`${months} months after ${earlier}, day ${day}: ${shown(outcome)}`)
      }
    told.push(`without any: ${shown(forecast(new Array<number>(MONTH).fill(0), 0, 20))}`)
    await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/ends.txt')
  })

  it('is not forecast where its ranges did not hold', () => {
    // In some months nearly all leads come in the last days, and no earlier day tells in which months.
    const values = dailyNumbers({ mean: 12, days: 30 * MONTH, seed: 10 })
    const next = random(4)
    const late = Array.from({ length: 30 }, () => (next() < 0.4 ? 60 : 1))
    const jumping = values.map((value, day) =>
      day % MONTH < 25 ? value : value * (late[Math.floor(day / MONTH)] ?? 1),
    )
    expect(forecast(jumping, 14, 20)).toBeNull()
    expect(forecast(jumping, 28, 20)).toBeNull()
    expect(forecast(values, 28, 20)).not.toBeNull()
  })

  it('is that of the other days, with what left-out days had', () => {
    const values = dailyNumbers({ mean: 12, days: 30 * MONTH, seed: 9 })
    const plain = forecast(values, 24, 20)
    const isLeftOut = values.map((_, day) => day === 24 * MONTH + 4 || day % 97 === 3)
    const forecastOf = (some: readonly number[]) => forecast(some, 24, 20, { isLeftOut })
    const high = values.map((value, day) => (isLeftOut[day] ? value + 500 : value))
    expect(forecastOf(high)?.expected).toBeCloseTo((forecastOf(values)?.expected ?? 0) + 500, 6)
    expect(Math.abs((forecastOf(values)?.expected ?? 0) - (plain?.expected ?? 0))).toBeLessThan(12)
  })

  it('has the share of a normal day for each holiday ahead that earlier holidays had', () => {
    const isHoliday = Array.from({ length: 30 * MONTH }, (_, day) => day % MONTH === 24)
    const all = dailyNumbers({ mean: 40, days: 30 * MONTH, seed: 9, week: FLAT_WEEK })
    const normal = forecast(all, 24, 20)?.expected ?? 0
    const without = all.map((value, day) => (isHoliday[day] ? 0 : value))
    const none = forecast(without, 24, 20, { isHoliday })
    expect(normal - (none?.expected ?? 0)).toBeGreaterThan(36)
    expect(normal - (none?.expected ?? 0)).toBeLessThan(44)
    expect(forecast(all, 24, 20, { isHoliday })?.expected).toBeCloseTo(normal, -1)
  })
})

/** Each number is judged by the numbers before it, and the ranges hold as often as they claim. */
import { describe, expect, it } from 'vitest'
import { isTooWide, isWithin, judgeSeries, NEEDED, type Scale } from '../../src/insight/normal-range.ts'
import { countCases } from '../support/random.ts'
import { dailyNumbers, FLAT_WEEK, type Numbers, weekdaysOf } from '../support/reports/daily-numbers.ts'

const DAYS = 400

function judge(values: readonly (number | null)[], scale: Scale = 'day') {
  return judgeSeries({ values, places: scale === 'day' ? weekdaysOf(values) : values.map(() => 0), scale })
}

const plain = (mean: number, seed: number) => dailyNumbers({ mean, days: DAYS, seed })

describe('a series', () => {
  it('is judged at each number by the numbers before it alone', () => {
    const values = plain(12, 1)
    const { steps } = judge(values)
    for (const changed of [100, 200, 333]) {
      const other = judge(values.map((value, index) => (index < changed ? value : value * 5 + 3)))
      expect(other.steps.slice(0, changed)).toEqual(steps.slice(0, changed))
      expect(other.steps[changed]?.forecast).toEqual(steps[changed]?.forecast)
      expect(other.steps[changed]?.anomaly).not.toEqual(steps[changed]?.anomaly)
      const ahead = [0, 1, 2, 3]
      expect(other.outlook(changed, ahead)).toEqual(judge(values).outlook(changed, ahead))
    }
  })

  it('is silent below eight numbers of the same weekday', () => {
    const { steps } = judge(plain(12, 2))
    expect(steps.findIndex(({ forecast }) => forecast !== null)).toBe(7 * NEEDED)
    expect(steps.slice(0, 7 * NEEDED).every(({ anomaly }) => anomaly === null)).toBe(true)
    expect(steps[7 * NEEDED]?.known).toBe(8)
  })

  it('skips unknown numbers', () => {
    const values = plain(12, 3)
    const lacking = values.map((value, day) => (day >= 150 && day < 171 ? null : value))
    const { steps } = judge(lacking)
    for (const step of steps.slice(150, 171)) {
      expect(step.anomaly).toBeNull()
      expect(step.forecast).not.toBeNull()
    }
    expect(steps[171]?.forecast).toEqual(steps[150]?.forecast)
    expect(steps[171]?.known).toBe(steps[150]?.known)
  })

  it('begins with its first lead', () => {
    const { steps } = judge([...Array.from({ length: 210 }, () => 0), ...plain(12, 4)])
    expect(steps.slice(0, 210 + 7 * NEEDED).every(({ forecast }) => forecast === null)).toBe(true)
    expect(steps[210 + 7 * NEEDED]?.forecast).not.toBeNull()
  })

  it('has an outlook that adds up', () => {
    const { outlook } = judge(plain(12, 5))
    const week = [0, 1, 2, 3, 4, 5, 6]
    const sum = week.reduce((all, place) => all + outlook(DAYS, [place]).mean, 0)
    expect(outlook(DAYS, week).mean).toBeCloseTo(sum, 9)
    expect(outlook(DAYS, [...week, ...week]).mean).toBeCloseTo(2 * sum, 9)
    expect(outlook(DAYS, week).variance).toBeGreaterThan(outlook(DAYS, week).mean)
    expect(outlook(DAYS, [])).toEqual({ mean: 0, variance: 0 })
    expect(sum / 7).toBeGreaterThan(10)
    expect(sum / 7).toBeLessThan(14)
  })

  it.each([0.6, 40])('with a mean of %d has ranges that hold as often as they say', (mean) => {
    let [judged, hits95, hits80, unusual] = [0, 0, 0, 0]
    for (let seed = 1; seed <= 8; seed++) {
      const values = plain(mean, 100 + seed)
      for (const [day, { forecast, anomaly }] of judge(values).steps.entries()) {
        if (forecast === null) continue
        judged++
        if (isWithin(forecast.range95, values[day] ?? 0)) hits95++
        if (isWithin(forecast.range80, values[day] ?? 0)) hits80++
        if ((anomaly?.probability ?? 1) < 0.01) unusual++
      }
    }
    expect(Math.abs(hits95 / judged - 0.95)).toBeLessThan(0.02)
    expect(Math.abs(hits80 / judged - 0.8)).toBeLessThan(0.04)
    expect(unusual / judged).toBeLessThan(0.025)
  })
})

/** Invented days by what they show. */
const SERIES: Readonly<Record<string, Numbers>> = {
  'a fall to the half on day 300 is told at once, and known as the level three weeks later': {
    mean: 40,
    days: 340,
    seed: 201,
    times: (day) => (day < 300 ? 1 : 0.5),
  },
  'a single odd day is told alone': { mean: 40, days: 310, seed: 6, times: (day) => (day === 301 ? 0 : 1) },
  'after a low spell the level before it is as normal as the low one was': {
    mean: 25,
    days: 370,
    seed: 501,
    times: (day) => ((day >= 300 && day < 312) || day >= 360 ? 0.2 : 1),
  },
  'each last day of a month is not unusual': {
    mean: 15,
    days: DAYS,
    seed: 9,
    times: (day) => (day % 30 > 26 ? 2 : 1),
  },
  'nor are many days without leads': {
    mean: 15,
    days: DAYS,
    seed: 9,
    times: (day) => ((day * 7) % 10 < 3 ? 0 : 1),
  },
  'days without any lead are normal if some have none by themselves': {
    mean: 60,
    days: DAYS,
    seed: 4,
    zeros: 0.3,
  },
  'but not after one week off': {
    mean: 60,
    days: 300,
    seed: 4,
    times: (day) => ((day >= 150 && day < 157) || day === 250 ? 0 : 1),
  },
  'nothing is expected on weekends without any lead': {
    mean: 20,
    days: 300,
    seed: 7,
    week: [1, 1, 1, 1, 1, 0, 0],
  },
}

it('what is unusual in invented days, and what is expected on the last ones', async () => {
  const told = Object.entries(SERIES).flatMap(([name, numbers]) => {
    const { steps } = judge(dailyNumbers(numbers))
    const unusual = steps.flatMap(({ anomaly }, day) =>
      anomaly && day > 120 && anomaly.probability < 0.01
        ? `  day ${day}: ${anomaly.actual} within ${anomaly.length}, ${anomaly.probability.toPrecision(3)}`
        : [],
    )
    const expected = steps.slice(-7).map(({ forecast }) => {
      const [all, most] = [forecast?.range95, forecast?.range80]
      return `  ${forecast?.mean.toPrecision(4)}: ${most?.low} to ${most?.high}, ${all?.low} to ${all?.high}`
    })
    return [name, ...unusual, 'expected', ...expected]
  })
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/unusual.txt')
})

it('weeks whose level moves are judged well in their first year too', () => {
  let [judged, hits] = [0, 0]
  for (let seed = 1; seed <= countCases(15, 60); seed++) {
    const weeks = dailyNumbers({ mean: 280, days: 60, seed, week: FLAT_WEEK, moves: { keeps: 1, step: 0.2 } })
    for (const [week, { forecast }] of judge(weeks, 'week').steps.entries()) {
      if (forecast === null) continue
      judged++
      if (isWithin(forecast.range95, weeks[week] ?? 0)) hits++
    }
  }
  expect(hits / judged).toBeGreaterThan(0.88)
})

it.each([
  [0, 4, 1.5, false],
  [1, 10, 5, false],
  [1, 11, 5, true],
  [2, 25, 12, true],
  [150, 420, 280, false],
  [60, 560, 280, true],
])('the range from %d to %d around %d is too wide to help: %s', (low, high, mean, expected) => {
  expect(isTooWide({ low, high }, mean)).toBe(expected)
})

/** Each number is judged by the numbers before it, and the ranges hold as often as they claim. */
import { describe, expect, it } from 'vitest'
import { isTooWide, isWithin, judgeSeries, type Scale } from '../../src/insight/normal-range.ts'
import { countCases } from '../support/random.ts'
import { dailyNumbers, FLAT_WEEK, type Numbers, weekdaysOf } from '../support/reports/daily-numbers.ts'

const DAYS = 400

function judge(values: readonly (number | null)[], scale: Scale = 'day') {
  return judgeSeries({ values, places: scale === 'day' ? weekdaysOf(values) : values.map(() => 0), scale })
}

/** Returns the numbers for which there was a forecast, with it. */
function judgedDays(values: readonly number[], scale: Scale = 'day') {
  return judge(values, scale).steps.flatMap(({ forecast, anomaly }, index) =>
    forecast ? [{ ...forecast, value: values[index] ?? 0, probability: anomaly?.probability ?? 1 }] : [],
  )
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

  it('skips unknown numbers', () => {
    const values = plain(12, 3)
    const lacking = values.map((value, day) => (day >= 150 && day < 171 ? null : value))
    const { steps } = judge(lacking)
    expect(steps.slice(150, 171).filter(({ anomaly, forecast }) => anomaly || !forecast)).toEqual([])
    expect(steps[171]?.forecast).toEqual(steps[150]?.forecast)
    expect(steps[171]?.known).toBe(steps[150]?.known)
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
    const judged = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((seed) => judgedDays(plain(mean, 100 + seed)))
    const share = (isMeant: (day: (typeof judged)[number]) => boolean) =>
      judged.filter(isMeant).length / judged.length
    expect(Math.abs(share(({ range95, value }) => isWithin(range95, value)) - 0.95)).toBeLessThan(0.02)
    expect(Math.abs(share(({ range80, value }) => isWithin(range80, value)) - 0.8)).toBeLessThan(0.04)
    expect(share(({ probability }) => probability < 0.01)).toBeLessThan(0.025)
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
  'numbers begin with the first lead': {
    mean: 12,
    days: 300,
    seed: 4,
    times: (day) => (day < 210 ? 0 : 1),
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
    const first = steps.findIndex(({ forecast }) => forecast !== null)
    const isSilent = steps.slice(0, first).every(({ anomaly }) => anomaly === null)
    const begin = `expected from day ${first} on, with ${steps[first]?.known} of its weekday, silent before: ${isSilent}`
    return [name, ...unusual, begin, ...expected]
  })
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/unusual.txt')
})

it('weeks whose level moves are judged well in their first year too', () => {
  const seeds = Array.from({ length: countCases(15, 60) }, (_, index) => index + 1)
  const moves = { keeps: 1, step: 0.2 }
  const judged = seeds.flatMap((seed) =>
    judgedDays(dailyNumbers({ mean: 280, days: 60, seed, week: FLAT_WEEK, moves }), 'week'),
  )
  const hits = judged.filter(({ range95, value }) => isWithin(range95, value))
  expect(hits.length / judged.length).toBeGreaterThan(0.88)
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

/** Each number is judged by the numbers before it, and the ranges hold as often as they claim. */
import { describe, expect, it } from 'vitest'
import { isTooWide, isWithin, judgeSeries, NEEDED, type Scale } from '../../src/insight/normal-range.ts'
import { random } from '../support/random.ts'
import { dailyNumbers, type Numbers, weekdaysOf } from '../support/reports/daily-numbers.ts'

const DAYS = 400

function judge(values: readonly (number | null)[], scale: Scale = 'day') {
  return judgeSeries({ values, places: scale === 'day' ? weekdaysOf(values) : values.map(() => 0), scale })
}

function plain(mean: number, seed: number, given: { times?: (day: number) => number } = {}) {
  return dailyNumbers({ mean, days: DAYS, seed, ...given })
}

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

  it.each([0.6, 3, 40, 300])('with a mean of %d has ranges that hold as often as they say', (mean) => {
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

  it.each([0, 0.1, 0.2])('by weeks, whose level moves by %d, holds in its first year too', (moves) => {
    let [judged, hits] = [0, 0]
    for (let seed = 1; seed <= 60; seed++) {
      const next = random(seed * 999)
      let level = 280
      const weeks = Array.from({ length: 60 }, () => {
        level *= Math.exp((next() - 0.5) * 3.4 * moves)
        return Math.round(level + (next() + next() - 1) * 2.4 * Math.sqrt(level))
      })
      for (const [week, { forecast }] of judge(weeks, 'week').steps.entries()) {
        if (forecast === null) continue
        judged++
        if (isWithin(forecast.range95, weeks[week] ?? 0)) hits++
      }
    }
    expect(hits / judged).toBeGreaterThan(0.9)
  })

  it('tells a fall to the half within three days, and knows the new level after three weeks', () => {
    let [found, near] = [0, 0]
    for (let seed = 1; seed <= 20; seed++) {
      const { steps } = judge(plain(40, 200 + seed, { times: (day) => (day < 300 ? 1 : 0.5) }))
      if (steps.slice(300, 303).some(({ anomaly }) => (anomaly?.probability ?? 1) < 0.003)) found++
      const means = steps.slice(322, 329).map(({ forecast }) => forecast?.mean ?? 0)
      const mean = means.reduce((sum, each) => sum + each, 0) / 7
      if (Math.abs(mean - 20) < 3) near++
    }
    expect(found).toBeGreaterThanOrEqual(19)
    expect(near).toBeGreaterThanOrEqual(19)
  })

  it('takes a single odd day for one, and does not count it to the days after it', () => {
    const values = plain(40, 6)
    const odd = values.map((value, day) => (day === 301 ? 0 : value))
    const [{ steps }, { steps: before }] = [judge(odd), judge(values)]
    expect(steps[301]?.anomaly).toMatchObject({ length: 1, actual: 0 })
    expect(steps[301]?.anomaly?.probability).toBeLessThan(1e-6)
    for (const day of [302, 303, 304, 305]) {
      expect(steps[day]?.anomaly?.probability).toBeGreaterThan(0.01)
      expect(steps[day]?.forecast?.mean).toBeGreaterThan(0.9 * (before[day]?.forecast?.mean ?? 0))
    }
  })

  it('after a low spell takes the level before it for as normal as the low one', () => {
    let [back, other] = [0, 0]
    for (let seed = 1; seed <= 20; seed++) {
      const times = (day: number) => (day >= 300 && day < 312 ? 0.2 : day >= 360 ? 0.2 : 1)
      const { steps } = judge(plain(25, 500 + seed, { times }))
      const least = (from: number, to: number) =>
        Math.min(...steps.slice(from, to).map(({ anomaly }) => anomaly?.probability ?? 1))
      if (least(312, 330) < 0.003) back++
      // Nobody waits for the low level any more.
      if (least(360, 363) < 0.003) other++
    }
    expect(back).toBeLessThan(3)
    expect(other).toBeGreaterThan(15)
  })

  it('is not unusual on each last day of a month, nor on each of many days without leads', () => {
    for (const times of [
      (day: number) => (day % 30 > 26 ? 2 : 1),
      (day: number) => ((day * 7) % 10 < 3 ? 0 : 1),
    ]) {
      const { steps } = judge(plain(15, 9, { times }))
      const unusual = steps.slice(200).filter(({ anomaly }) => (anomaly?.probability ?? 1) < 0.01)
      expect(unusual.length).toBeLessThan(8)
    }
  })

  it('takes days without any lead for normal if some have none by themselves, but not after one week off', () => {
    const unusualZeros = (given: Partial<Numbers>) => {
      const values = plain(60, 4, given)
      return judge(values).steps.flatMap(({ anomaly }, day) =>
        day > 120 && anomaly?.actual === 0 && anomaly.probability < 0.012 ? [day] : [],
      )
    }
    expect(unusualZeros({ zeros: 0.3 }).length).toBeLessThan(4)
    const off = (day: number) => (day >= 150 && day < 157) || day === 250
    const found = unusualZeros({ times: (day) => (off(day) ? 0 : 1) })
    expect(found).toContain(150)
    expect(found).toContain(250)
  })

  it('without any lead on weekends expects none there, and keeps the ranges of the other days', () => {
    const week = [1, 1, 1, 1, 1, 0, 0]
    const values = dailyNumbers({ mean: 20, days: DAYS, seed: 7, week })
    let [judged, hits] = [0, 0]
    for (const [day, { forecast, anomaly }] of judge(values).steps.entries()) {
      if (forecast === null) continue
      if (day % 7 < 5) {
        judged++
        if (isWithin(forecast.range80, values[day] ?? 0)) hits++
        continue
      }
      expect(forecast.mean).toBeLessThan(0.3)
      expect(forecast.range80).toEqual({ low: 0, high: 0 })
      expect(anomaly?.length === 1 && anomaly.probability < 0.5).toBe(false)
    }
    expect(Math.abs(hits / judged - 0.8)).toBeLessThan(0.04)
  })
})

it.each([
  [0, 4, 1.5, false],
  [1, 10, 5, false],
  [1, 11, 5, true],
  [6, 19, 12, false],
  [2, 25, 12, true],
  [150, 420, 280, false],
  [60, 560, 280, true],
])('the range from %d to %d around %d is too wide to help: %s', (low, high, mean, expected) => {
  expect(isTooWide({ low, high }, mean)).toBe(expected)
})

/** The backtest judges past days as reports judged them, and counts the claims that held. */
import { describe, expect, it } from 'vitest'
import type { LastUnusualDays } from '../../src/domain/insight.ts'
import { type Backtest, backtest } from '../../src/insight/backtest.ts'
import { judgeReport } from '../../src/insight/expect.ts'
import type { DailyNumbers } from '../../src/insight/series.ts'
import { judgeRate } from '../../src/insight/win-rate.ts'
import { dailyNumbers } from '../support/reports/daily-numbers.ts'

const DAYS = 730
/** A Monday. */
const FIRST = Date.parse('2024-01-01')
const DATES = Array.from({ length: DAYS }, (_, day) =>
  new Date(FIRST + day * 86_400_000).toISOString().slice(0, 10),
)

function numbersOf(days: number, times?: (day: number) => number): DailyNumbers[] {
  return [30, 12, 3].map((mean, place) => ({
    figure: 'new_leads',
    pipeline: place === 0 ? null : { id: `p${place}`, name: `Pipeline ${place}` },
    values: dailyNumbers({ mean, days, seed: 40 + place, ...(times && { times }) }),
  }))
}
const first = (days: number) => DATES.slice(0, days)

describe('the days of a backtest', () => {
  it('have the ranges and claims that the report of each day had', () => {
    const days = 300
    // From day 250 on, there are half as many leads.
    const numbers = numbersOf(days, (day) => (day < 250 ? 1 : 0.5))
    const { lastDays, ranges } = backtest(first(days), numbers)
    let [unusual, news] = [0, 0]
    let lastUnusual: LastUnusualDays = {}
    for (let end = days - 119; end <= days; end++) {
      const dates = first(end)
      const given = numbers.map((each) => ({ ...each, values: each.values.slice(0, end) }))
      const report = judgeReport({ kind: 'day', dates, length: 1 }, given, null, lastUnusual)
      lastUnusual = report.lastUnusual
      if (end < days - 89) continue
      for (const [place, { expectation }] of report.judged.entries()) {
        const { judgement, shift, range, actual } = expectation
        const isUnusual = judgement === 'high' || judgement === 'low' || shift !== null
        if (isUnusual) unusual++
        if (isUnusual && (shift === null || shift.isNew)) news++
        expect(lastDays[place]?.[end - (days - 90) - 1], dates.at(-1)).toEqual({
          ...{ date: dates.at(-1), value: actual, range, isUnusual, isLeftOut: false },
        })
      }
    }
    const [all] = ranges
    expect(all).toMatchObject({ scale: 'day', judged: days - 56, shown: 'printed' })
    const countClaims = (tests: typeof ranges) =>
      tests.reduce((sum, { scale, claims }) => (scale === 'day' ? sum + claims : sum), 0)
    const before = numbers.map((each) => ({ ...each, values: each.values.slice(0, days - 90) }))
    expect(news).toBe(countClaims(ranges) - countClaims(backtest(first(days - 90), before).ranges))
    expect(news).toBeGreaterThan(3)
    expect(unusual).toBeGreaterThan(news)
  })

  it('are put into weeks that begin as the settings say', () => {
    const aDayEarlier = DATES.map((date) =>
      new Date(Date.parse(date) - 86_400_000).toISOString().slice(0, 10),
    )
    // The last of these days is a Saturday, or a Friday.
    const days = 363
    const weeksOf = ({ ranges }: Backtest) => ranges.filter(({ scale }) => scale === 'week')
    const fromMonday = weeksOf(backtest(first(days), numbersOf(days)))
    const sundays = [aDayEarlier.slice(0, days), numbersOf(days), [], [], []] as const
    expect(weeksOf(backtest(...sundays, 'sunday'))).toEqual(fromMonday)
    expect(weeksOf(backtest(...sundays, 'monday'))).not.toEqual(fromMonday)
  })

  it('are known by nothing that came later', () => {
    const whole = backtest(first(200), numbersOf(200)).lastDays[0]
    const other = numbersOf(200).map((each) => ({ ...each, values: [...each.values.slice(0, 190), 0, 0, 0] }))
    const shorter = backtest(first(193), other).lastDays[0]
    expect(shorter?.slice(7, -3)).toEqual(whole?.slice(0, 80))
  })
})

describe('a year with a campaign on every third Wednesday', () => {
  const days = 364
  const isLeftOut = first(days).map((_, day) => day % 21 === 2)
  const numbers = numbersOf(days)
  const campaign = numbers.map((each) => ({
    ...each,
    values: each.values.map((value, day) => (isLeftOut[day] ? 3 * value : value)),
  }))
  const annotated = campaign.map((each) => ({ ...each, isLeftOut }))

  it('is tested by the other days, as if the campaigns had not been', () => {
    const tested = backtest(first(days), annotated)
    const other = backtest(
      first(days),
      numbers.map((each) => ({ ...each, isLeftOut })),
    )
    expect([tested.ranges, tested.reports]).toEqual([other.ranges, other.reports])
    expect(tested.leftOut).toEqual({ holidays: 0, annotated: 18 })
    expect(backtest(first(days), annotated, first(3)).leftOut).toEqual({ holidays: 3, annotated: 17 })
    const plain = backtest(first(days), campaign)
    const claimsOf = ({ ranges }: typeof tested) => ranges.reduce((sum, { claims }) => sum + claims, 0)
    expect(claimsOf(tested)).toBeLessThan(claimsOf(plain) / 2)
    const weeks = tested.ranges.find(({ scale }) => scale === 'week')
    expect(weeks?.judged).toBe(44)
    expect(weeks?.hits95).toBeGreaterThan(38)
  })

  it('shows the campaigns as they were, and calls none unusual', () => {
    const [shown = []] = backtest(first(days), annotated).lastDays
    const leftOut = shown.filter((day) => day.isLeftOut)
    expect(leftOut.length).toBeGreaterThan(3)
    for (const { date, value, isUnusual } of leftOut) {
      expect(value).toBe(campaign[0]?.values[first(days).indexOf(date)])
      expect(isUnusual).toBe(false)
    }
  })
})

describe('two years in which nothing changes', () => {
  const { ranges, reports, ends } = backtest(DATES, numbersOf(DAYS))

  it('have ranges that hold about as often as they say, and hardly a claim', () => {
    for (const { scale, judged, hits95, hits80 } of ranges.filter((each) => each.scale === 'day')) {
      expect(judged, scale).toBe(DAYS - 56)
      expect(hits95 / judged).toBeGreaterThan(0.93)
      expect(hits95 / judged).toBeLessThan(0.975)
      expect(hits80 / judged).toBeGreaterThan(0.76)
      expect(hits80 / judged).toBeLessThan(0.86)
    }
    const [days] = reports
    expect(days?.judged).toBe(DAYS - 56)
    expect(days?.withClaims).toBeLessThan(0.05 * (DAYS - 56))
  })

  it('have weeks that are judged as weeks, and months that are too few', () => {
    expect(ranges.filter(({ scale }) => scale === 'week').map(({ judged }) => judged)).toEqual([96, 96, 96])
    expect(ranges.filter(({ scale }) => scale === 'month')).toMatchObject(
      [1, 2, 3].map(() => ({ judged: 0, claims: 0, shown: 'learning', periods: { known: 7, needed: 8 } })),
    )
  })

  it('have ends of months that are forecast for all leads, and compared with two naive methods', () => {
    expect(ends).toMatchObject([{ figure: 'new_leads', shown: 'printed' }])
    const [{ ranges: forecasts, notForecast, errors }] = ends as [(typeof ends)[0]]
    expect(forecasts.of + notForecast).toBe(5 * 23)
    expect(forecasts.hits / forecasts.of).toBeGreaterThan(0.6)
    expect(errors?.months).toBeGreaterThan(7)
    expect(errors?.forecast).toBeLessThan(errors?.line ?? 0)
  })
})

describe('the win rate of two years', () => {
  const FELL = 600
  const decided = (mean: number, seed: number, times: (day: number) => number) =>
    dailyNumbers({ mean, days: DAYS, seed, times })
  const steady = { pipeline: null, won: decided(4, 7, () => 1), lost: decided(8, 8, () => 1) }
  const ofOne = { ...steady, pipeline: { id: 'p1', name: 'EU' } }
  const fallen = {
    pipeline: null,
    won: decided(4, 7, (day) => (day < FELL ? 1 : 0.5)),
    lost: decided(8, 8, (day) => (day < FELL ? 1 : 1.25)),
  }
  const upTo = ({ won, lost }: typeof steady, end: number) => ({
    pipeline: null,
    won: won.slice(0, end),
    lost: lost.slice(0, end),
  })

  it('is judged on each day as the report of that day judged it, with all other numbers', () => {
    const { winRates, reports } = backtest(DATES, numbersOf(DAYS), [], [fallen])
    const before = backtest(first(DAYS - 90), numbersOf(DAYS - 90), [], [upTo(fallen, DAYS - 90)]).winRates
    let claims = 0
    for (let end = DAYS - 89; end <= DAYS; end++) {
      const { steps, isTrusted } = judgeRate(upTo(fallen, end))
      const chance = isTrusted ? (steps.at(-1)?.forecast?.probability ?? null) : null
      const given = numbersOf(DAYS).map((each) => ({ ...each, values: each.values.slice(0, end) }))
      const report = judgeReport({ kind: 'day', dates: first(end), length: 1 }, given, chance, {})
      if (report.isRateUnusual) claims++
    }
    expect((winRates[0]?.claimDays?.withClaims ?? 0) - (before[0]?.claimDays?.withClaims ?? 0)).toBe(claims)
    expect(claims).toBeGreaterThan(3)
    const withoutRate = backtest(DATES, numbersOf(DAYS)).reports[0]?.withClaims ?? 0
    expect(reports[0]?.withClaims).toBeGreaterThan(withoutRate)
  })

  it('has ranges that hold, and hardly a claim where nothing changes', () => {
    const [ofAll, ofPipeline] = backtest(DATES, numbersOf(DAYS), first(3), [steady, ofOne]).winRates
    expect(ofAll).toMatchObject({ judged: 17, claimDays: { judged: DAYS - 240 }, shown: 'printed' })
    expect(ofAll?.hits95).toBeGreaterThanOrEqual(15)
    expect(ofAll?.claimDays?.withClaims).toBeLessThan(10)
    expect(ofPipeline).toEqual({ ...ofAll, pipeline: ofOne.pipeline, claimDays: null })
  })

  it('is not judged on holidays, before eight windows, nor without a decided lead', () => {
    const [withHolidays] = backtest(DATES, numbersOf(DAYS), DATES.slice(-5), [steady]).winRates
    expect(withHolidays?.claimDays?.judged).toBe(DAYS - 240 - 5)
    const [early] = backtest(first(100), numbersOf(100), [], [upTo(steady, 100)]).winRates
    expect(early).toMatchObject({
      judged: 0,
      claimDays: { judged: 0, withClaims: 0 },
      shown: 'learning',
      periods: { known: 3, needed: 8 },
    })
    expect(backtest(DATES, numbersOf(DAYS)).winRates).toEqual([])
  })
})

it('too few days are learned from, and nothing is claimed', () => {
  const { ranges, reports, ends } = backtest(first(30), numbersOf(30))
  expect(ranges.every(({ judged, shown }) => judged === 0 && shown === 'learning')).toBe(true)
  expect(ranges[0]?.periods).toEqual({ known: 4, needed: 8 })
  expect(reports.map(({ judged }) => judged)).toEqual([0, 0, 0])
  expect(ends).toMatchObject([{ ranges: { of: 0 }, errors: null, shown: 'learning' }])
})

it('without a day there is nothing', () => {
  expect(backtest([], [])).toMatchObject({ from: null, to: null, ranges: [], ends: [], lastDays: [] })
})

/** The usual range of won money, on days and weeks of which the truth is known. */
import { describe, expect, it } from 'vitest'
import { judgeMoney, MONEY_DAYS_NEEDED } from '../../src/insight/money-range.ts'
import { measureMoneys } from '../bench/insight/moneys.ts'

const DAYS = 400
const START = Date.parse('2025-01-06T00:00:00Z')
const DATES = Array.from({ length: DAYS }, (_, day) =>
  new Date(START + day * 86_400_000).toISOString().slice(0, 10),
)
/** One deal is won on each day. The weekdays have 0 to 600, Monday first, and each fourth week twice as much. */
const MONEY = DATES.map((_, day) => (day % 7) * 100 * (Math.floor(day / 7) % 4 === 0 ? 2 : 1))
const WON = DATES.map(() => 1)
const NOTHING_LEFT_OUT = { dates: DATES, won: WON, isLeftOut: DATES.map(() => false) }

describe('the usual range of money', () => {
  it('lies between the least and the most that earlier days of the same weekday had', () => {
    const { steps } = judgeMoney({ ...NOTHING_LEFT_OUT, money: MONEY }, 1)
    expect(steps).toHaveLength(DAYS)
    expect(steps[MONEY_DAYS_NEEDED - 1]?.forecast).toBeNull()
    for (const [day, { forecast }] of steps.entries()) {
      if (day < MONEY_DAYS_NEEDED) continue
      expect(forecast?.range95).toEqual({ low: (day % 7) * 100, high: (day % 7) * 200 })
    }
  })

  it('of a week is of the sum of its days, and is the same each time', () => {
    const judge = () => judgeMoney({ ...NOTHING_LEFT_OUT, money: MONEY }, 7)
    const { low, high } = judge().steps.at(-1)?.forecast?.range95 ?? { low: 0, high: 0 }
    expect(low).toBeGreaterThanOrEqual(2100)
    expect(low).toBeLessThan(2600)
    expect(high).toBeGreaterThan(3000)
    expect(high).toBeLessThanOrEqual(4200)
    expect(judge()).toEqual(judge())
  })

  it('follows the number of wins', () => {
    const half = DAYS - 60
    const fewer = MONEY.map((money, day) => (day < half ? money : money / 2))
    const won = WON.map((_, day) => (day < half ? 2 : 1))
    const { steps } = judgeMoney({ ...NOTHING_LEFT_OUT, money: fewer, won }, 7)
    const [before = 0, after = 0] = [-9, -1].map((place) => steps.at(place)?.forecast?.range80.high)
    // The mean of the pool falls by an eighth, and the range by far more.
    expect(after).toBeLessThan(0.8 * before)
    expect(after).toBeGreaterThan(0.4 * before)
  })

  it('learns nothing from days that are left out, and counts them on neither side', () => {
    const isLeftOut = DATES.map((_, day) => day % 50 === 0 || day === DAYS - 1)
    const money = MONEY.map((each, day) => (isLeftOut[day] ? 1_000_000 : each))
    const { steps } = judgeMoney({ ...NOTHING_LEFT_OUT, money, isLeftOut }, 7)
    expect(Math.max(...steps.map((step) => step.forecast?.range95.high ?? 0))).toBeLessThan(5000)
    expect(Math.max(...steps.map((step) => step.money))).toBeLessThan(5000)
    const days = judgeMoney({ ...NOTHING_LEFT_OUT, money, isLeftOut }, 1).steps
    expect(days.at(-1)).toEqual({ money: 0, forecast: null })
  })

  it('holds as often as it should, where deals have very different sizes', () => {
    const results = measureMoneys(6, 1).filter(({ series }) => !series.includes('shift'))
    expect(results.filter(({ verdict }) => verdict !== 'met')).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { changeOfCount, changeOfMoney, changeOfRate } from '../../src/report/change.ts'
import { formatMoney, formatMoneys, formatShare } from '../../src/report/format.ts'
import { formatDuration, formatInstant, formatRecent, nameDay } from '../../src/report/moment.ts'

const usd = (amount: number) => ({ amount, currency: 'USD' })
const eur = (amount: number) => ({ amount, currency: 'EUR' })

describe('an amount', () => {
  it.each([
    [usd(1_234_567), '$1.2M'],
    [eur(300_000), '€300k'],
    [usd(999_950), '$1M'],
    [usd(134_500), '$135k'],
    [usd(12_500), '$12.5k'],
    [usd(950), '$950'],
    [usd(-1500), '−$1.5k'],
    [{ amount: 950, currency: 'CHF' }, 'CHF\u00a0950'],
    [{ amount: 20_000, currency: 'CAD' }, 'CA$20k'],
    [{ amount: 1e10, currency: 'JPY' }, '¥10B'],
    [{ amount: 7, currency: 'credits' }, '7 credits'],
    [{ amount: 7, currency: '' }, '7'],
    [{ amount: 0, currency: 'USD' }, '$0'],
  ])('of %o reads %s', (money, text) => {
    expect(formatMoney(money)).toBe(text)
  })

  it('in several currencies leads with the first and adds the others', () => {
    expect(formatMoneys([usd(1_200_000), eur(300_000)])).toEqual({ largest: '$1.2M', others: '+ €300k' })
    expect(
      formatMoneys([usd(5e6), eur(3e6), { amount: 2e6, currency: 'GBP' }, { amount: 1e6, currency: 'SEK' }]),
    ).toEqual({
      largest: '$5M',
      others: '+ €3M, £2M, 1 more',
    })
    expect(formatMoneys([usd(0)])).toEqual({ largest: null, others: null })
  })
})

describe('a change of a count', () => {
  it.each([
    [59, 50, '▲', '+9 (+18%)', 'good'],
    [50, 59, '▼', '−9 (−15%)', 'bad'],
    [50, 50, '', 'no change', 'neutral'],
    [59, 0, '▲', '+59 (new)', 'good'],
    [5, 0, '▲', '+5', 'good'],
    [3, 2, '▲', '+1', 'good'],
    [0, 12, '▼', '−12 (−100%)', 'bad'],
    [1001, 1000, '▲', '+1', 'good'],
    [12_840, 10, '▲', '+12,830 (+128,300%)', 'good'],
  ])('from %i before: %i now', (current, prior, arrow, text, tone) => {
    expect(changeOfCount({ current, prior }, 'up')).toEqual({ arrow, text, tone })
  })

  it('keeps direction and goodness apart', () => {
    expect(changeOfCount({ current: 30, prior: 40 }, 'down')).toMatchObject({ arrow: '▼', tone: 'good' })
    expect(changeOfCount({ current: 30, prior: 40 }, null)).toMatchObject({ arrow: '▼', tone: 'neutral' })
  })
})

describe('a change of a rate', () => {
  const rate = (part: number, whole: number) => ({ part, whole })

  it('is told in points', () => {
    expect(changeOfRate({ current: rate(45, 190), prior: rate(46, 177) }, 'up')).toEqual({
      arrow: '▼',
      text: '−2.3 pt',
      tone: 'bad',
    })
  })

  it('is the difference of the rates as printed', () => {
    // 23.46 % and 26.04 % are printed as 23.5 and 26.0; their exact difference would round to 2.6.
    expect(changeOfRate({ current: rate(2346, 10_000), prior: rate(2604, 10_000) }, 'up')?.text).toBe(
      '−2.5 pt',
    )
  })

  it('is not told of few', () => {
    expect(changeOfRate({ current: rate(2, 7), prior: rate(46, 177) }, 'up')).toBeNull()
    expect(changeOfRate({ current: rate(45, 190), prior: rate(0, 0) }, 'up')).toBeNull()
  })
})

describe('a change of value', () => {
  it('compares the largest amount with the same currency before', () => {
    const change = changeOfMoney(
      { current: [usd(4_210_000), eur(1)], prior: [eur(9e6), usd(3_980_000)] },
      null,
    )
    expect(change).toEqual({ arrow: '▲', text: '+$230k (+6%)', tone: 'neutral' })
  })

  it('is new where there was none of that currency, and a loss where none is left', () => {
    expect(changeOfMoney({ current: [usd(500)], prior: [] }, null)?.text).toBe('+$500 (new)')
    expect(changeOfMoney({ current: [], prior: [usd(500)] }, null)?.text).toBe('−$500 (−100%)')
    expect(changeOfMoney({ current: [], prior: [] }, null)).toBeNull()
  })
})

describe('a share', () => {
  it.each([
    [0, '0%'],
    [0.004, '<1%'],
    [0.42, '42%'],
    [0.996, '>99%'],
    [1, '100%'],
  ])('%f reads %s', (share, text) => {
    expect(formatShare(share)).toBe(text)
  })
})

describe('time', () => {
  const reader = { timeZone: 'Europe/Berlin', now: '2026-11-21T05:04:00.000Z' }

  it('is told on the clock of the report, with the year only of another year', () => {
    expect(formatInstant('2026-11-20T13:10:00.000Z', reader)).toBe('Fri 20 Nov, 14:10')
    expect(formatInstant('2025-12-31T23:30:00.000Z', reader)).toBe('Thu 1 Jan, 00:30')
    expect(formatInstant('2025-12-31T22:30:00.000Z', reader)).toBe('Wed 31 Dec 2025, 23:30')
  })

  it('is told without the date where it is today', () => {
    expect(formatRecent('2026-11-20T23:01:00.000Z', reader)).toBe('00:01')
    expect(formatRecent('2026-11-20T22:59:00.000Z', reader)).toBe('Fri 20 Nov, 23:59')
  })

  it('names a day as it is called where the report is read', () => {
    const day = {
      from: '2026-11-19T23:00:00.000Z',
      to: '2026-11-20T23:00:00.000Z',
      timeZone: 'Europe/Berlin',
    }
    expect(nameDay(day)).toEqual({
      long: 'Friday 20 November',
      year: '2026',
      short: 'Fri 20 Nov',
      date: '20 Nov',
      weekday: 'Friday',
    })
  })

  it.each([
    [30_000, 'less than a minute'],
    [60_000, '1 minute'],
    [240_000, '4 minutes'],
    [3_600_000, '1 hour'],
    [47 * 3_600_000, '47 hours'],
    [19.9 * 86_400_000, '19 days'],
  ])('%i ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })
})

import { describe, expect, it } from 'vitest'
import { splitMoneys } from '../../../src/report/blocks/lists.ts'
import { changeOfCount, changeOfMoney, changeOfRate } from '../../../src/report/change.ts'
import { counted, englishCount, numbersOf } from '../../../src/report/words/numbers.ts'
import { localeContextOf } from '../../support/report.ts'

const locale = localeContextOf()
const german = localeContextOf({ locale: 'de-DE' })
const { money: formatMoney, share: formatShare } = locale.numbers

const usd = (amount: number) => ({ amount, currency: 'USD' })
const eur = (amount: number) => ({ amount, currency: 'EUR' })

describe('an amount', () => {
  it.each([
    [usd(1_234_567), '$1.2m'],
    [eur(300_000), '€300k'],
    [usd(999_950), '$1.0m'],
    [usd(134_500), '$135k'],
    [usd(12_500), '$12.5k'],
    [usd(950), '$950'],
    [usd(-1500), '−$1.5k'],
    [{ amount: 950, currency: 'CHF' }, 'CHF\u00a0950'],
    [{ amount: 20_000, currency: 'CAD' }, 'CA$20k'],
    [{ amount: 1e10, currency: 'JPY' }, 'JP¥10bn'],
    [{ amount: 7, currency: 'credits' }, '7\u00a0credits'],
    [{ amount: 7, currency: '' }, '7'],
    [{ amount: 0, currency: 'USD' }, '$0'],
  ])('of %o reads %s', (money, text) => {
    expect(formatMoney(money)).toBe(text)
  })

  it('in several currencies leads with the first and adds the others', () => {
    expect(splitMoneys([usd(1_200_000), eur(300_000)], locale)).toEqual({
      largest: '$1.2m',
      others: '+ €300k',
    })
    expect(
      splitMoneys(
        [usd(5e6), eur(3e6), { amount: 2e6, currency: 'GBP' }, { amount: 1e6, currency: 'SEK' }],
        locale,
      ),
    ).toEqual({
      largest: '$5.0m',
      others: '+ €3.0m, £2.0m, 1 other',
    })
    expect(splitMoneys([usd(0)], locale)).toEqual({ largest: null, others: null })
  })
})

describe('a change of a count', () => {
  it.each([
    [59, 50, '+9 (+18%)', 'good'],
    [50, 59, '−9 (−15%)', 'bad'],
    [50, 50, 'no change', 'neutral'],
    [59, 0, '+59 (new)', 'good'],
    [5, 0, '+5', 'good'],
    [3, 2, '+1', 'good'],
    [0, 12, '−12 (−100%)', 'bad'],
    [1001, 1000, '+1', 'good'],
    [12_840, 10, '+12,830 (+128,300%)', 'good'],
  ])('from %i before: %i now', (current, prior, text, tone) => {
    expect(changeOfCount({ current, prior }, 'up', locale)).toEqual({ text, tone })
  })

  it('keeps direction and goodness apart', () => {
    expect(changeOfCount({ current: 30, prior: 40 }, 'down', locale)).toMatchObject({
      tone: 'good',
    })
    expect(changeOfCount({ current: 30, prior: 40 }, null, locale)).toMatchObject({
      tone: 'neutral',
    })
  })
})

describe('a change of a rate', () => {
  const rate = (part: number, whole: number) => ({ part, whole })

  it('is told in points', () => {
    expect(changeOfRate({ current: rate(45, 190), prior: rate(46, 177) }, 'up', locale)).toEqual({
      text: '−2.3 pt',
      tone: 'bad',
    })
  })

  it('is the difference of the rates as printed', () => {
    // 23.46 % and 26.04 % are printed as 23.5 and 26.0; their exact difference would round to 2.6.
    expect(changeOfRate({ current: rate(2346, 10_000), prior: rate(2604, 10_000) }, 'up', locale)?.text).toBe(
      '−2.5 pt',
    )
  })

  it('is not told of few', () => {
    expect(changeOfRate({ current: rate(2, 7), prior: rate(46, 177) }, 'up', locale)).toBeNull()
    expect(changeOfRate({ current: rate(45, 190), prior: rate(0, 0) }, 'up', locale)).toBeNull()
  })
})

describe('a change of value', () => {
  it('compares the largest amount with the same currency before', () => {
    const change = changeOfMoney(
      { current: [usd(4_210_000), eur(1)], prior: [eur(9e6), usd(3_980_000)] },
      null,
      locale,
    )
    expect(change).toEqual({ text: '+$230k', tone: 'neutral' })
  })

  it('is the whole amount where there was none of that currency, or where none is left', () => {
    expect(changeOfMoney({ current: [usd(500)], prior: [] }, null, locale)?.text).toBe('+$500')
    expect(changeOfMoney({ current: [], prior: [usd(500)] }, null, locale)?.text).toBe('−$500')
    expect(changeOfMoney({ current: [], prior: [] }, null, locale)).toBeNull()
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

describe('another locale', () => {
  it('writes numbers, rates and amounts its own way', () => {
    const { count, rate, money, decimal } = german.numbers
    expect([count(1284), rate(0.237), money(usd(4_210_000)), decimal(3.45, 1)]).toEqual([
      '1.284',
      '23,7\u00a0%',
      '4,2\u00a0Mio.\u00a0$',
      '3,5',
    ])
    expect(numbersOf('de-CH').count(1_284_000)).toBe("1'284'000")
    expect(numbersOf('en-US').money(usd(84_000))).toBe('$84K')
  })

  it('has the words of its language around them', () => {
    expect(
      changeOfRate({ current: { part: 45, whole: 190 }, prior: { part: 46, whole: 177 } }, 'up', german)
        ?.text,
    ).toBe('−2,3 Pkt.')
    expect(changeOfCount({ current: 59, prior: 0 }, 'up', german).text).toBe('+59 (neu)')
  })
})

it.each([1e18, -1e60, 1e308, -Number.MAX_VALUE])(
  '%d has room in a column, however it is written',
  (value) => {
    for (const { numbers } of [locale, german]) {
      const { count, decimal, fixed, rate, percent, share, exactRate, money, exactMoney } = numbers
      const amounts = ['EUR', 'W'.repeat(300)].flatMap((currency) => [
        ...[money({ amount: value, currency }), exactMoney({ amount: value, currency })],
      ])
      const written = [count, rate, percent, share, exactRate].map((write) => write(value))
      for (const text of [...written, ...amounts, decimal(value, 1), fixed(value, 2)])
        expect(text.length).toBeLessThan(40)
    }
  },
)

it.each([0, 1, 12, 999, 1000, 12_345, 999_999, 1_000_000, 10_080_001, -1234, -100])(
  'the English count %d is written as Intl writes it',
  (count) => {
    expect(englishCount(count)).toBe(count.toLocaleString('en'))
    expect(counted(count, 'lead')).toBe(`${count.toLocaleString('en')} lead${count === 1 ? '' : 's'}`)
  },
)

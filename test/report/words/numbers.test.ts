import { expect, it } from 'vitest'
import { splitMoneys } from '../../../src/report/blocks/lists.ts'
import { changeOfCount, changeOfMoney, changeOfRate } from '../../../src/report/change.ts'
import { counted, englishCount, numbersOf } from '../../../src/report/words/numbers.ts'
import { localeContextOf } from '../../support/report.ts'

const locale = localeContextOf()
const german = localeContextOf({ locale: 'de-DE' })

const money = (amount: number, currency = 'USD') => ({ amount, currency })
const rate = (part: number, whole: number) => ({ part, whole })

it.each(['en-GB', 'de-DE', 'en-US', 'de-CH'])(
  'numbers are written as readers of %s write them',
  async (tag) => {
    const of = numbersOf(tag)
    const amounts = [
      ...[1_234_567, 999_950, 134_500, 84_000, 12_500, 950, 0, -1500].map((amount) => money(amount)),
      ...[money(300_000, 'EUR'), money(950, 'CHF'), money(20_000, 'CAD'), money(1e10, 'JPY')],
      ...[money(7, 'credits'), money(7, '')],
    ]
    const lines = [
      ...[0, 7, 1284, 1_284_000, -1234].map((each) => ['count', each, of.count(each)]),
      ...[3.45, 1234.5].flatMap((each) => [
        ['decimal', each, of.decimal(each, 1)],
        ['fixed', each, of.fixed(each, 2)],
      ]),
      ...[0, 0.004, 0.237, 0.42, 0.996, 1, 1.18].flatMap((each) => [
        ['rate', each, [of.rate, of.percent, of.share, of.exactRate].map((form) => form(each)).join(' · ')],
      ]),
      ...amounts.map((each) => [each.currency, each.amount, `${of.money(each)} · ${of.exactMoney(each)}`]),
    ]
    await expect(`${lines.map((line) => line.join(' ')).join('\n')}\n`).toMatchFileSnapshot(
      `golden/numbers-${tag}.txt`,
    )
  },
)

it('an amount in several currencies leads with the first and adds the others', () => {
  const four = [money(5e6), money(3e6, 'EUR'), money(2e6, 'GBP'), money(1e6, 'SEK')]
  const found = [four.slice(0, 2), four, [money(0)]].map((moneys) => splitMoneys(moneys, locale))
  expect(found).toEqual([
    { largest: '$5.0m', others: '+ €3.0m' },
    { largest: '$5.0m', others: '+ €3.0m, £2.0m, 1 other' },
    { largest: null, others: null },
  ])
})

it('a change of a count, a rate or a value is told with its tone, and not where it says nothing', async () => {
  const counts = [
    ...[
      [59, 50],
      [50, 59],
      [50, 50],
      [59, 0],
      [5, 0],
      [0, 12],
      [1001, 1000],
      [12_840, 10],
    ],
  ].map(([current = 0, prior = 0]) => ({ current, prior }))
  const rates = [
    [rate(45, 190), rate(46, 177)],
    // They are printed as 23.5 and 26.0; their exact difference would round to 2.6.
    [rate(2346, 10_000), rate(2604, 10_000)],
    [rate(2, 7), rate(46, 177)],
    [rate(45, 190), rate(0, 0)],
  ].map(([current = rate(0, 0), prior = rate(0, 0)]) => ({ current, prior }))
  const values = [
    // The largest amount is compared with the same currency before.
    { current: [money(4_210_000), money(1, 'EUR')], prior: [money(9e6, 'EUR'), money(3_980_000)] },
    { current: [money(500)], prior: [] },
    { current: [], prior: [money(500)] },
    { current: [], prior: [] },
  ]
  const told = [
    ...counts.map((change) => [
      change,
      ...(['up', 'down', null] as const).map((good) => changeOfCount(change, good, locale)),
    ]),
    ...rates.map((change) => [change, ...[locale, german].map((to) => changeOfRate(change, 'up', to))]),
    ...values.map((change) => [change, changeOfMoney(change, null, locale)]),
  ]
  const lines = told.map((each) => each.map((one) => JSON.stringify(one)).join(' '))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/changes.txt')
})

it.each([1e18, -1e60, -Number.MAX_VALUE])('%d has room in a column, however it is written', (value) => {
  for (const { numbers } of [locale, german]) {
    const { count, decimal, fixed, rate, percent, share, exactRate, money: write, exactMoney } = numbers
    const amounts = ['EUR', 'W'.repeat(300)].flatMap((currency) =>
      [write, exactMoney].map((form) => form({ amount: value, currency })),
    )
    const written = [count, rate, percent, share, exactRate].map((form) => form(value))
    for (const text of [...written, ...amounts, decimal(value, 1), fixed(value, 2)])
      expect(text.length).toBeLessThan(40)
  }
})

it.each([0, 1, 999, 12_345, 1_000_000, 10_080_001, -1234, -100])(
  'the English count %d is written as Intl writes it',
  (count) => {
    expect(englishCount(count)).toBe(count.toLocaleString('en'))
    expect(counted(count, 'lead')).toBe(`${count.toLocaleString('en')} lead${count === 1 ? '' : 's'}`)
  },
)

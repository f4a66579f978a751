/** A pipeline is called unusual beside an unusual whole only if its own share has changed. */
import { expect, it } from 'vitest'
import { judgeReport } from '../../src/insight/expect.ts'
import { dailyNumbers } from '../support/reports/daily-numbers.ts'

const DAYS = 200
const DATES = Array.from({ length: DAYS }, (_, day) =>
  new Date(Date.UTC(2024, 0, 1 + day)).toISOString().slice(0, 10),
)

it.each([
  ['all fall alike', [0.3, 0.3, 0.3], ['low', 'usual', 'usual', 'usual']],
  ['one falls', [0.05, 1, 1], ['low', 'low', 'usual', 'usual']],
  ['one falls and one rises as much', [0.1, 1.9, 1], ['usual', 'low', 'high', 'usual']],
  ['one falls while the others rise', [0.1, 3, 3], ['high', 'low', 'high', 'high']],
])('if %s', (_, last, expected) => {
  const parts = last.map((times, index) =>
    dailyNumbers({ mean: 40, days: DAYS, seed: 30 + index }).map((value, day) =>
      day === DAYS - 1 ? Math.round(44 * times) : value,
    ),
  )
  const whole = DATES.map((_, day) => parts.reduce((sum, values) => sum + (values[day] ?? 0), 0))
  const numbers = [whole, ...parts].map((values, index) => ({
    figure: 'new_leads' as const,
    pipeline: index === 0 ? null : { id: `p${index}`, name: `p${index}` },
    values,
  }))
  const { judged } = judgeReport({ kind: 'day', dates: DATES, length: 1 }, numbers, null, {})
  expect(judged.map(({ expectation }) => expectation.judgement)).toEqual(expected)
})

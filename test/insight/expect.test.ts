/**
 * A pipeline is called unusual beside an unusual whole only if its own share has changed. A lasting change is told
 * with the days that its numbers have.
 */
import { expect, it } from 'vitest'
import { judgeReport } from '../../src/insight/expect.ts'
import { dailyNumbers, datesFrom } from '../support/reports/daily-numbers.ts'

const DAYS = 200
const DATES = datesFrom('2024-01-01', DAYS)

it.each([
  ['all fall alike', [0.3, 0.3, 0.3], ['low', 'normal', 'normal', 'normal']],
  ['one falls', [0.05, 1, 1], ['low', 'low', 'normal', 'normal']],
  ['one falls and one rises as much', [0.1, 1.9, 1], ['normal', 'low', 'high', 'normal']],
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

it.each([
  ['day', 1],
  ['week', 7],
  ['month', 30],
] as const)('the days of a lasting change are those of its sum, also for reports on a %s', (kind, length) => {
  // Up to the 30th of November 2026. The last three months have 91 days.
  const dates = datesFrom('2023-12-02', 1095)
  const found = [0.7, 0.8].flatMap((times) =>
    [9, 14, 30, 91].flatMap((lasting) => {
      const values = dailyNumbers({ mean: 40, days: dates.length, seed: 7 }).map((value, day) =>
        day >= dates.length - lasting ? Math.round(value * times) : value,
      )
      const numbers = [{ figure: 'new_leads' as const, pipeline: null, values }]
      const { judged } = judgeReport({ kind, dates, length }, numbers, null, {})
      const shift = judged[0]?.expectation.shift ?? null
      return shift === null ? [] : [{ shift, values }]
    }),
  )
  expect(found.length).toBeGreaterThan(0)
  for (const { shift, values } of found) {
    expect(dates.at(-shift.days)).toBe(shift.since)
    expect(values.slice(-shift.days).reduce((sum, value) => sum + value, 0)).toBe(shift.actual)
    if (kind === 'month') expect(shift.since).toMatch(/-01$/)
  }
})

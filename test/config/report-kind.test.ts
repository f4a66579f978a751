import { expect, test } from 'vitest'
import { reportFor } from '../../src/config/starter-file.ts'

const NOW = new Date('2026-11-21T16:00:00Z')

test.each([
  ['every day at 07:00', 'daily', 'day'],
  ['*/5 * * * *', 'daily', 'day'],
  ['every weekday at 07:00', 'daily', 'working_day'],
  ['0 7,12 * * 1-5', 'daily', 'working_day'],
  ['every Monday and Thursday at 07:30', 'daily', 'since_last'],
  ['1st and 15th of the month at 08:00', 'daily', 'since_last'],
  ['0 7 * * 1#1,1#3', 'daily', 'since_last'],
  ['every Monday at 07:00', 'weekly', null],
  ['first Monday of the month at 08:00', 'monthly', null],
  ['last day of the month at 18:00', 'monthly', null],
])('%s: no day is left out by the %s report', (expression, name, period) => {
  const timing = { expression, timeZone: 'Europe/Berlin', holidays: [] }
  expect(reportFor(timing, NOW)).toEqual({ name, period })
})

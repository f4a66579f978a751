/** Schedules as they are written in the settings: in words, or for cron. */
import { expect, it } from 'vitest'
import { parseExpression } from '../../src/schedule/timing.ts'
import { datesFrom } from '../support/reports/daily-numbers.ts'

const FROM = Date.UTC(2026, 10, 20)
const HOLIDAYS = ['2026-11-30', '2026-12-24', '2026-12-25', '2026-12-31']

const UNDERSTOOD = [
  ...['every minute', 'every 15 minutes', 'every hour', 'every 6 hours', 'every day at 07:00'],
  ...['Every Day at 7:00', 'every day at 00:00, 12:00 and 18:00', 'every weekday at 07:00'],
  ...[
    'every Monday at 23:59',
    'every Monday and Thursday at 7:30',
    'every Monday, Wednesday and Sunday at 07:30',
  ],
  ...['1st of the month at 08:00', 'the 1st and 15th of the month at 08:00', '31st of every month at 08:00'],
  ...['first day of the month at 08:00', 'last day of the month at 18:00', 'last of the month at 18:00'],
  ...['last weekday of the month at 18:00', 'first Monday of the month at 08:00'],
  ...['2nd and 4th Tuesday of the month at 08:00', 'last Friday of the month at 17:00'],
  ...['every working day at 07:00', 'last working day of the month at 17:00'],
  'first and third working day of the month at 9:00',
]
const CRON = [
  ...['*/15 * * * *', '0 */6 * * *', '0 0,12,18 * * *', '0 7 * * 1-5', '30 7 * * 1,3,0', '0 8 1,15 * *'],
  ...['0 18 L * *', '0 7 LW * *', '0 7 15W * *', '0 7 1W * *', '0 7 16W * *', '0 7 * * 1#5'],
  ...['0 8 * * 2#2,2#4', '0 17 * * 5L', '0 7 29 2 *', '0 7 L 2 *'],
]
const REFUSED = [
  ...['every weekday', 'every wekday at 07:00', 'every weekday at 7', 'every weekday at 24:00'],
  ...['every day at 07:00 and', 'every 7 minutes', 'every 60 minutes', 'every 0 minutes', 'every 5 hours'],
  ...[
    'fourth working day at 07:00',
    'Monday at 07:00',
    'every day and Monday at 07:00',
    'every month at 07:00',
  ],
  ...['32nd of the month at 07:00', '5th Friday of the month at 07:00', '0th of the month at 07:00'],
  ...['every hour at 07:00', '', '0 7 * *', '0 7 * * * *', '60 7 * * *', '0 7 32 * *', '0 7 * 1,13 *'],
  ...['0 7 * * MON-XYZ', '0 7 1 * 1', '0 7 30 2 *'],
]

/** Returns times such as `Mon 2026-11-30 17:00`. */
function timesOf(text: string, count: number): string[] {
  const pattern = parseExpression(text, HOLIDAYS)
  if ('fault' in pattern) throw new Error(pattern.fault)
  const times: string[] = []
  for (let at = pattern.next(FROM); at !== null && times.length < count; at = pattern.next(at)) {
    const day = new Date(at).toUTCString().slice(0, 3)
    times.push(`${day} ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`)
  }
  return times
}

it('schedules in words and for cron are due at these times, or refused with what is wrong', async () => {
  const told = [...UNDERSTOOD, ...CRON].map((text) => `${text}: ${timesOf(text, 6).join(', ')}`)
  for (const text of REFUSED) {
    const pattern = parseExpression(text, [])
    told.push(`${JSON.stringify(text)}: ${'fault' in pattern ? pattern.fault : 'accepted'}`)
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/timing.txt')
})

it.each([
  ['the 1st and 15th of the month at 08:00', '0 8 1,15 * *'],
  ['last weekday of the month at 18:00', '0 18 LW * *'],
  ['2nd and 4th Tuesday of the month at 08:00', '0 8 * * 2#2,2#4'],
])('%s is due when %s is, over years', (words, cron) => {
  expect(timesOf(words, 100)).toEqual(timesOf(cron, 100))
})

it('working days are never due where each day is free', () => {
  const pattern = parseExpression('every working day at 07:00', datesFrom('2026-11-20', 800))
  expect('next' in pattern && pattern.next(FROM)).toBeNull()
})

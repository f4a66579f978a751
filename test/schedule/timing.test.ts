import { describe, expect, it } from 'vitest'
import type { Pattern } from '../../src/schedule/timing.ts'
import { parseExpression } from '../../src/schedule/timing.ts'

const FROM = Date.UTC(2026, 0, 1)
const YEARS_10 = Date.UTC(2036, 0, 1)
const HOLIDAYS = ['2026-11-30', '2026-12-24', '2026-12-25', '2026-12-31']

function patternOf(text: string, holidays: readonly string[] = []): Pattern {
  const pattern = parseExpression(text, holidays)
  if ('fault' in pattern) throw new Error(pattern.fault)
  return pattern
}

function faultOf(text: string): string {
  const pattern = parseExpression(text, [])
  return 'fault' in pattern ? pattern.fault : 'accepted'
}

/** Returns times such as `Mon 2026-11-30 17:00`. */
function timesOf(text: string, from: string, count: number, holidays: readonly string[] = []): string[] {
  const { next } = patternOf(text, holidays)
  const times: string[] = []
  for (let at = next(Date.parse(from)); at !== null && times.length < count; at = next(at)) {
    const day = new Date(at).toUTCString().slice(0, 3)
    times.push(`${day} ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`)
  }
  return times
}

function allTimes(text: string): number[] {
  const { next } = patternOf(text)
  const times: number[] = []
  for (let at = next(FROM); at !== null && at < YEARS_10; at = next(at)) times.push(at)
  return times
}

describe('words', () => {
  it.each([
    ['every minute', '* * * * *'],
    ['every 15 minutes', '*/15 * * * *'],
    ['every hour', '0 * * * *'],
    ['every 6 hours', '0 */6 * * *'],
    ['every day at 07:00', '0 7 * * *'],
    ['Every Day at 7:00', '0 7 * * *'],
    ['every day at 00:00, 12:00 and 18:00', '0 0,12,18 * * *'],
    ['every weekday at 07:00', '0 7 * * 1-5'],
    ['every Monday at 23:59', '59 23 * * 1'],
    ['every Monday and Thursday at 7:30', '30 7 * * 1,4'],
    ['every Monday, Wednesday and Sunday at 07:30', '30 7 * * 1,3,0'],
    ['1st of the month at 08:00', '0 8 1 * *'],
    ['the 1st and 15th of the month at 08:00', '0 8 1,15 * *'],
    ['31st of every month at 08:00', '0 8 31 * *'],
    ['first day of the month at 08:00', '0 8 1 * *'],
    ['last day of the month at 18:00', '0 18 L * *'],
    ['last of the month at 18:00', '0 18 L * *'],
    ['last weekday of the month at 18:00', '0 18 LW * *'],
    ['first Monday of the month at 08:00', '0 8 * * 1#1'],
    ['2nd and 4th Tuesday of the month at 08:00', '0 8 * * 2#2,2#4'],
    ['last Friday of the month at 17:00', '0 17 * * 5L'],
  ])('%s is due when %s is, over ten years', (words, cron) => {
    const times = words.includes('minute') ? timesOf(words, '2026-02-27', 5000) : allTimes(words)
    expect(times.length).toBeGreaterThan(50)
    expect(times).toEqual(words.includes('minute') ? timesOf(cron, '2026-02-27', 5000) : allTimes(cron))
  })

  it('pass over weekends and holidays where they say working day', () => {
    expect(timesOf('every working day at 07:00', '2026-12-23T07:00:00Z', 3, HOLIDAYS)).toEqual([
      'Mon 2026-12-28 07:00',
      'Tue 2026-12-29 07:00',
      'Wed 2026-12-30 07:00',
    ])
    expect(timesOf('last working day of the month at 17:00', '2026-11-01', 3, HOLIDAYS)).toEqual([
      'Fri 2026-11-27 17:00',
      'Wed 2026-12-30 17:00',
      'Fri 2027-01-29 17:00',
    ])
    expect(timesOf('first and third working day of the month at 9:00', '2026-08-01', 3, HOLIDAYS)).toEqual([
      'Mon 2026-08-03 09:00',
      'Wed 2026-08-05 09:00',
      'Tue 2026-09-01 09:00',
    ])
  })

  it('mean Monday to Friday by weekday, holidays included', () => {
    expect(timesOf('every weekday at 07:00', '2026-12-24', 2, HOLIDAYS)).toEqual([
      'Thu 2026-12-24 07:00',
      'Fri 2026-12-25 07:00',
    ])
  })

  it('are never due where each day is free', () => {
    const all = Array.from({ length: 800 }, (_, day) =>
      new Date(FROM + day * 86_400_000).toISOString().slice(0, 10),
    )
    expect(patternOf('every working day at 07:00', all).next(FROM)).toBeNull()
  })

  it.each([
    ['every weekday', 'the time is missing: "every weekday at 07:00"'],
    ['every wekday at 07:00', '"wekday" is none of its words'],
    ['every weekday at 7', '"7" is no time such as 07:00 or 17:30'],
    ['every weekday at 24:00', '"24:00" is no time'],
    ['every day at 07:00 and', '"07:00 and" is no time'],
    [
      'every 7 minutes',
      'an hour has no even steps of 7 minutes, but of 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30',
    ],
    ['every 60 minutes', 'an hour has no even steps of 60 minutes'],
    ['every 0 minutes', 'an hour has no even steps of 0 minutes'],
    ['every 5 hours', 'a day has no even steps of 5 hours, but of 1, 2, 3, 4, 6, 8, 12'],
    ['fourth working day at 07:00', 'it is written as "every 15 minutes"'],
    ['Monday at 07:00', 'it is written as "every 15 minutes"'],
    ['every day and Monday at 07:00', 'it is written as "every 15 minutes"'],
    ['every month at 07:00', 'of a month it is written as "1st and 15th of the month at 07:00"'],
    ['32nd of the month at 07:00', 'not every month has so many of them; "last day of the month" is in each'],
    [
      '5th Friday of the month at 07:00',
      'not every month has so many of them; "last friday of the month" is in each',
    ],
    ['0th of the month at 07:00', 'of a month it is written as'],
    ['every hour at 07:00', 'it is written as "every 15 minutes"'],
    ['', '"" is none of its words'],
  ])('%j is refused: %s', (text, fault) => {
    expect(faultOf(text)).toContain(fault)
  })
})

describe('cron', () => {
  it.each([
    ['0 7 * *', 'it has not five fields'],
    ['0 7 * * * *', 'it has not five fields'],
    ['60 7 * * *', '"60" cannot be read as its minute (0 to 59)'],
    ['0 7 32 * *', '"32" cannot be read as its day of the month (1 to 31)'],
    ['0 7 * 1,13 *', '"1,13" cannot be read as its month (1 to 12, or JAN to DEC)'],
    ['0 7 * * MON-XYZ', '"MON-XYZ" cannot be read as its weekday (0 to 7, or SUN to SAT)'],
    ['0 7 1 * 1', 'it restricts both day of month and weekday'],
    ['0 7 30 2 *', 'that day never comes'],
  ])('%j is refused: %s', (text, fault) => {
    expect(faultOf(text)).toContain(fault)
  })

  it.each([
    ['0 7 LW * *', ['Fri 2027-01-29 07:00', 'Fri 2027-02-26 07:00', 'Wed 2027-03-31 07:00']],
    ['0 7 15W * *', ['Fri 2027-01-15 07:00', 'Mon 2027-02-15 07:00', 'Mon 2027-03-15 07:00']],
    ['0 7 1W * *', ['Fri 2027-01-01 07:00', 'Mon 2027-02-01 07:00', 'Mon 2027-03-01 07:00']],
    ['0 7 16W * *', ['Fri 2027-01-15 07:00', 'Tue 2027-02-16 07:00', 'Tue 2027-03-16 07:00']],
    ['0 7 * * 1#5', ['Mon 2027-03-29 07:00', 'Mon 2027-05-31 07:00', 'Mon 2027-08-30 07:00']],
    ['0 7 29 2 *', ['Tue 2028-02-29 07:00', 'Sun 2032-02-29 07:00', 'Fri 2036-02-29 07:00']],
    ['0 7 L 2 *', ['Sun 2027-02-28 07:00', 'Tue 2028-02-29 07:00', 'Wed 2029-02-28 07:00']],
  ])('%s is due on %j', (cron, times) => {
    expect(timesOf(cron, '2027-01-01', 3)).toEqual(times)
  })
})

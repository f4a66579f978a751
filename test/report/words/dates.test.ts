import { describe, expect, it } from 'vitest'
import { periodBetween } from '../../../src/domain/period.ts'
import { datesOf, namePeriod } from '../../../src/report/words/dates.ts'
import { localeContextOf } from '../../support/report.ts'

const ZONE = 'Europe/Berlin'
const { instant, recent } = datesOf('en-GB', ZONE, '2026-11-21T05:04:00.000Z')

describe('an instant', () => {
  it('is told on the clock of the reader, with the year only of another year', () => {
    expect(instant('2026-11-20T13:10:00.000Z')).toBe('Fri 20 Nov, 14:10')
    expect(instant('2025-12-31T23:30:00.000Z')).toBe('Thu 1 Jan, 00:30')
    expect(instant('2025-12-31T22:30:00.000Z')).toBe('Wed, 31 Dec 2025, 23:30')
  })

  it('is told without the date where it is today', () => {
    expect(recent('2026-11-20T23:01:00.000Z')).toBe('00:01')
    expect(recent('2026-11-20T22:59:00.000Z')).toBe('Fri 20 Nov, 23:59')
  })
})

describe('a period', () => {
  const period = (from: string, to: string) => periodBetween(from, to, ZONE)

  it('of a day is named by its weekday and date, where the report is made', () => {
    expect(namePeriod('en-GB', 'day', period('2026-11-20', '2026-11-21'))).toEqual({
      shape: 'day',
      long: 'Friday, 20 November 2026',
      short: 'Fri 20 Nov',
      brief: '20 Nov',
      name: 'Friday',
      week: null,
      quarter: null,
    })
  })

  it('of several days is named by its first and last', () => {
    const days = namePeriod('en-GB', 'working_day', period('2026-11-20', '2026-11-23'))
    expect(days).toMatchObject({ shape: 'days', week: null })
    expect(days.short).toMatch(/^Fri 20 Nov\s–\sSun 22 Nov$/)
    expect(days.brief).toMatch(/^20\s?–\s?22 Nov$/)
  })

  it('of a working day that is one day is a day', () => {
    expect(namePeriod('en-GB', 'working_day', period('2026-11-20', '2026-11-21')).shape).toBe('day')
  })

  it.each([
    ['2026-11-16', 47],
    ['2026-12-28', 53],
    ['2027-01-04', 1],
    ['2024-12-30', 1],
  ])('of the week of %s has the number %i', (monday, week) => {
    const sunday = new Date(Date.parse(monday) + 7 * 86_400_000).toISOString().slice(0, 10)
    expect(namePeriod('de-DE', 'week', period(monday, sunday)).week).toBe(week)
  })

  it('of a week from Sunday has the number of the ISO week of its Monday', () => {
    expect(namePeriod('en-US', 'week', period('2026-11-15', '2026-11-22')).week).toBe(47)
    expect(namePeriod('en-US', 'week', period('2027-01-03', '2027-01-10')).week).toBe(1)
  })

  it.each([
    ['en-GB', 'Q3 · July – September 2026'],
    ['de-DE', '3. Quartal · Juli–September 2026'],
  ])('of a quarter is named by its number in %s', (tag, long) => {
    const names = { ...namePeriod(tag, 'quarter', period('2026-07-01', '2026-10-01')) }
    const { words } = localeContextOf({ locale: tag })
    expect(names).toMatchObject({ shape: 'quarter', quarter: 3, week: null })
    expect(words('period.long', names).replace(/\u2009/g, ' ')).toBe(long)
  })

  it('of a month is named by it', () => {
    expect(namePeriod('de-DE', 'month', period('2026-11-01', '2026-12-01'))).toMatchObject({
      long: 'November 2026',
      short: 'Nov. 2026',
      name: 'November',
    })
  })
})

/** The public holidays of the package, and the dates of the settings. */
import { describe, expect, it, test } from 'vitest'
import { isWorkingDay, listHolidays, REGIONS } from '../../src/schedule/holidays.ts'
import { DAY_MS } from '../../src/schedule/zone.ts'

const named = (holidays: readonly string[], from: string, to: string, language = 'en') =>
  listHolidays(holidays, from, to, [language]).map(({ day, names }) => [day, names[language]])

describe('holidays', () => {
  it.each([
    ['DE', 'de', '2026-12-20', '2026-12-31', ['2026-12-25 1. Weihnachtstag', '2026-12-26 2. Weihnachtstag']],
    ['DE', 'en', '2026-12-20', '2026-12-31', ['2026-12-25 Christmas Day', '2026-12-26 Boxing Day']],
    // Only a part of Germany has the day of its patron, and Christmas Eve is no public holiday.
    ['DE', 'de', '2026-06-01', '2026-06-30', []],
    ['DE-BY', 'de', '2026-06-01', '2026-06-30', ['2026-06-04 Fronleichnam']],
    ['US', 'en', '2026-11-01', '2026-11-30', ['2026-11-11 Veterans Day', '2026-11-26 Thanksgiving Day']],
    // The package has no German name of it.
    ['US', 'de', '2026-11-26', '2026-11-26', ['2026-11-26 Thanksgiving Day']],
    [
      'US',
      'en',
      '2026-07-01',
      '2026-07-31',
      ['2026-07-03 Independence Day (substitute day)', '2026-07-04 Independence Day'],
    ],
    ['GB-SCT', 'en', '2026-11-01', '2026-11-30', ['2026-11-30 St Andrew’s Day']],
    ['GB-ENG', 'en', '2026-11-01', '2026-11-30', []],
    // A country whose own language the package puts first.
    ['JP', 'en', '2026-11-03', '2026-11-03', ['2026-11-03 Culture Day']],
    // It begins on the evening before, and is told of the day.
    ['IL', 'en', '2026-09-21', '2026-09-21', ['2026-09-21 Day of Atonement (Yom Kippur)']],
    // Three days and a half, of which the half is no day off.
    [
      'TR',
      'en',
      '2026-03-18',
      '2026-03-25',
      ['2026-03-20', '2026-03-21', '2026-03-22'].map((day) => `${day} End of Ramadan (Eid al-Fitr)`),
    ],
    // Easter Sunday has 23 hours where the clock changes on it.
    ['DE-BB', 'en', '2024-03-31', '2024-03-31', ['2024-03-31 Easter Sunday']],
    // From noon on.
    ['CN', 'en', '2026-08-01', '2026-08-01', []],
  ])('of %s in %s from %s to %s', (region, language, from, to, days) => {
    expect(named([region], from, to, language).map((each) => each.join(' '))).toEqual(days)
  })

  it('of several years are in order, each date once, with the name of the settings before that of a region', () => {
    const holidays = ['DE', '2027-01-01: Neues Jahr', '2026-12-24', 'AT', '2026-12-25']
    expect(named(holidays, '2026-12-24', '2027-01-06', 'de')).toEqual([
      ['2026-12-24', undefined],
      ['2026-12-25', '1. Weihnachtstag'],
      ['2026-12-26', '2. Weihnachtstag'],
      ['2027-01-01', 'Neues Jahr'],
      ['2027-01-06', 'Heilige Drei Könige'],
    ])
  })

  it('have their names in all languages that were asked for', () => {
    expect(
      listHolidays(['DE', '2026-12-24: Betriebsferien'], '2026-12-24', '2026-12-25', ['en', 'de']),
    ).toEqual([
      { day: '2026-12-24', names: { en: 'Betriebsferien', de: 'Betriebsferien' } },
      { day: '2026-12-25', names: { en: 'Christmas Day', de: '1. Weihnachtstag' } },
    ])
  })
})

test.each([
  ['2026-11-26', ['US'], false],
  ['2026-11-26', ['DE'], true],
  ['2026-11-26', [], true],
  ['2026-11-26', ['2026-11-26'], false],
  ['2026-11-26', ['DE', '2026-11-26: Betriebsausflug'], false],
  ['2026-11-28', [], false],
])('%s is with the holidays %j a working day: %s', (date, holidays, is) => {
  expect(isWorkingDay(Date.parse(date) / DAY_MS, holidays)).toBe(is)
})

test('each region of the list has holidays in a year', () => {
  expect(REGIONS).toEqual(expect.arrayContaining(['DE', 'DE-BY', 'DE-BY-A', 'US', 'GB-SCT']))
  expect(REGIONS.filter((region) => named([region], '2026-01-01', '2026-12-31').length === 0)).toEqual([])
})

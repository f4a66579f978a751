/** The public holidays of the package, and the dates of the settings. */
import { expect, it, test } from 'vitest'
import { isWorkingDay, listHolidays, REGIONS } from '../../src/schedule/holidays.ts'
import { DAY_MS } from '../../src/schedule/zone.ts'

/** Regions or dates, languages, and the first and the last day, by what they show. */
const ASKED: Readonly<Record<string, readonly [string, string, string, string]>> = {
  'names in German and English': ['DE', 'de en', '2026-12-20', '2026-12-31'],
  'no day of a part in the whole': ['DE', 'de', '2026-06-01', '2026-06-30'],
  'the day of the part': ['DE-BY', 'de', '2026-06-01', '2026-06-30'],
  'no German name in the package': ['US', 'de', '2026-11-26', '2026-11-26'],
  'a substitute day': ['US', 'en', '2026-07-01', '2026-07-31'],
  'a country whose own language comes first': ['JP', 'en', '2026-11-03', '2026-11-03'],
  'one that begins on the evening before': ['IL', 'en', '2026-09-21', '2026-09-21'],
  'three days and a half, of which the half is no day off': ['TR', 'en', '2026-03-18', '2026-03-25'],
  'a Sunday of 23 hours': ['DE-BB', 'en', '2024-03-31', '2024-03-31'],
  'one from noon on': ['CN', 'en', '2026-08-01', '2026-08-01'],
  'several years, where the name of the settings comes before that of a region': [
    ...(['DE,2027-01-01: Neues Jahr,2026-12-24,AT,2026-12-25', 'de en', '2026-12-24', '2027-01-06'] as const),
  ],
}

it('holidays are in order, each date once, with their names in the languages that were asked for', async () => {
  const told = Object.entries(ASKED).flatMap(([what, [holidays, languages, from, to]]) => [
    `${what}: ${holidays} from ${from} to ${to}`,
    ...listHolidays(holidays.split(','), from, to, languages.split(' ')).map(
      ({ day, names }) => `  ${day} ${JSON.stringify(names)}`,
    ),
  ])
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/holidays.txt')
})

test.each([
  ['2026-11-26', ['US'], false],
  ['2026-11-26', ['DE'], true],
  ['2026-11-26', ['DE', '2026-11-26: Betriebsausflug'], false],
  ['2026-11-28', [], false],
])('%s is with the holidays %j a working day: %s', (date, holidays, is) => {
  expect(isWorkingDay(Date.parse(date) / DAY_MS, holidays)).toBe(is)
})

test('each region of the list has holidays in a year', () => {
  expect(REGIONS).toEqual(expect.arrayContaining(['DE', 'DE-BY', 'DE-BY-A', 'US', 'GB-SCT']))
  const isFree = (region: string) => listHolidays([region], '2026-01-01', '2026-12-31', ['en']).length > 0
  expect(REGIONS.filter((region) => !isFree(region))).toEqual([])
})

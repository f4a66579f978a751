/**
 * Finds holidays: the public holidays of regions such as `DE-BY`, and the dates of the settings. The package
 * with the public holidays takes a fifth of a second to load, so it is loaded when a region is first asked for.
 */
import { loadPackage } from '../packages.ts'
import regions from './holiday-regions.json' with { type: 'json' }
import { DAY_MS, dateOf, weekdayOf } from './zone.ts'

/** All known regions, such as `DE`, `DE-BY` and `DE-BY-A`. `npm run docs` writes their list. */
export const REGIONS: readonly string[] = Object.values(regions).flatMap((codes) => codes.split(' '))
export const COUNTRIES: readonly string[] = Object.keys(regions)

/** Matches a date of the settings, such as `2026-12-24` or `2026-12-24: Company holiday`. */
export const DATE_ENTRY = /^(\d{4}-\d\d-\d\d)(?:\s*:\s*(\S.*))?$/

export interface Holiday {
  /** The local date, such as `2026-12-25`. */
  readonly day: string
  /** The name in each language that was asked for. Empty if the settings give only the date. */
  readonly names: Readonly<Record<string, string>>
}

/** @param holidays the entries of the setting: regions, and dates with or without a name */
export function isWorkingDay(day: number, holidays: readonly string[]): boolean {
  const date = dateOf(day)
  const isHoliday = (entry: string) => namesOf(entry, Number(date.slice(0, 4)), 'en').has(date)
  return weekdayOf(day) <= 5 && !holidays.some(isHoliday)
}

/**
 * Lists the holidays from one date to another, both included, each date once and in order. A name of the
 * settings goes before that of a region.
 * @param holidays the entries of the setting: regions, and dates with or without a name
 * @param languages such as `de`. A name that the package has not in a language is English.
 */
export function listHolidays(
  holidays: readonly string[],
  from: string,
  to: string,
  languages: readonly string[],
): Holiday[] {
  const found = new Map<string, Record<string, string>>()
  const ownFirst = holidays.toSorted((one, other) => Number(isRegion(one)) - Number(isRegion(other)))
  for (let year = Number(from.slice(0, 4)); year <= Number(to.slice(0, 4)); year++) {
    for (const language of languages) {
      for (const [day, name] of ownFirst.flatMap((entry) => [...namesOf(entry, year, language)])) {
        const names = found.get(day) ?? {}
        if (name !== null) names[language] ??= name
        found.set(day, names)
      }
    }
  }
  return [...found.keys()]
    .filter((day) => from <= day && day <= to)
    .sort()
    .map((day) => ({ day, names: found.get(day) ?? {} }))
}

/** Maps each date of an entry to its name, which is null if the settings give only the date. */
function namesOf(entry: string, year: number, language: string): ReadonlyMap<string, string | null> {
  const [, date, name = null] = DATE_ENTRY.exec(entry) ?? []
  return date === undefined ? publicHolidays(entry, year, language) : new Map([[date, name]])
}

function isRegion(entry: string): boolean {
  return !DATE_ENTRY.test(entry)
}

const known = new Map<string, ReadonlyMap<string, string>>()

/** Maps the date of each public holiday that begins in a year to its name. Half days are no holidays. */
function publicHolidays(code: string, year: number, language: string): ReadonlyMap<string, string> {
  const key = `${code} ${year} ${language}`
  const before = known.get(key)
  if (before !== undefined) return before
  const Holidays = loadPackage('date-holidays')
  const [country = '', state = '', region = ''] = code.split('-')
  const calendar = new Holidays(
    { country, state, region },
    { types: ['public'], languages: [language, 'en'] },
  )
  const names = new Map<string, string>()
  for (const { date, start, end, name } of calendar.getHolidays(year)) {
    // Counts whole days: that of a clock change has 23 hours, and Eid al-Fitr has three days and a half in Turkey.
    const days = Math.floor((end.getTime() - start.getTime() + HOUR_MS) / DAY_MS)
    const first = Math.floor(Date.parse(date.slice(0, 10)) / DAY_MS)
    for (let day = first; day < first + days; day++) if (!names.has(dateOf(day))) names.set(dateOf(day), name)
  }
  known.set(key, names)
  return names
}

const HOUR_MS = 3_600_000

/** Generates the list of the regions whose public holidays are known, for the program and as a page. */
import Holidays from 'date-holidays'
import { code, page, table } from './markdown.ts'

const calendar = new Holidays()
const byCode = (one: string, other: string) => (one < other ? -1 : 1)
/** The package cannot find the few regions whose codes have small letters, so they are left out. */
const codesOf = (names: Readonly<Record<string, string>> | undefined) =>
  Object.entries(names ?? {})
    .filter(([each]) => /^[A-Z0-9]+$/.test(each))
    .sort(([one], [other]) => byCode(one, other))

/** Maps each country to its regions: pairs of a code, such as `DE-BY`, and an English name. The country is first. */
const REGIONS = new Map(
  codesOf(calendar.getCountries('en')).map(([country, name]) => [
    country,
    [
      [country, name] as const,
      ...codesOf(calendar.getStates(country, 'en')).flatMap(([state, stateName]) => [
        [`${country}-${state}`, `${name}: ${stateName}`] as const,
        ...codesOf(calendar.getRegions(country, state, 'en')).map(
          ([region, regionName]) =>
            [`${country}-${state}-${region}`, `${name}: ${stateName}, ${regionName}`] as const,
        ),
      ]),
    ],
  ]),
)

/** Returns JSON: for each country, the codes of the country and its regions with spaces between. */
export function holidayRegionsJson(): string {
  const codes = [...REGIONS].map(([country, regions]) => [country, regions.map(([each]) => each).join(' ')])
  return `${JSON.stringify(Object.fromEntries(codes), null, 2)}\n`
}

export function holidayRegionsPage(): string {
  return page(
    'Regions with public holidays',
    'The setting [`holidays`](settings.md) takes these codes. A region has the holidays of its country and its own.',
    'They come from the package [date-holidays](https://github.com/commenthol/date-holidays). Only public holidays of a whole day count. A day off that is missing is written as a date.',
    table(
      ['Code', 'Region'],
      [...REGIONS.values()].flat().map(([each, name]) => [code(each), name]),
    ),
  )
}

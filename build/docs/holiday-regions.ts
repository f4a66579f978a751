/** Generates the list of the regions whose public holidays are known, for the program. */
import Holidays from 'date-holidays'

const calendar = new Holidays()
const byCode = (one: string, other: string) => (one < other ? -1 : 1)
/** The package cannot find the few regions whose codes have small letters, so they are left out. */
const codesOf = (names: Readonly<Record<string, string>> | undefined) =>
  Object.keys(names ?? {})
    .filter((each) => /^[A-Z0-9]+$/.test(each))
    .sort(byCode)

/** Maps each country to the codes of itself and its regions, such as `DE DE-BY`. The country is first. */
const REGIONS = new Map(
  codesOf(calendar.getCountries('en')).map((country) => [
    country,
    [
      country,
      ...codesOf(calendar.getStates(country, 'en')).flatMap((state) => [
        `${country}-${state}`,
        ...codesOf(calendar.getRegions(country, state, 'en')).map(
          (region) => `${country}-${state}-${region}`,
        ),
      ]),
    ],
  ]),
)

/** Returns JSON: for each country, the codes of the country and its regions with spaces between. */
export function holidayRegionsJson(): string {
  const codes = [...REGIONS].map(([country, regions]) => [country, regions.join(' ')])
  return `${JSON.stringify(Object.fromEntries(codes), null, 2)}\n`
}

/** The drivers block says from where the difference of each unusual number came, and never why. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { Driver, DriverDimension } from '../../../domain/insight.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { signed } from '../../words/numbers.ts'
import { NAME_LENGTH } from '../lists.ts'

/** The width of the longest bar, in percent of its column. */
const BAR_WIDTH = 100

/** Returns no view if no number is unusual, or if the differences have no clear origin. */
export function composeDrivers(figures: ReportFigures, locale: LocaleContext) {
  const { drivers = [] } = figures.insight ?? {}
  if (drivers.length === 0) return []
  return [
    {
      kind: 'drivers' as const,
      title: locale.words('drivers.title'),
      drivers: drivers.map((driver) => countOf(driver, locale)),
    },
  ]
}

function countOf(driver: Driver, locale: LocaleContext) {
  return {
    text: locale.words(`drivers.${driver.figure}`, {
      actual: driver.actual,
      expected: Math.round(driver.expected),
      dimension: driver.dimension,
    }),
    parts: partsOf(driver, locale),
  }
}

function partsOf({ parts, rest, dimension }: Driver, locale: LocaleContext) {
  const { words, numbers } = locale
  const named = parts.map(({ name, actual, expected, difference }) => ({
    name: nameOf(name, dimension, locale),
    counts: words('drivers.counts', { actual, expected: numbers.count(Math.round(expected)) }),
    difference,
  }))
  const other = { name: words('drivers.rest'), counts: '', difference: rest }
  const all = rest === 0 ? named : [...named, other]
  const largest = Math.max(...all.map(({ difference }) => Math.abs(difference)), 1)
  return all.map(({ name, counts, difference }) => {
    const width = Math.round((Math.abs(difference) / largest) * BAR_WIDTH)
    return {
      name,
      counts,
      difference: signed(difference, numbers.count),
      width,
      remainder: BAR_WIDTH - width,
      isLess: difference < 0,
    }
  })
}

function nameOf(name: string | null, dimension: DriverDimension, { words }: LocaleContext): string {
  return name === null ? words('drivers.without', { dimension }) : oneLine(name, NAME_LENGTH)
}

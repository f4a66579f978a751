/** The drivers block: where each unusual number came from. It says where, and never why. */
import type { ReportFigures } from '../../../domain/figures.ts'
import type { Driver } from '../../../domain/insight.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { signed } from '../../words/numbers.ts'
import { NAME_LENGTH } from '../list-rows.ts'

/** The width of the longest bar, in percent of its column. */
const BAR_WIDTH = 100

export interface DriversView {
  readonly kind: 'drivers'
  readonly title: string
  readonly drivers: readonly {
    /** The number and its difference from the expected one. */
    readonly text: string
    readonly parts: readonly {
      readonly name: string
      readonly difference: string
      readonly counts: string
      /** The length of the bar, and of the track after it, in percent. */
      readonly width: number
      readonly remainder: number
      readonly isLess: boolean
    }[]
  }[]
}

/** Returns no view if nothing is unusual, or if no part stands out. */
export function composeDrivers(figures: ReportFigures, locale: LocaleContext): DriversView[] {
  const drivers = figures.insight?.drivers ?? []
  if (drivers.length === 0) return []
  return [
    {
      kind: 'drivers',
      title: locale.words('drivers.title'),
      drivers: drivers.map((driver) => ({
        text: locale.words(`drivers.${driver.figure}`, {
          actual: driver.actual,
          expected: Math.round(driver.expected),
          dimension: driver.dimension,
        }),
        parts: partsOf(driver, locale),
      })),
    },
  ]
}

function partsOf({ parts, rest, dimension }: Driver, { words, numbers }: LocaleContext) {
  const largest = Math.max(...parts.map(({ difference }) => Math.abs(difference)), Math.abs(rest), 1)
  const bar = (difference: number) => {
    const width = Math.round((Math.abs(difference) / largest) * BAR_WIDTH)
    const isLess = difference < 0
    return { difference: signed(difference, numbers.count), width, remainder: BAR_WIDTH - width, isLess }
  }
  const named = parts.map(({ name, actual, expected, difference }) => ({
    name: name === null ? words('drivers.without', { dimension }) : oneLine(name, NAME_LENGTH),
    counts: words('drivers.counts', { actual, expected: numbers.count(Math.round(expected)) }),
    ...bar(difference),
  }))
  return rest === 0 ? named : [...named, { name: words('drivers.rest'), counts: '', ...bar(rest) }]
}

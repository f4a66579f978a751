/**
 * The drivers block says for each unusual number from which sources, countries or agents its difference from
 * the expected number came. It never says why.
 */
import type { ReportFigures } from '../../../domain/figures.ts'
import {
  type Driver,
  type DriverDimension,
  type JudgedWinRate,
  type RateOrigin,
  rateOfAll,
} from '../../../domain/insight.ts'
import { oneLine } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { signed } from '../../words/numbers.ts'
import { NAME_LENGTH } from '../lists.ts'

/** The width of the longest bar, in percent of its column. */
const BAR_WIDTH = 100

/** Returns no view if no number is unusual, or if the differences have no clear origin. */
export function composeDrivers(figures: ReportFigures, locale: LocaleContext) {
  const { drivers = [] } = figures.insight ?? {}
  const winRate = rateOfAll(figures.insight)
  const ofRate = winRate?.origin ? [rateOf(winRate, winRate.origin, locale)] : []
  if (drivers.length + ofRate.length === 0) return []
  return [
    {
      kind: 'drivers' as const,
      title: locale.words('drivers.title'),
      drivers: [...drivers.map((driver) => countOf(driver, locale)), ...ofRate],
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

/**
 * Composes the parts of the difference of an unusual win rate. A part is a group (such as a source) whose own
 * rate changed, the changed mix of groups, or all other groups together.
 */
function rateOf(
  { won, decided }: JudgedWinRate,
  { dimension, difference, mix, parts, rest }: RateOrigin,
  locale: LocaleContext,
) {
  const { words, numbers } = locale
  const points = (tenths: number) => words('points', { size: numbers.decimal(tenths / 10, 1) })
  const named = parts.map(({ name, within }) => ({
    name: nameOf(name, dimension, locale),
    difference: within,
  }))
  const other = { name: words('drivers.rest'), difference: rest }
  return {
    text: words('drivers.win_rate', {
      rate: numbers.rate(won / decided),
      dimension,
      difference: signed(difference, points),
    }),
    parts: barsOf(
      [...named, { name: words('drivers.mix', { dimension }), difference: mix }, other]
        .filter(({ difference: each }) => each !== 0)
        .map((part) => ({ ...part, counts: '' })),
      points,
    ),
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
  return barsOf(rest === 0 ? named : [...named, other], numbers.count)
}

function nameOf(name: string | null, dimension: DriverDimension, { words }: LocaleContext): string {
  return name === null ? words('drivers.without', { dimension }) : oneLine(name, NAME_LENGTH)
}

function barsOf(
  parts: readonly { readonly name: string; readonly counts: string; readonly difference: number }[],
  write: (size: number) => string,
) {
  const largest = Math.max(...parts.map(({ difference }) => Math.abs(difference)), 1)
  return parts.map(({ name, counts, difference }) => {
    const width = Math.round((Math.abs(difference) / largest) * BAR_WIDTH)
    const isLess = difference < 0
    return {
      name,
      counts,
      difference: signed(difference, write),
      // The lengths of the bar and of the empty rest of its column, in percent.
      width,
      remainder: BAR_WIDTH - width,
      isLess,
    }
  })
}

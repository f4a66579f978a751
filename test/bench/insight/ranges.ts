/** Counts how often the ranges of days, weeks and months hold, without a change and after a planted one. */

import { type CountSeries, isWithin, judgeSeries, type Scale } from '../../../src/insight/normal-range.ts'
import { isTrusted, recordOf } from '../../../src/insight/record.ts'
import { dailyNumbers, weekdaysOf } from '../../support/reports/daily-numbers.ts'
import { addHit, type Hits, noHits, type Result, shareOf } from './result.ts'
import { KINDS } from './series.ts'

const SCALES: readonly Scale[] = ['day', 'week', 'month']
const LENGTHS = { day: 1, week: 7, month: 30 } as const
/** The record is looked at again after so many numbers. */
const RECORD_EVERY = { day: 30, week: 1, month: 1 } as const
const YEARS = 6
/** The days after a shift in which the ranges need not hold. */
const SETTLED = 20

/** How often the ranges of 95 % and of 80 % held. */
export interface RangeHits {
  readonly in95: Hits
  readonly in80: Hits
}

export const noRangeHits = (): RangeHits => ({ in95: noHits(), in80: noHits() })

/** Adds up how often the ranges of a series held that would have been printed. */
export function countHits(
  series: CountSeries,
  sum: RangeHits,
  isCounted: (index: number) => boolean = () => true,
): void {
  const { steps } = judgeSeries(series)
  let isShown = true
  for (const [index, { forecast }] of steps.entries()) {
    const value = series.values[index]
    if (forecast === null || value === null || value === undefined) continue
    if (index % RECORD_EVERY[series.scale] === 0)
      isShown = isTrusted(recordOf(steps.slice(0, index), series.values))
    if (!isCounted(index) || !isShown) continue
    // If the value 0 alone is likelier than a range may be, every range holds too often, so none is counted.
    const none = Math.exp(-forecast.mean)
    if (none < 0.97) addHit(sum.in95, isWithin(forecast.range95, value))
    if (none < 0.84) addHit(sum.in80, isWithin(forecast.range80, value))
  }
}

/** Makes the series of a scale from days: whole weeks, or months of 30 days. */
export function grouped(days: readonly number[], scale: Scale): CountSeries {
  if (scale === 'day') return { values: days, places: weekdaysOf(days), scale }
  const length = LENGTHS[scale]
  const values = Array.from({ length: Math.floor(days.length / length) }, (_, group) =>
    days.slice(group * length, (group + 1) * length).reduce((sum, each) => sum + each, 0),
  )
  return { values, places: values.map((_, index) => (scale === 'month' ? index % 3 : 0)), scale }
}

export function resultsOf({ in95, in80 }: RangeHits, series: string, horizon: string): Result[] {
  const goal = horizon === 'week' || horizon === 'month' ? 'coverage-95-of-weeks' : 'coverage-95'
  return [shareOf(goal, series, horizon, in95), shareOf('coverage-80', series, horizon, in80)]
}

export function measureRanges(rounds: number): Result[] {
  const results: Result[] = []
  const shifts = [0, -0.4, -0.2, 0.2, 0.4]
  for (const { name, given } of KINDS) {
    for (const scale of SCALES) {
      const [unchanged, shifted] = [noRangeHits(), noRangeHits()]
      // Days are plenty; months are few, so that more years are needed.
      const wanted = scale === 'day' ? Math.ceil(rounds / 4) : scale === 'week' ? rounds : 3 * rounds
      for (let seed = 1; seed <= wanted; seed++) {
        const years = scale === 'day' ? 2 : YEARS
        const days = dailyNumbers({ ...given, days: years * 365, seed })
        countHits(grouped(days, scale), unchanged)
        const shift = shifts[1 + (seed % 4)] ?? 0
        const at = Math.round(years * 365 * 0.55) + (seed % 30)
        const times = (day: number) => (given.times?.(day) ?? 1) * (day < at ? 1 : 1 + shift)
        const changed = dailyNumbers({ ...given, times, days: years * 365, seed: seed + 5000 })
        countHits(grouped(changed, scale), shifted, (index) => index * LENGTHS[scale] >= at + SETTLED)
      }
      results.push(...resultsOf(unchanged, name, scale))
      results.push(...resultsOf(shifted, `${name}, after a shift`, scale))
    }
  }
  return results
}

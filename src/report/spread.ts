/**
 * Whether a count has moved further than it usually does. This is the one place that decides whether a period may be
 * called better or slower: counts of two ordinary periods differ nearly always, and often by a fifth.
 */
import type { ReportFigures } from '../figures.ts'
import { localDay } from '../schedule/zone.ts'
import { isDoubtful } from './coverage.ts'

/** Fewer differences than these are no measure of what is usual. */
const DIFFERENCES_LEAST = 8
/** Standard deviations within which about 19 of 20 ordinary differences lie. */
const WIDTH = 2

/**
 * Whether the difference is within twice its usual size: that of counts of independent events (Poisson), or, where it
 * is larger, that of the same difference in the weeks before, on the same weekdays; of months, in the months before.
 */
export function isUsual(figures: ReportFigures, name: 'newLeads' | 'won'): boolean {
  const { current, prior } = figures[name]
  if (isDoubtful(figures, name)) return true
  const squares = listDifferences(figures, name).map((each) => each * each)
  const mean = squares.reduce((sum, each) => sum + each, 0) / squares.length
  const variance = squares.length < DIFFERENCES_LEAST ? 0 : mean
  return Math.abs(current - prior) <= WIDTH * Math.sqrt(Math.max(current + prior, variance))
}

/** Of earlier periods of the same weekdays how they differed from what they are compared with, where both are known. */
function listDifferences(figures: ReportFigures, name: 'newLeads' | 'won'): number[] {
  const { kind, period, prior, sparklines, trend } = figures
  const dayOf = (instant: string) => localDay(Date.parse(instant), period.timeZone)
  const isMonth = kind === 'month'
  const counts = isMonth ? sparklines[name] : trend.map((day) => day[name])
  const length = isMonth ? 1 : dayOf(period.to) - dayOf(period.from)
  const back = isMonth ? 1 : dayOf(period.from) - dayOf(prior.from)
  const step = isMonth ? 1 : 7
  const differences: number[] = []
  for (let end = counts.length - step; end >= length + back; end -= step) {
    const [is, was] = [end, end - back].map((to) => counts.slice(to - length, to))
    if (is && was && ![...is, ...was].includes(null)) differences.push(sumOf(is) - sumOf(was))
  }
  return differences
}

function sumOf(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((sum, each) => sum + (each ?? 0), 0)
}

/** New and won leads per day over a quarter: the chart, and what it shows in a sentence. */
import type { ReportFigures, TrendDay } from '../../figures.ts'
import type { ChartSource, ReportContext } from '../context.ts'
import { formatLocalDay } from '../dates.ts'
import type { Voice } from '../voice.ts'

export interface TrendView {
  readonly kind: 'trend'
  readonly title: string
  readonly note: string
  /** What the chart shows, also as its alternative text; says so where there are too few days. */
  readonly finding: string
  readonly chart: ChartSource | null
}

/** Days of a mean. */
const WEEK = 7

export function composeTrend(figures: ReportFigures, voice: Voice, context: ReportContext): TrendView {
  const { trend } = voice.words
  const days = figures.trend.slice(-(figures.trend.length - WEEK + 1))
  const finding = findingOf(figures.trend, voice)
  return {
    kind: 'trend',
    title: trend.title,
    note: finding === null ? trend.empty : trend.note(days.length),
    finding: finding ?? '',
    chart: (finding !== null && context.charts.get('trend')) || null,
  }
}

/** Compares the last seven days with the first seven that are known; null before there are seven. */
function findingOf(days: readonly TrendDay[], voice: Voice): string | null {
  const { trend } = voice.words
  const known = days.filter((day) => day.newLeads !== null)
  const [first, last] = [known.slice(0, WEEK), known.slice(-WEEK)]
  if (last.length < WEEK) return null
  const mean = (week: readonly TrendDay[], read: (day: TrendDay) => number | null) =>
    formatMean(week.reduce((sum, day) => sum + (read(day) ?? 0), 0) / WEEK, voice)
  const [newLeads, won] = [mean(last, (day) => day.newLeads), mean(last, (day) => day.won)]
  if (known.length < 2 * WEEK) return trend.short(newLeads, won)
  const around = formatLocalDay(voice.locale, first[Math.floor(WEEK / 2)]?.day ?? '')
  return trend.finding(
    newLeads,
    won,
    around,
    mean(first, (day) => day.newLeads),
    mean(first, (day) => day.won),
  )
}

/** `33`, but `3.4` where the digit tells something. */
export function formatMean(mean: number, { numbers }: Voice): string {
  return numbers.decimal(mean, mean < 10 ? 1 : 0)
}

/** New and won leads per day over a quarter: the chart, and what it shows in a sentence. */
import type { ReportFigures, TrendDay } from '../../../domain/figures.ts'
import { shownDays } from '../../charts/draw.ts'
import { meansOfWeek, writeMean } from '../../charts/trend-layout.ts'
import type { ChartSource, ReportContext } from '../../context.ts'
import { formatLocalDay } from '../../words/dates.ts'
import type { Voice } from '../../words/locale-context.ts'

export interface TrendView {
  readonly kind: 'trend'
  readonly title: string
  readonly note: string
  /** How the lines of the chart are to be read. */
  readonly ofLines: string
  /** What the chart shows, also as its alternative text; empty where there are too few days. */
  readonly finding: string
  readonly chart: ChartSource | null
}

/** Between the two means that are compared: fewer days, and they would share some. */
const APART = 7

export function composeTrend(figures: ReportFigures, voice: Voice, context: ReportContext): TrendView {
  const { trend } = voice.words
  const days = shownDays(figures.trend).length
  return {
    kind: 'trend',
    title: trend.title,
    note: days === 0 ? trend.empty : trend.note(days),
    ofLines: trend.ofLines,
    finding: days === 0 ? '' : findingOf(figures.trend, voice),
    chart: context.charts.get('trend') ?? null,
  }
}

/** Compares the last mean with the first that is known. */
function findingOf(days: readonly TrendDay[], voice: Voice): string {
  const { words, numbers, locale } = voice
  const [newLeads, won] = [
    meansOfWeek(days.map((day) => day.newLeads)),
    meansOfWeek(days.map((day) => day.won)),
  ]
  const first = newLeads.findIndex((mean) => mean !== null)
  const last = newLeads.findLastIndex((mean) => mean !== null)
  const at = (means: readonly (number | null)[], index: number) => writeMean(means[index] ?? 0, numbers)
  const [newNow, wonNow] = [at(newLeads, last), at(won, last)]
  const dayAt = (index: number) => formatLocalDay(locale, days[index]?.day ?? '')
  const week = words.trend.week(last === days.length - 1 ? null : dayAt(last))
  if (last - first < APART) return words.trend.short(week, newNow, wonNow)
  return words.trend.finding(week, newNow, wonNow, dayAt(first), at(newLeads, first), at(won, first))
}

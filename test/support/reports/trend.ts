/**
 * The days of a trend and the labels of its chart, for tests of drawings. The last day is 20 November 2026.
 */
import type { TrendDay } from '../../../src/domain/figures.ts'
import { type ChartLabels, chartLabels } from '../../../src/report/charts/trend-layout.ts'
import { createLocaleContext } from '../../../src/report/words/locale-context.ts'
import { random } from '../random.ts'

const DAY_MS = 86_400_000

type Count = (index: number) => number | null

export function trendOf(length: number, newLeads: Count): readonly TrendDay[] {
  return Array.from({ length }, (_, index) => ({
    day: new Date(Date.parse('2026-11-20') - (length - 1 - index) * DAY_MS).toISOString().slice(0, 10),
    newLeads: newLeads(index),
  }))
}

/** Returns 96 days as in a normal report: quiet weekends and a slow rise. */
export function normalTrend(): readonly TrendDay[] {
  const next = random(7)
  return trendOf(96, (index) => Math.round(28 + index / 3 + 12 * next() - (index % 7 < 2 ? 22 : 0)))
}

export function labelsIn(locale: string): ChartLabels {
  return chartLabels(createLocaleContext(locale, 'Europe/Berlin', '2026-11-21T05:00:00.000Z'))
}

/** The values of the trend's lines, and the texts beside and below them. */
import { describe, expect, it } from 'vitest'
import { layoutTrend, meansOfWeek, roundTicks } from '../../../src/report/charts/trend-layout.ts'
import { labelsIn, normalTrend, trendOf } from '../../support/reports/trend.ts'

const english = labelsIn('en-GB')

describe('the lines', () => {
  const layout = layoutTrend(normalTrend(), 6, english)
  const newLeads = layout.line

  it('go from the left edge to the right, thick and thin, as the days before it feed the mean', () => {
    for (const runs of [newLeads.daily, newLeads.mean]) {
      expect(runs).toHaveLength(1)
      expect(runs[0]).toHaveLength(90)
      expect(runs[0]?.[0]?.x).toBe(layout.left)
      expect(runs[0]?.at(-1)?.x).toBe(layout.right)
    }
  })

  it('stand on the scale of the ticks', () => {
    const counts = normalTrend().slice(6)
    const top = Number(layout.rows.at(-1)?.text)
    const height = layout.bottom - layout.top
    for (const [index, point] of (newLeads.daily[0] ?? []).entries()) {
      expect(((layout.bottom - point.y) / height) * top).toBeCloseTo(counts[index]?.newLeads ?? -1)
    }
  })

  it('stay within the plot where the days before it raise the mean above all of its counts', () => {
    const days = trendOf(96, (index) => (index < 6 ? 700 : 1))
    const layout = layoutTrend(days, 6, english)
    expect(layout.line.mean[0]?.[0]?.y).toBeGreaterThanOrEqual(layout.top)
  })

  it('end with the mean of the last seven days, which the label tells', () => {
    const week = normalTrend().slice(-7)
    const mean = week.reduce((sum, { newLeads: count }) => sum + (count ?? 0), 0) / 7
    expect(newLeads.label).toBe(english.newLeads(Math.round(mean)))
    expect(newLeads.end).toEqual(newLeads.mean[0]?.at(-1))
  })

  it('have gaps where nothing is known', () => {
    const gap = trendOf(30, (index) => (index >= 10 && index < 13 ? null : 8))
    const { line } = layoutTrend(gap, 0, english)
    expect(line.daily.map((run) => run.length)).toEqual([10, 17])
    expect(line.mean.map((run) => run.length)).toEqual([4, 11])
  })

  it('end with the last count where its week is not known', () => {
    const late = trendOf(30, (index) => (index < 27 ? null : index))
    const { line } = layoutTrend(late, 0, english)
    expect(line.mean).toEqual([])
    expect(line.label).toBe(english.newLeads(29))
    expect(line.end).toEqual(line.daily[0]?.at(-1))
  })
})

describe('the counts beside it', () => {
  const beside = (highest: number) => {
    const days = trendOf(90, () => highest)
    return layoutTrend(days, 0, english).rows.map(({ text }) => text)
  }

  it('are written in full where they are small, and all of them short where one is large', () => {
    expect(beside(40)).toEqual(['0', '10', '20', '30', '40'])
    expect(beside(60_000)).toEqual(['0', '20,000', '40,000', '60,000'])
    expect(beside(100_000)).toEqual(['0', '25k', '50k', '75k', '100k'])
    expect(beside(2_000_000)).toEqual(['0', '500k', '1m', '1.5m', '2m'])
  })
})

describe('the days below', () => {
  const below = (length: number) => {
    const days = trendOf(length, () => 1)
    return layoutTrend(days, 0, english).columns.map(({ text }) => text)
  }

  it('are the beginnings of months', () => {
    expect(below(90)).toEqual(['1 September', '1 October', '1 November'])
  })

  it('are fewer, at even distances, where all would crowd', () => {
    expect(below(400)).toEqual(['1 November', '1 May', '1 November'])
  })

  it('are the first and the last in less than two months', () => {
    expect(below(14)).toEqual(['7 November', '20 November'])
    expect(below(1)).toEqual(['20 November'])
  })
})

it('is that of a day and the six before', () => {
  expect(meansOfWeek([1, 2, 3, 4, 5, 6, 7, 15])).toEqual([null, null, null, null, null, null, 4, 6])
})

it('is not known while one of the seven is missing', () => {
  const counts = [7, 7, 7, 7, 7, 7, 7, null, 7, 7, 7, 7, 7, 7, 7, 7]
  const means = meansOfWeek(counts)
  expect(means.slice(6, 8)).toEqual([7, null])
  expect(means.slice(8)).toEqual([null, null, null, null, null, null, 7, 7])
})

describe('the ticks of an axis', () => {
  it.each([
    [0, [0, 1, 2]],
    [5, [0, 2, 4, 6]],
    [41, [0, 20, 40, 60]],
    [1000, [0, 250, 500, 750, 1000]],
  ])('of counts up to %d are %j', (max, ticks) => {
    expect(roundTicks(max)).toEqual(ticks)
  })

  it('are three to five whole numbers, at the same distance, that reach the largest count', () => {
    const counts = Array.from({ length: 3000 }, (_, index) => Math.round(1.011 ** index))
    for (const max of [...Array(3000).keys(), ...counts]) {
      const ticks = roundTicks(max)
      const step = ticks[1] ?? 0
      expect(ticks.length, `${max}`).toBeGreaterThanOrEqual(3)
      expect(ticks.length, `${max}`).toBeLessThanOrEqual(5)
      expect(
        ticks.every((tick, index) => tick === index * step && Number.isInteger(tick)),
        `${max}`,
      ).toBe(true)
      expect(ticks.at(-1), `${max}`).toBeGreaterThanOrEqual(max)
    }
  })
})

/** The trend: its values and texts are in `golden/`, and its parts keep apart in normal and in odd cases. */
import { expect, it } from 'vitest'
import type { TrendDay } from '../../../src/domain/figures.ts'
import { drawTrend } from '../../../src/report/charts/draw.ts'
import { widthOf } from '../../../src/report/charts/svg.ts'
import type { ChartLabels } from '../../../src/report/charts/trend-layout.ts'
import {
  COLUMN_BASE,
  LABEL_GAP,
  LABEL_SIZE,
  layoutTrend,
  roundTicks,
  TICK_GAP,
  TICK_SIZE,
  TREND_HEIGHT,
  TREND_WIDTH,
  type TrendLayout,
} from '../../../src/report/charts/trend-layout.ts'
import { countCases, random } from '../../support/random.ts'
import { labelsIn, normalTrend, trendOf } from '../../support/reports/trend.ts'

const english = labelsIn('en-GB')
const german = labelsIn('de-DE')
const wordy: ChartLabels = {
  newLeads: (mean) => `Newly <discovered> & "enriched" companies ${mean}`,
  tick: (count) => count.toLocaleString('en'),
  day: (day) => `${day} of the common era`,
}

const CASES: readonly (readonly [name: string, days: readonly TrendDay[], labels: ChartLabels])[] = [
  ['normal days', normalTrend(), english],
  ['normal days in German', normalTrend(), german],
  ['no day', [], english],
  ['one day', trendOf(1, () => 5), english],
  ['two days', trendOf(2, (index) => 5 + index), english],
  ['400 days', trendOf(400, (index) => (index * 37) % 90), german],
  ['zeros', trendOf(90, () => 0), english],
  ['nothing known', trendOf(90, () => null), english],
  ['gaps', trendOf(90, (index) => (index % 9 === 4 ? null : index)), english],
  ['two weeks', trendOf(14, () => 40), english],
  ['known for two days', trendOf(30, (index) => (index < 27 ? null : index)), english],
  ['counts that are written short', trendOf(90, () => 100_000), english],
  ['known since last week', trendOf(90, (index) => (index < 83 ? null : 40)), english],
  ['huge counts', trendOf(90, (index) => (index + 1) * 1e10), german],
  ['huge counts and long texts', trendOf(90, (index) => index * 1e10), wordy],
  ['the same count on each day', trendOf(90, () => 12), english],
  ['a single day far above the others', trendOf(90, (index) => (index === 40 ? 1e6 : 3)), english],
]

it('has a line of each day and of each week, with the texts beside and below it', async () => {
  const told = CASES.map(([name, days, labels]) => {
    const layout = layoutTrend(days, 0, labels)
    expectSound(layout, name)
    for (const scheme of ['light', 'dark'] as const)
      expect(drawTrend(layout, scheme)).not.toMatch(/NaN|Infinity|undefined|null/)
    const { rows, columns, line } = layout
    const runs = [line.daily, line.mean].map((each) => each.map((run) => run.length).join(' + ') || 'none')
    const texts = [rows, columns].map((each) => each.map(({ text }) => text).join(' | '))
    return [`== ${name}`, ...texts, line.label, `days ${runs[0]}, means ${runs[1]}`].join('\n')
  })
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/trends.txt')
  for (const scheme of ['light', 'dark'] as const) {
    const svg = drawTrend(layoutTrend(normalTrend(), 6, english), scheme)
    await expect(svg.replaceAll('><', '>\n<')).toMatchFileSnapshot(`golden/trend-${scheme}.svg`)
  }
})

it('ends with the mean of the last seven days, stands on the scale of its ticks, and stays within the plot', () => {
  const { line, rows, top, bottom } = layoutTrend(normalTrend(), 6, english)
  const mean =
    normalTrend()
      .slice(-7)
      .reduce((sum, { newLeads }) => sum + (newLeads ?? 0), 0) / 7
  expect(line.label).toBe(english.newLeads(Math.round(mean)))
  const scale = (bottom - (line.end?.y ?? 0)) / (bottom - top)
  expect(scale * Number(rows.at(-1)?.text)).toBeCloseTo(mean)
  // The days before it raise the mean above all of its counts.
  expectSound(
    layoutTrend(
      trendOf(96, (index) => (index < 6 ? 700 : 1)),
      6,
      english,
    ),
  )
})

it('writes names that are no XML as text', () => {
  const labels = { ...english, newLeads: () => '<b>&"\u0000\ud800' }
  const svg = drawTrend(layoutTrend(normalTrend(), 6, labels), 'light')
  expect(svg).toContain('>&#60;b&#62;&#38;&#34; \ufffd</text>')
})

it('keeps its letters at 9 pixels on a phone of 375, which shows 343 of the chart', () => {
  expect((Math.min(TICK_SIZE, LABEL_SIZE) * 343) / TREND_WIDTH).toBeGreaterThanOrEqual(9)
})

it('is sound for any days', () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1e9)
  const next = random(seed)
  for (let round = 0; round < countCases(60, 1000); round++) {
    const scale = 10 ** (next() * 13)
    const holes = next() < 0.5 ? 0 : next() * 0.5
    const count = () => (next() < holes ? null : Math.floor(next() ** 3 * scale))
    const length = Math.floor(next() * 130)
    const layout = layoutTrend(trendOf(length, count), Math.floor((next() * length) / 2), german)
    expectSound(layout, `seed ${seed}, round ${round}`)
  }
})

it('has three to five ticks at whole numbers, at the same distance, that reach the largest count', () => {
  const counts = Array.from({ length: 600 }, (_, index) => Math.round(1.055 ** index))
  for (const max of [...Array(600).keys(), ...counts]) {
    const ticks = roundTicks(max)
    const step = ticks[1] ?? 0
    expect(ticks.length >= 3 && ticks.length <= 5, `${max}`).toBe(true)
    expect(
      ticks.every((tick, index) => tick === index * step && Number.isInteger(tick)),
      `${max}`,
    ).toBe(true)
    expect(ticks.at(-1), `${max}`).toBeGreaterThanOrEqual(max)
  }
})

interface Box {
  readonly text: string
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

function expectSound(layout: TrendLayout, message = ''): void {
  const { left, right, top, bottom } = layout
  expect(right - left, message).toBeGreaterThan(100)
  const { daily, mean, end } = layout.line
  for (const { x, y } of [...daily.flat(), ...mean.flat(), ...(end ? [end] : [])]) {
    expect(x >= left - 0.001 && x <= right + 0.001 && y >= top - 0.001 && y <= bottom + 0.001, message).toBe(
      true,
    )
  }
  expect(layout.rows.length, message).toBeGreaterThanOrEqual(3)
  expect(layout.rows[0]?.y, message).toBe(bottom)
  expect(layout.rows.at(-1)?.y, message).toBe(top)
  const boxes = boxesOf(layout)
  for (const [index, box] of boxes.entries()) {
    const { text } = box
    expect(box.left, `${message} ${text}`).toBeGreaterThanOrEqual(0)
    expect(box.right, `${message} ${text}`).toBeLessThanOrEqual(TREND_WIDTH)
    expect(box.top, `${message} ${text}`).toBeGreaterThanOrEqual(0)
    expect(box.bottom, `${message} ${text}`).toBeLessThanOrEqual(TREND_HEIGHT)
    expect(boxes.slice(index + 1).filter((other) => overlap(box, other))).toEqual([])
  }
}

/** Returns the boxes of the texts, as high as capital letters with a small margin. */
function boxesOf({ left, right, rows, columns, line }: TrendLayout): readonly Box[] {
  const box = (text: string, from: number, middle: number, size: number): Box => ({
    text,
    left: from,
    right: from + widthOf(text, size) - 1e-9,
    top: middle - size / 2,
    bottom: middle + size / 2,
  })
  return [
    ...rows.map(({ text, y }) => box(text, left - TICK_GAP - widthOf(text, TICK_SIZE) + 1e-9, y, TICK_SIZE)),
    ...columns.map(({ text, middle }) =>
      box(text, middle - widthOf(text, TICK_SIZE) / 2 + 1e-9, COLUMN_BASE - TICK_SIZE / 2, TICK_SIZE),
    ),
    ...(line.end === null ? [] : [box(line.label, right + LABEL_GAP, line.end.y, LABEL_SIZE)]),
  ]
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

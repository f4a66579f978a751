/** The image files of an issue's charts. */
import { Resvg } from '@resvg/resvg-js'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import {
  drawCharts,
  drawSparkline,
  drawTrend,
  findCharts,
  SPARKLINE_HEIGHT,
  SPARKLINE_WIDTH,
  shownDays,
} from '../../../src/report/charts/draw.ts'
import { encodePng, rasterise } from '../../../src/report/charts/png.ts'
import { layoutTrend } from '../../../src/report/charts/trend-layout.ts'
import { labelsIn, trendOf, usualTrend } from '../../support/reports/trend.ts'

const english = labelsIn('en-GB')
const OF_DAY = {
  kind: 'day' as const,
  period: {
    from: '2026-11-19T23:00:00.000Z',
    to: '2026-11-20T23:00:00.000Z',
    timeZone: 'Europe/Berlin',
  },
}
const FIGURES = {
  ...OF_DAY,
  trend: usualTrend(),
  sparklines: {
    newLeads: [31, 44, 52, 50, 48, 12, 9, 47, 55, 60, 58, 61, 20, 59],
    won: [0, 1, 3, 2, 2, 0, 0, 1, 4, 2, 2, 3, 1, 3],
    winRate: [0.21, 0.22, null, 0.24, 0.25],
    openValue: [3.9e6, 4e6, 4.1e6, 4.2e6],
  },
}

describe('the charts of an issue', () => {
  it('are the trend in two schemes and a sparkline for each number at the top', async () => {
    const { files } = await drawCharts(FIGURES, english)
    expect(files.map(({ name, width, height }) => [name, width, height])).toEqual([
      ['trend-light.png', 552, 257],
      ['trend-dark.png', 552, 257],
      ['spark-new-leads.png', 120, 28],
      ['spark-won.png', 120, 28],
      ['spark-win-rate.png', 120, 28],
      ['spark-open-value.png', 120, 28],
    ])
  })

  it('have two pixels for each of the page, and are small files', async () => {
    const { files } = await drawCharts(FIGURES, english)
    for (const { name, content, width, height } of files) {
      const picture = PNG.sync.read(Buffer.from(content))
      expect([picture.width, picture.height], name).toEqual([width * 2, height * 2])
      expect(content.length, name).toBeLessThan(name.startsWith('trend') ? 35_000 : 1500)
    }
  })

  it('are the same bytes for the same figures', async () => {
    expect(await drawCharts(FIGURES, english)).toEqual(await drawCharts(FIGURES, english))
  })

  it('speak the language of their readers', async () => {
    const {
      files: [inEnglish],
    } = await drawCharts(FIGURES, english)
    const {
      files: [inGerman],
    } = await drawCharts(FIGURES, labelsIn('de-DE'))
    expect(inGerman?.content).not.toEqual(inEnglish?.content)
  })

  it('are left out where there is too little to show', async () => {
    const trend = trendOf(
      96,
      (index) => (index < 90 ? null : 5),
      () => null,
    )
    const won = [null, null, null, 1, 2]
    const sparklines = { newLeads: [null, null, 5], won, winRate: [null], openValue: [null, 1, 2] }
    const { files } = await drawCharts({ ...OF_DAY, trend, sparklines }, english)
    expect(files.map(({ name }) => name)).toEqual(['spark-open-value.png'])
  })

  it('are none without figures', async () => {
    const sparklines = { newLeads: [], won: [], winRate: [], openValue: [] }
    expect(await drawCharts({ ...OF_DAY, trend: [], sparklines }, english)).toEqual({ files: [], failed: [] })
  })
})

describe('a chart that cannot be drawn', () => {
  it('leaves the others, and says of which block it is', async () => {
    const trend = JSON.parse(JSON.stringify(Array(96).fill(null)))
    const { files, failed } = await drawCharts({ ...FIGURES, trend }, english)
    expect(files.map(({ name }) => name)).toEqual([
      'spark-new-leads.png',
      'spark-won.png',
      'spark-win-rate.png',
      'spark-open-value.png',
    ])
    expect(failed).toEqual([{ block: 'trend', query: null, message: expect.stringMatching(/\w/) }])
  })
})

describe('the font of the charts', () => {
  it('is there: a picture without it has no texts, and is another', async () => {
    const svg = drawTrend(layoutTrend(usualTrend(), 6, english), 'light')
    const zoom = { fitTo: { mode: 'zoom', value: 2 } } as const
    const without = new Resvg(svg, { font: { loadSystemFonts: false }, ...zoom }).render()
    expect(encodePng(await rasterise(svg, 2))).not.toEqual(encodePng(without))
    // The drawings without their texts, which may differ.
    const textless = svg.replace(/<text.*?<\/text>/g, '')
    expect(encodePng(await rasterise(textless, 2))).toEqual(encodePng(without))
  })
})

describe('the days of the trend', () => {
  it('are the last 90', () => {
    expect(shownDays(usualTrend())).toEqual(usualTrend().slice(6))
  })

  it('begin with the first that is known', () => {
    const trend = trendOf(
      96,
      (index) => (index < 60 ? null : 1),
      (index) => (index < 70 ? null : 1),
    )
    expect(shownDays(trend)).toHaveLength(36)
  })

  it('are none where fewer than two weeks are known', () => {
    expect(
      shownDays(
        trendOf(
          96,
          (index) => (index < 83 ? null : 1),
          () => null,
        ),
      ),
    ).toEqual([])
    expect(
      shownDays(
        trendOf(
          96,
          (index) => (index < 82 ? null : 1),
          () => null,
        ),
      ),
    ).toHaveLength(14)
  })
})

describe('where a page finds the charts', () => {
  it('is one picture for both schemes, except of the trend', async () => {
    const charts = findCharts((await drawCharts(FIGURES, english)).files, (name) => `cid:${name}`)
    expect(charts.get('trend')).toEqual({
      light: 'cid:trend-light.png',
      dark: 'cid:trend-dark.png',
      width: 552,
      height: 257,
    })
    expect(charts.get('spark-won')).toEqual({
      light: 'cid:spark-won.png',
      dark: null,
      width: 120,
      height: 28,
    })
  })

  it('is nowhere for those that were left out', () => {
    const file = { name: 'spark-won.png', width: 120, height: 28 }
    expect([...findCharts([file], (name) => name).keys()]).toEqual(['spark-won'])
  })
})

const CASES: readonly (readonly [name: string, values: readonly (number | null)[]])[] = [
  ['14 counts', [31, 44, 52, 50, 48, 12, 9, 47, 55, 60, 58, 61, 20, 59]],
  ['nothing', []],
  ['one value', [5]],
  ['two values', [5, 6]],
  ['400 values', Array.from({ length: 400 }, (_, index) => (index * 37) % 90)],
  ['zeros', Array.from({ length: 14 }, () => 0)],
  ['gaps', [1, null, 3, 4, null, null, 2, null]],
  ['huge values', [1e12, 5e11, 9e12]],
  ['small shares', [0.001, 0.002, 0]],
]

describe.each(CASES)('the sparkline of %s', (_, values) => {
  it('stays within its picture, its end with room for the dot', () => {
    const svg = drawSparkline(values)
    expect(svg).not.toMatch(/NaN|Infinity|undefined|null/)
    for (const { x, y } of pointsOf(svg)) {
      expect(x >= 1 && x <= SPARKLINE_WIDTH - 2.75, `${x}`).toBe(true)
      expect(y >= 2.75 && y <= SPARKLINE_HEIGHT - 2.75, `${y}`).toBe(true)
    }
  })
})

describe('a sparkline', () => {
  it('has a point for each known value, and ends with a dot on the last', () => {
    const svg = drawSparkline([3, 9, 6])
    const [first, second, third, dot] = pointsOf(svg)
    expect([first, second, third].map((point) => point?.x)).toEqual([1, 58.5, 116])
    expect([first, second, third].map((point) => point?.y)).toEqual([24, 4, 14])
    expect(dot).toEqual(third)
  })

  it('breaks at gaps, and a value between two of them is a point', () => {
    const svg = drawSparkline([3, 9, null, 6, null, 5, 5])
    expect(svg.match(/M/g)).toHaveLength(2)
    expect(svg.match(/<circle/g)).toHaveLength(2)
  })

  it('puts the dot on the last known value where the end is not known', () => {
    expect(pointsOf(drawSparkline([3, 9, 6, null, null])).at(-1)?.x).toBe(58.5)
  })

  it('shows small moves as small: one of a hundredth takes a twenty-fifth of the height', () => {
    const [first, second] = pointsOf(drawSparkline([100, 99]))
    expect((second?.y ?? 0) - (first?.y ?? 0)).toBeCloseTo(20 / 25, 1)
  })

  it('of zeros lies on the ground, of equal values in the middle', () => {
    expect(new Set(pointsOf(drawSparkline([0, 0, 0])).map(({ y }) => y))).toEqual(new Set([24]))
    expect(new Set(pointsOf(drawSparkline([7, 7, 7])).map(({ y }) => y))).toEqual(new Set([14]))
  })
})

/** Returns the points of the lines and then of the dots, in order. */
function pointsOf(svg: string): readonly { x: number; y: number }[] {
  return [...svg.matchAll(/[ML]([\d.-]+) ([\d.-]+)|cx="([\d.-]+)" cy="([\d.-]+)"/g)].map(
    ([, x, y, cx, cy]) => ({
      x: Number(x ?? cx),
      y: Number(y ?? cy),
    }),
  )
}

/** The image files of an issue's charts. */
import { Resvg } from '@resvg/resvg-js'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { drawCharts, drawTrend, findChart, shownDays } from '../../../src/report/charts/draw.ts'
import { encodePng, rasterise } from '../../../src/report/charts/png.ts'
import { layoutTrend } from '../../../src/report/charts/trend-layout.ts'
import { labelsIn, normalTrend, trendOf } from '../../support/reports/trend.ts'

const english = labelsIn('en-GB')
const FIGURES = { trend: normalTrend() }

describe('the charts of an issue', () => {
  it('are the trend in two schemes', async () => {
    const { files } = await drawCharts(FIGURES, english)
    expect(files.map(({ name, width, height }) => [name, width, height])).toEqual([
      ['trend-light.png', 552, 257],
      ['trend-dark.png', 552, 257],
    ])
  })

  it('have two pixels for each of the page, and are small files', async () => {
    const { files } = await drawCharts(FIGURES, english)
    for (const { name, content, width, height } of files) {
      const picture = PNG.sync.read(Buffer.from(content))
      expect([picture.width, picture.height], name).toEqual([width * 2, height * 2])
      expect(content.length, name).toBeLessThan(35_000)
    }
  })

  it('are left out where there is too little to show', async () => {
    const trend = trendOf(96, (index) => (index < 90 ? null : 5))
    expect(await drawCharts({ trend }, english)).toEqual({ files: [], failed: [] })
  })
})

describe('a chart that cannot be drawn', () => {
  it('is left out, and says of which block it is', async () => {
    const trend = JSON.parse(JSON.stringify(Array(96).fill(null)))
    const { files, failed } = await drawCharts({ trend }, english)
    expect(files).toEqual([])
    expect(failed).toEqual([{ block: 'trend', query: null, message: expect.stringMatching(/\w/) }])
  })
})

describe('the font of the charts', () => {
  it('is there: a picture without it has no texts, and is another', async () => {
    const svg = drawTrend(layoutTrend(normalTrend(), 6, english), 'light')
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
    expect(shownDays(normalTrend())).toEqual(normalTrend().slice(6))
  })

  it('begin with the first that is known', () => {
    const trend = trendOf(96, (index) => (index < 60 ? null : 1))
    expect(shownDays(trend)).toHaveLength(36)
  })

  it('are none where fewer than two weeks are known', () => {
    expect(shownDays(trendOf(96, (index) => (index < 83 ? null : 1)))).toEqual([])
    expect(shownDays(trendOf(96, (index) => (index < 82 ? null : 1)))).toHaveLength(14)
  })
})

describe('where a page finds the chart', () => {
  it('is a picture for each scheme', async () => {
    const { files } = await drawCharts(FIGURES, english)
    expect(findChart(files, (name) => `cid:${name}`)).toEqual({
      light: 'cid:trend-light.png',
      dark: 'cid:trend-dark.png',
      width: 552,
      height: 257,
    })
  })

  it('is nowhere if it was left out', () => {
    expect(findChart([], (name) => name)).toBeNull()
  })
})

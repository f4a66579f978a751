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

it('the charts of an issue are the trend in two schemes, two pixels for each of the page, and small files', async () => {
  const { files } = await drawCharts(FIGURES, english)
  expect(files.map(({ name, width, height }) => [name, width, height])).toEqual([
    ['trend-light.png', 552, 257],
    ['trend-dark.png', 552, 257],
  ])
  for (const { name, content, width, height } of files) {
    const picture = PNG.sync.read(Buffer.from(content))
    expect([picture.width, picture.height], name).toEqual([width * 2, height * 2])
    expect(content.length, name).toBeLessThan(35_000)
  }
  const size = { width: 552, height: 257 }
  expect(findChart(files, (name) => `cid:${name}`)).toEqual({
    light: 'cid:trend-light.png',
    dark: 'cid:trend-dark.png',
    ...size,
  })
  expect(findChart([], (name) => name)).toBeNull()
})

it('the charts of an issue are left out where there is too little to show, and where they cannot be drawn', async () => {
  const short = trendOf(96, (index) => (index < 90 ? null : 5))
  expect(await drawCharts({ trend: short }, english)).toEqual({ files: [], failed: [] })
  const trend = JSON.parse(JSON.stringify(Array(96).fill(null)))
  const { files, failed } = await drawCharts({ trend }, english)
  expect(files).toEqual([])
  expect(failed).toEqual([{ block: 'trend', query: null, message: expect.stringMatching(/\w/) }])
})

it('the font of the charts is there: a picture without it has no texts, and is another', async () => {
  const svg = drawTrend(layoutTrend(normalTrend(), 6, english), 'light')
  const zoom = { fitTo: { mode: 'zoom', value: 2 } } as const
  const without = new Resvg(svg, { font: { loadSystemFonts: false }, ...zoom }).render()
  expect(encodePng(await rasterise(svg, 2))).not.toEqual(encodePng(without))
  // The drawings without their texts, which may differ.
  const textless = svg.replace(/<text.*?<\/text>/g, '')
  expect(encodePng(await rasterise(textless, 2))).toEqual(encodePng(without))
})
it('the days of the trend are the last 90, from the first that is known, and none if fewer than two weeks are', () => {
  const knownFrom = (first: number) => trendOf(96, (index) => (index < first ? null : 1))
  expect(shownDays(normalTrend())).toEqual(normalTrend().slice(6))
  expect([60, 82, 83].map((first) => shownDays(knownFrom(first)).length)).toEqual([36, 14, 0])
})

describe('a PNG with a palette', () => {
  it('has the pixels of the picture where it has up to 256 colours', () => {
    const colours = Array.from({ length: 256 }, (_, index) => [index, 255 - index, (index * 7) % 256, 255])
    const picture = { pixels: Uint8Array.from(colours.flat()), width: 64, height: 4 }
    expect([...decode(encodePng(picture)).data]).toEqual(colours.flat())
  })

  it('takes near colours for one where there are more, and no eye sees it in a chart', async () => {
    const picture = await rasterise(drawTrend(layoutTrend(normalTrend(), 6, english), 'light'), 2.4)
    const { data } = decode(encodePng(picture))
    // The library copies all pixels each time that it is asked for them.
    const { pixels } = picture
    const largest = data.reduce((most, byte, at) => Math.max(most, Math.abs(byte - (pixels[at] ?? 0))), 0)
    expect(largest).toBeLessThanOrEqual(4)
  })
})

function decode(png: Uint8Array): PNG {
  return PNG.sync.read(Buffer.from(png))
}

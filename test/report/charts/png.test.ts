import { Resvg } from '@resvg/resvg-js'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { drawTrend } from '../../../src/report/charts/draw.ts'
import { encodePng, rasterise } from '../../../src/report/charts/png.ts'
import { line } from '../../../src/report/charts/svg.ts'
import { layoutTrend } from '../../../src/report/charts/trend-layout.ts'
import { labelsIn, normalTrend } from '../../support/reports/trend.ts'

describe('a PNG with a palette', () => {
  it('has the pixels of the picture where it has up to 256 colours', () => {
    const colours = Array.from({ length: 256 }, (_, index) => [index, 255 - index, (index * 7) % 256, 255])
    const picture = { pixels: Uint8Array.from(colours.flat()), width: 64, height: 4 }
    expect([...decode(encodePng(picture)).data]).toEqual(colours.flat())
  })

  it('keeps soft edges on a transparent ground', () => {
    const points = [3, 9, 6, 4].map((y, index) => ({ x: 4 + index * 30, y }))
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="28">${line([points], 2, 'stroke="#2f5bea"')}</svg>`
    expect(largestDifference(encodePng(new Resvg(svg).render()), new Resvg(svg).render().asPng())).toBe(0)
  })

  it('takes near colours for one where there are more, and no eye sees it in a chart', async () => {
    const picture = await rasterise(drawTrend(layoutTrend(normalTrend(), 6, labelsIn('en-GB')), 'light'), 2.4)
    const whole = PNG.sync.write(Object.assign(new PNG(picture), { data: Buffer.from(picture.pixels) }))
    expect(largestDifference(encodePng(picture), whole)).toBeLessThanOrEqual(4)
  })

  it('is a picture still where every pixel has a colour of its own', () => {
    const side = 256
    const pixels = Uint8Array.from({ length: side * side * 4 }, (_, byte) => {
      const [x, y] = [Math.floor(byte / 4) % side, Math.floor(byte / 4 / side)]
      return [x, y, (x * y) % 256, 255][byte % 4] ?? 0
    })
    const decoded = decode(encodePng({ pixels, width: side, height: side }))
    expect([decoded.width, decoded.height]).toEqual([side, side])
    expect(
      new Set(new Uint32Array(decoded.data.buffer, decoded.data.byteOffset, side * side)).size,
    ).toBeGreaterThan(32)
  })
})

function decode(png: Uint8Array): PNG {
  return PNG.sync.read(Buffer.from(png))
}

/** Returns the largest difference of any channel of any visible pixel. */
function largestDifference(left: Uint8Array, right: Uint8Array): number {
  const [a, b] = [decode(left), decode(right)]
  expect([a.width, a.height]).toEqual([b.width, b.height])
  return a.data.reduce((largest, byte, index) => Math.max(largest, Math.abs(byte - (b.data[index] ?? 0))), 0)
}

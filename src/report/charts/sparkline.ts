/** Draws a sparkline: a small line without axes beside a number. Small changes stay small. */
import { dot, line, ON_ANY_BACKGROUND, type Point, type Run, splitAtGaps } from './svg.ts'

export const SPARKLINE_WIDTH = 120
export const SPARKLINE_HEIGHT = 28

const LINE_WIDTH = 1.75
const END_RADIUS = 2.75
// The margin keeps the dot and the corners inside the picture. On the left the line starts below the text
// above it.
const MARGIN = 4
const LEFT_MARGIN = 1
// The height of the picture stands for at least this share of the largest value.
const LEAST_SPAN = 0.25

export interface SparklineLayout {
  readonly runs: readonly Run[]
  /** The last known value; null if no value is known. */
  readonly end: Point | null
}

export function drawSparkline(values: readonly (number | null)[]): string {
  const { runs, end } = layoutSparkline(values)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SPARKLINE_WIDTH}" height="${SPARKLINE_HEIGHT}">${line(
    runs,
    LINE_WIDTH,
    `stroke="${ON_ANY_BACKGROUND}"`,
  )}${end ? dot(end, END_RADIUS, `fill="${ON_ANY_BACKGROUND}"`) : ''}</svg>`
}

/** @param values oldest first, null for gaps */
export function layoutSparkline(values: readonly (number | null)[]): SparklineLayout {
  const known = values.filter((value) => value !== null)
  const [low, high] = known.length === 0 ? [0, 0] : [Math.min(...known), Math.max(...known)]
  const span = Math.max(high - low, high * LEAST_SPAN)
  const [width, height] = [SPARKLINE_WIDTH - LEFT_MARGIN - MARGIN, SPARKLINE_HEIGHT - 2 * MARGIN]
  const middle = (low + high) / 2
  const points = values.map((value, index) => {
    if (value === null) return null
    const fromRight = ((values.length - 1 - index) * width) / Math.max(1, values.length - 1)
    const share = span === 0 ? 0 : 0.5 + (value - middle) / span
    return { x: SPARKLINE_WIDTH - MARGIN - fromRight, y: MARGIN + height * (1 - share) }
  })
  return { runs: splitAtGaps(points), end: points.findLast((point) => point !== null) ?? null }
}

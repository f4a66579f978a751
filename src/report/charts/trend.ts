/**
 * Draws the trend: new and won leads per day as thin lines, the weekly means as thick lines with labels. The
 * text beside the chart says the same, so nothing is only in the picture.
 */
import { COLOURS, dot, escapeXml, line, type Scheme, tenth } from './svg.ts'
import {
  COLUMN_BASE,
  LABEL_GAP,
  LABEL_SIZE,
  TICK_GAP,
  TICK_SIZE,
  TREND_HEIGHT,
  TREND_WIDTH,
  type TrendLayout,
} from './trend-layout.ts'

const DAILY_WIDTH = 1
const MEAN_WIDTH = 2.5
const END_RADIUS = 3.75
// The distance from the middle of a text to its base line in ems, half the height of Inter's capitals.
const HALF_CAPITAL = 0.364

export function drawTrend(layout: TrendLayout, scheme: Scheme): string {
  const colours = COLOURS[scheme]
  const { left, right, bottom } = layout
  const rows = layout.rows.map(
    ({ y, text }, index) =>
      `<path d="M${tenth(left)} ${tenth(y)}H${tenth(right)}" stroke="${index === 0 ? colours.axis : colours.grid}"/>` +
      write(text, left - TICK_GAP, y + TICK_SIZE * HALF_CAPITAL, 'text-anchor="end"'),
  )
  const columns = layout.columns.map(
    ({ x, middle, text }) =>
      `<path d="M${tenth(x)} ${tenth(bottom)}v5" stroke="${colours.axis}"/>` +
      write(text, middle, COLUMN_BASE, 'text-anchor="middle"'),
  )
  const daily = layout.lines.map((each) =>
    line(
      each.daily,
      DAILY_WIDTH,
      `stroke="${colours[each.series]}" stroke-opacity="${colours.dailyOpacity}"`,
    ),
  )
  const means = layout.lines.map((each) => line(each.mean, MEAN_WIDTH, `stroke="${colours[each.series]}"`))
  const ends = layout.lines.map(({ end, series }) =>
    end === null ? '' : dot(end, END_RADIUS, `fill="${colours[series]}"`),
  )
  const labels = layout.lines.map(({ series, label, labelY }) =>
    write(
      label,
      right + LABEL_GAP,
      labelY + LABEL_SIZE * HALF_CAPITAL,
      `fill="${colours[series]}" font-size="${LABEL_SIZE}" font-weight="600"`,
    ),
  )
  const parts = [rows, columns, daily, means, ends, labels].flat().join('')
  const attributes = `width="${TREND_WIDTH}" height="${TREND_HEIGHT}" font-family="Inter" font-size="${TICK_SIZE}" fill="${colours.text}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><rect width="100%" height="100%" fill="${colours.background}"/>${parts}</svg>`
}

function write(text: string, x: number, y: number, attributes: string): string {
  return text === '' ? '' : `<text x="${tenth(x)}" y="${tenth(y)}" ${attributes}>${escapeXml(text)}</text>`
}

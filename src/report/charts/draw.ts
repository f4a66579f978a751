/** Draws the chart of an issue as PNG files, once for each language. With too few days there is none. */
import type { TrendDay } from '../../domain/figures.ts'
import { errorText } from '../../errors.ts'
import { type ChartSource, trendOf } from '../context.ts'
import { marksOfDays } from '../day-notes.ts'
import { encodePng, rasterise } from './png.ts'
import { COLOURS, dot, escapeXml, line, type Scheme, tenth } from './svg.ts'
import type { ChartLabels, TrendLayout } from './trend-layout.ts'
import {
  COLUMN_BASE,
  LABEL_GAP,
  LABEL_SIZE,
  layoutTrend,
  TICK_GAP,
  TICK_SIZE,
  TREND_HEIGHT,
  TREND_WIDTH,
} from './trend-layout.ts'

export interface ChartFile {
  /** The file name: `trend-light.png` or `trend-dark.png`, after the colour scheme. */
  readonly name: string
  readonly content: Uint8Array
  /** The displayed size in CSS pixels. The picture has twice as many pixels. */
  readonly width: number
  readonly height: number
}

// The number of pixels of the picture for each CSS pixel, in width and in height.
const DENSITY = 2
const TREND_DAYS = 90
// The minimum number of days of the trend. With fewer days, the line of the weekly mean would be too short.
const LEAST_TREND_DAYS = 14
// The displayed width of the trend in CSS pixels, which is the width of a mail's text. The chart is drawn
// smaller and then enlarged, so that its text stays legible on a phone.
const TREND_SHOWN_WIDTH = 552
const ZOOM = TREND_SHOWN_WIDTH / TREND_WIDTH

/** Draws the trend of new leads in both colour schemes. A failure is returned, so that the report is still made. */
export async function drawCharts(figures: Parameters<typeof trendOf>[0], labels: ChartLabels) {
  try {
    const trend = trendOf(figures)
    const shown = shownDays(trend)
    if (shown.length === 0) return { files: [], failed: [] }
    const layout = layoutTrend(
      trend,
      trend.length - shown.length,
      labels,
      marksOfDays(figures.insight?.notes, shown),
    )
    const files = await Promise.all((['light', 'dark'] as const).map((scheme) => makeFile(layout, scheme)))
    return { files, failed: [] }
  } catch (thrown) {
    return { files: [], failed: [{ block: 'trend', query: null, message: errorText(thrown) }] }
  }
}

async function makeFile(layout: TrendLayout, scheme: Scheme): Promise<ChartFile> {
  return {
    name: `trend-${scheme}.png`,
    content: encodePng(await rasterise(drawTrend(layout, scheme), DENSITY * ZOOM)),
    width: TREND_SHOWN_WIDTH,
    height: Math.round(TREND_HEIGHT * ZOOM),
  }
}

/** `address` returns the address of a file: `cid:…` in a mail, a path in the archive. */
export function findChart(
  files: readonly Omit<ChartFile, 'content'>[],
  address: (fileName: string) => string,
): ChartSource | null {
  const [light, dark] = files
  if (light === undefined || dark === undefined) return null
  return { light: address(light.name), dark: address(dark.name), width: light.width, height: light.height }
}

/** The last 90 days, without unknown days at the beginning. Empty if fewer than 14 days are left. */
export function shownDays(trend: readonly TrendDay[]): readonly TrendDay[] {
  const days = trend.slice(-TREND_DAYS)
  const first = days.findIndex(({ newLeads }) => newLeads !== null)
  const known = first < 0 ? [] : days.slice(first)
  return known.length < LEAST_TREND_DAYS ? [] : known
}

/** Days are thin lines, weekly means thick ones. The text beside the chart says the same. */

const DAILY_WIDTH = 1
const MEAN_WIDTH = 2.5
const TREND_DOT_RADIUS = 3.75
const MARK_OPACITY = 0.35
// The distance between the plot and the letters above it that mark days with notes.
const MARK_GAP = 4
// The distance from the middle of a text to its base line, in ems. In the font Inter, this is half the height
// of a capital letter.
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
  const marks = layout.marks.map(
    ({ left, right, letter, middle }) =>
      `<rect x="${tenth(left)}" y="${tenth(layout.top)}" width="${tenth(right - left)}" height="${tenth(bottom - layout.top)}" fill="${colours.axis}" fill-opacity="${MARK_OPACITY}"/>` +
      write(letter, middle, layout.top - MARK_GAP, 'text-anchor="middle"'),
  )
  const { daily, mean, end, label } = layout.line
  const colour = colours.newLeads
  const lines = [
    line(daily, DAILY_WIDTH, `stroke="${colour}" stroke-opacity="${colours.dailyOpacity}"`),
    line(mean, MEAN_WIDTH, `stroke="${colour}"`),
  ]
  const labelled =
    end === null
      ? []
      : [
          dot(end, TREND_DOT_RADIUS, `fill="${colour}"`),
          write(
            label,
            right + LABEL_GAP,
            end.y + LABEL_SIZE * HALF_CAPITAL,
            `fill="${colour}" font-size="${LABEL_SIZE}" font-weight="600"`,
          ),
        ]
  const parts = [marks, rows, columns, lines, labelled].flat().join('')
  const attributes = `width="${TREND_WIDTH}" height="${TREND_HEIGHT}" font-family="Inter" font-size="${TICK_SIZE}" fill="${colours.text}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><rect width="100%" height="100%" fill="${colours.background}"/>${parts}</svg>`
}

function write(text: string, x: number, y: number, attributes: string): string {
  return text === '' ? '' : `<text x="${tenth(x)}" y="${tenth(y)}" ${attributes}>${escapeXml(text)}</text>`
}

/** Draws an issue's charts as PNG files, once for each language. A chart with too few values is left out. */
import type { FailedSection, ReportFigures, TrendDay } from '../../domain/figures.ts'
import type { DayNote, ExpectedFigure, UsualRange } from '../../domain/insight.ts'
import { errorText } from '../../errors.ts'
import { CHART_NAMES, type ChartName, type ChartSource } from '../context.ts'
import { marksOfDays, marksOfSparks } from '../day-notes.ts'
import { encodePng, rasterise } from './png.ts'
import type { Point, Run, Scheme } from './svg.ts'
import { COLOURS, dot, escapeXml, line, ON_ANY_BACKGROUND, splitAtGaps, tenth } from './svg.ts'
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
  /** The file name, such as `trend-dark.png`, or `spark-won.png` for both colour schemes. */
  readonly name: string
  readonly content: Uint8Array
  /** The displayed size in CSS pixels. The picture has twice as many pixels. */
  readonly width: number
  readonly height: number
}

interface Drawing {
  readonly name: string
  readonly svg: string
  readonly zoom: number
  readonly width: number
  readonly height: number
}

// The number of pixels of the picture for each CSS pixel, in width and in height.
const DENSITY = 2
const TREND_DAYS = 90
// The minimum number of days of the trend. With fewer days, the line of the weekly mean would be too short.
const LEAST_TREND_DAYS = 14
const LEAST_SPARK_VALUES = 2
// The displayed width of the trend in CSS pixels, which is the width of a mail's text. The chart is drawn
// smaller and then enlarged, so that its text stays legible on a phone.
const TREND_SHOWN_WIDTH = 552

export interface DrawnCharts {
  readonly files: readonly ChartFile[]
  readonly failed: readonly FailedSection[]
}

type ChartedFigures = Pick<ReportFigures, 'kind' | 'period' | 'trend' | 'sparklines'> &
  Partial<Pick<ReportFigures, 'insight'>>

/** Draws all charts. If the charts of one block fail, the other charts are still drawn. */
export async function drawCharts(figures: ChartedFigures, labels: ChartLabels): Promise<DrawnCharts> {
  const { trend, sparklines, insight } = figures
  const rings = [...new Set(marksOfSparks(figures).map(({ place }) => place))]
  const bandOf = (wanted: ExpectedFigure): Band =>
    insight?.expectations.find(({ figure, pipeline }) => pipeline === null && figure === wanted)?.band ?? []
  const all = await Promise.all([
    drawFor('trend', () => drawTrends(trend, labels, insight?.notes)),
    drawFor('kpis', () => [
      ...drawSpark('spark-new-leads', sparklines.newLeads, bandOf('new_leads'), rings),
      ...drawSpark('spark-won', sparklines.won, bandOf('won'), rings),
      ...drawSpark('spark-win-rate', sparklines.winRate),
      ...drawSpark('spark-open-value', sparklines.openValue),
    ]),
  ])
  return { files: all.flatMap(({ files }) => files), failed: all.flatMap(({ failed }) => failed) }
}

async function drawFor(block: string, draw: () => readonly Drawing[]): Promise<DrawnCharts> {
  try {
    const files = await Promise.all(draw().map(makeFile))
    return { files, failed: [] }
  } catch (thrown) {
    return { files: [], failed: [{ block, query: null, message: errorText(thrown) }] }
  }
}

async function makeFile({ name, svg, zoom, width, height }: Drawing): Promise<ChartFile> {
  return {
    name,
    content: encodePng(await rasterise(svg, DENSITY * zoom)),
    width: Math.round(width * zoom),
    height: Math.round(height * zoom),
  }
}

/** `address` returns the address of a file: `cid:…` in a mail, a path in the archive. */
export function findCharts(
  files: readonly Omit<ChartFile, 'content'>[],
  address: (fileName: string) => string,
): ReadonlyMap<ChartName, ChartSource> {
  const sources = new Map<ChartName, ChartSource>()
  for (const name of CHART_NAMES) {
    const find = (scheme: string) =>
      files.find((file) => file.name === `${name}-${scheme}.png` || file.name === `${name}.png`)
    const [light, dark] = [find('light'), find('dark')]
    if (!light || !dark) continue
    const { width, height } = light
    sources.set(name, {
      light: address(light.name),
      dark: dark.name === light.name ? null : address(dark.name),
      width,
      height,
    })
  }
  return sources
}

/** The last 90 days, without unknown days at the beginning. Empty if fewer than 14 days are left. */
export function shownDays(trend: readonly TrendDay[]): readonly TrendDay[] {
  const days = trend.slice(-TREND_DAYS)
  const first = days.findIndex(({ newLeads, won }) => newLeads !== null || won !== null)
  const known = first < 0 ? [] : days.slice(first)
  return known.length < LEAST_TREND_DAYS ? [] : known
}

function drawTrends(
  trend: readonly TrendDay[],
  labels: ChartLabels,
  notes: readonly DayNote[] | undefined,
): readonly Drawing[] {
  const shown = shownDays(trend)
  if (shown.length === 0) return []
  const marks = marksOfDays(notes, shown)
  const layout = layoutTrend(trend, trend.length - shown.length, labels, marks)
  return (['light', 'dark'] as const).map((scheme) => ({
    name: `trend-${scheme}.png`,
    svg: drawTrend(layout, scheme),
    zoom: TREND_SHOWN_WIDTH / TREND_WIDTH,
    width: TREND_WIDTH,
    height: TREND_HEIGHT,
  }))
}

/** Draws a sparkline, or none if most values are unknown, because a very short line says nothing. */
function drawSpark(
  name: ChartName,
  values: readonly (number | null)[],
  band: Band = [],
  rings: readonly number[] = [],
): readonly Drawing[] {
  const known = values.filter((value) => value !== null).length
  if (known < LEAST_SPARK_VALUES || known < values.length / 2) return []
  const svg = drawSparkline(values, band, rings)
  return [{ name: `${name}.png`, svg, zoom: 1, width: SPARKLINE_WIDTH, height: SPARKLINE_HEIGHT }]
}

/**
 * A sparkline has no axes. A small change is not stretched to the full height, to look no larger than it is.
 */

export const SPARKLINE_WIDTH = 120
export const SPARKLINE_HEIGHT = 28

const LINE_WIDTH = 1.75
const END_RADIUS = 2.75
// The margin keeps the dot and the corners of the line inside the picture.
const MARGIN = 4
// The left margin is smaller, so that the line starts directly below the text above the sparkline.
const LEFT_MARGIN = 1
// The minimum difference between the values at the top and at the bottom, as a share of the largest value.
// Without a minimum, small changes would look large.
const LEAST_SPAN = 0.25
const BAND_OPACITY = 0.18
const RING_RADIUS = 3.25
const RING = `fill="none" stroke="${ON_ANY_BACKGROUND}" stroke-width="1.25"`

/** The usual range of each value of a sparkline; null for values without a range. */
type Band = readonly (UsualRange | null)[]

interface SparklineLayout {
  readonly runs: readonly Run[]
  /** The areas of the usual ranges: polygons over consecutive values, given by their corners. */
  readonly areas: readonly Run[]
  readonly points: readonly (Point | null)[]
  readonly end: Point | null
}

/** `rings` are the indexes of values with a ring, because a note exists about their day. */
export function drawSparkline(
  values: readonly (number | null)[],
  band: Band = [],
  rings: readonly number[] = [],
): string {
  const { runs, areas, end, points } = layoutSparkline(values, band)
  const ringed = rings.map((place) => {
    const point = points[place]
    return point ? dot(point, RING_RADIUS, RING) : ''
  })
  const usual = areas.map(
    (corners) =>
      `<polygon points="${corners.map(({ x, y }) => `${tenth(x)},${tenth(y)}`).join(' ')}" fill="${ON_ANY_BACKGROUND}" fill-opacity="${BAND_OPACITY}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SPARKLINE_WIDTH}" height="${SPARKLINE_HEIGHT}">${usual.join('')}${line(
    runs,
    LINE_WIDTH,
    `stroke="${ON_ANY_BACKGROUND}"`,
  )}${ringed.join('')}${end ? dot(end, END_RADIUS, `fill="${ON_ANY_BACKGROUND}"`) : ''}</svg>`
}

/** The values are in order of time, and null if unknown. */
function layoutSparkline(values: readonly (number | null)[], band: Band = []): SparklineLayout {
  const ranges = band.filter((range) => range !== null)
  const known = [
    ...values.filter((value) => value !== null),
    ...ranges.flatMap(({ low, high }) => [low, high]),
  ]
  const [low, high] = known.length === 0 ? [0, 0] : [Math.min(...known), Math.max(...known)]
  const span = Math.max(high - low, high * LEAST_SPAN)
  const [width, height] = [SPARKLINE_WIDTH - LEFT_MARGIN - MARGIN, SPARKLINE_HEIGHT - 2 * MARGIN]
  const middle = (low + high) / 2
  const place = (value: number | null | undefined, index: number): Point | null => {
    if (value === null || value === undefined) return null
    const fromRight = ((values.length - 1 - index) * width) / Math.max(1, values.length - 1)
    const share = span === 0 ? 0 : 0.5 + (value - middle) / span
    return { x: SPARKLINE_WIDTH - MARGIN - fromRight, y: MARGIN + height * (1 - share) }
  }
  const points = values.map(place)
  const [highs, lows] = (['high', 'low'] as const).map((bound) =>
    splitAtGaps(values.map((_, index) => place(band[index]?.[bound], index))),
  ) as [readonly Run[], readonly Run[]]
  return {
    runs: splitAtGaps(points),
    areas: highs.map((top, index) => [...top, ...(lows[index] ?? []).toReversed()]),
    points,
    end: points.findLast((point) => point !== null) ?? null,
  }
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
  const daily = layout.lines.map((each) =>
    line(
      each.daily,
      DAILY_WIDTH,
      `stroke="${colours[each.series]}" stroke-opacity="${colours.dailyOpacity}"`,
    ),
  )
  const means = layout.lines.map((each) => line(each.mean, MEAN_WIDTH, `stroke="${colours[each.series]}"`))
  const ends = layout.lines.map(({ end, series }) =>
    end === null ? '' : dot(end, TREND_DOT_RADIUS, `fill="${colours[series]}"`),
  )
  const labels = layout.lines.map(({ series, label, labelY }) =>
    write(
      label,
      right + LABEL_GAP,
      labelY + LABEL_SIZE * HALF_CAPITAL,
      `fill="${colours[series]}" font-size="${LABEL_SIZE}" font-weight="600"`,
    ),
  )
  const parts = [marks, rows, columns, daily, means, ends, labels].flat().join('')
  const attributes = `width="${TREND_WIDTH}" height="${TREND_HEIGHT}" font-family="Inter" font-size="${TICK_SIZE}" fill="${colours.text}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}><rect width="100%" height="100%" fill="${colours.background}"/>${parts}</svg>`
}

function write(text: string, x: number, y: number, attributes: string): string {
  return text === '' ? '' : `<text x="${tenth(x)}" y="${tenth(y)}" ${attributes}>${escapeXml(text)}</text>`
}

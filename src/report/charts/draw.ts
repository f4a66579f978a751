/**
 * Draws the charts of an issue as PNG files, once for all recipients of one language. A chart with too few
 * values is left out.
 */
import type { FailedSection, ReportFigures, TrendDay } from '../../domain/figures.ts'
import { errorText } from '../../errors.ts'
import type { ChartName, ChartSource } from '../context.ts'
import { encodePng, rasterise } from './png.ts'
import { drawSparkline, SPARKLINE_HEIGHT, SPARKLINE_WIDTH } from './sparkline.ts'
import { drawTrend } from './trend.ts'
import type { ChartLabels } from './trend-layout.ts'
import { layoutTrend, TREND_HEIGHT, TREND_WIDTH } from './trend-layout.ts'

export interface ChartFile {
  /**
   * The file name. The trend is drawn twice (`trend-light.png`, `trend-dark.png`); a sparkline once, for both
   * colour schemes (`spark-won.png`).
   */
  readonly name: string
  readonly content: Uint8Array
  /** The displayed size in CSS pixels. The picture has twice as many pixels. */
  readonly width: number
  readonly height: number
}

interface Drawing {
  readonly name: string
  readonly svg: string
  /** The displayed size divided by the drawn size. */
  readonly zoom: number
  readonly width: number
  readonly height: number
}

// Pixels of the picture for each CSS pixel.
const DENSITY = 2
const TREND_DAYS = 90
// With fewer days the weekly mean would have hardly any line.
const LEAST_TREND_DAYS = 14
const LEAST_SPARK_VALUES = 2
// The width of a mail's text in CSS pixels. The chart is drawn smaller, so that its letters stay large on a
// phone.
const TREND_SHOWN_WIDTH = 552
const CHART_NAMES = [
  'trend',
  'spark-new-leads',
  'spark-won',
  'spark-win-rate',
  'spark-open-value',
] as const satisfies readonly ChartName[]

export interface DrawnCharts {
  readonly files: readonly ChartFile[]
  /** The blocks whose charts could not be drawn. */
  readonly failed: readonly FailedSection[]
}

/** Draws all charts. If the charts of one block fail, the other charts are still drawn. */
export async function drawCharts(
  { trend, sparklines }: Pick<ReportFigures, 'trend' | 'sparklines'>,
  labels: ChartLabels,
): Promise<DrawnCharts> {
  const all = await Promise.all([
    drawFor('trend', () => drawTrends(trend, labels)),
    drawFor('kpis', () => [
      ...drawSpark('spark-new-leads', sparklines.newLeads),
      ...drawSpark('spark-won', sparklines.won),
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

/**
 * Finds the chart files by name.
 * @param address returns the address of a file: `cid:…` in a mail, a path in the archive
 */
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

/**
 * Returns the days of the trend: the last 90, starting at the first known day. Returns none if there are too
 * few.
 */
export function shownDays(trend: readonly TrendDay[]): readonly TrendDay[] {
  const days = trend.slice(-TREND_DAYS)
  const first = days.findIndex(({ newLeads, won }) => newLeads !== null || won !== null)
  const known = first < 0 ? [] : days.slice(first)
  return known.length < LEAST_TREND_DAYS ? [] : known
}

function drawTrends(trend: readonly TrendDay[], labels: ChartLabels): readonly Drawing[] {
  const shown = shownDays(trend)
  if (shown.length === 0) return []
  const layout = layoutTrend(trend, trend.length - shown.length, labels)
  return (['light', 'dark'] as const).map((scheme) => ({
    name: `trend-${scheme}.png`,
    svg: drawTrend(layout, scheme),
    zoom: TREND_SHOWN_WIDTH / TREND_WIDTH,
    width: TREND_WIDTH,
    height: TREND_HEIGHT,
  }))
}

function drawSpark(name: ChartName, values: readonly (number | null)[]): readonly Drawing[] {
  if (values.filter((value) => value !== null).length < LEAST_SPARK_VALUES) return []
  const svg = drawSparkline(values)
  return [{ name: `${name}.png`, svg, zoom: 1, width: SPARKLINE_WIDTH, height: SPARKLINE_HEIGHT }]
}

/** Composes the table of pipelines, with a row for all of them, and the trend chart of one pipeline. */

import type { TrendDay } from '../../../domain/figures.ts'
import type { DayNote, JudgedWinRate } from '../../../domain/insight.ts'
import type { Money, Ratio } from '../../../domain/model.ts'
import { PERIOD_DAYS } from '../../../jobs/overview.ts'
import { percentsOf } from '../../../report/blocks/headline/judged.ts'
import { layoutSparkline } from '../../../report/charts/draw.ts'
import type { Point, Run } from '../../../report/charts/svg.ts'
import { pathOf, tenth } from '../../../report/charts/svg.ts'
import type { TrendLayout } from '../../../report/charts/trend-layout.ts'
import {
  chartLabels,
  layoutTrend,
  MEAN_DAYS,
  meansOfWeek,
  writeMean,
} from '../../../report/charts/trend-layout.ts'
import { marksOfDays, writeNote } from '../../../report/day-notes.ts'
import { capitalise } from '../../../report/words/clean-text.ts'
import type { LocaleContext } from '../../../report/words/locale-context.ts'
import type { PipelineOverview } from '../../../store/figures/pipeline-overview.ts'
import { count, LOCALE, moneys, NONE, nameOf, numbers, share } from '../../server/format.ts'

export interface PipelineLine {
  /** The link to the page of the pipeline; null in the row for all pipelines together. */
  readonly href: string | null
  readonly name: string
  /** The state of the pipeline in the upstream's words; empty if the upstream gives none. */
  readonly status: string
  readonly leads: string
  readonly open: string
  readonly openValue: string
  readonly stalled: string
  readonly newLeads: string
  readonly won: string
  readonly conversion: string
  readonly winRate: string
  /** The usual range of the win rate, such as `9–21%`; empty if it is not known. */
  readonly usualRate: string
  readonly spark: Spark
}

/** A sparkline (a tiny line chart) of the new leads of each day. */
interface Spark {
  readonly label: string
  /** The SVG path data (attribute `d`) of each part of the line. */
  readonly lines: readonly string[]
  readonly end: Point | null
}

type Counted = Pick<
  PipelineOverview,
  'leads' | 'open' | 'openValue' | 'stalled' | 'newLeads' | 'won' | 'winRate' | 'trend'
>

/**
 * Composes the rows. If there are several pipelines, a last row is for all of them together.
 * @param rates the known win rates of single pipelines and of all pipelines, each with its usual range
 */
export function composeList(
  pipelines: readonly PipelineOverview[],
  rates: readonly JudgedWinRate[],
): PipelineLine[] {
  const rateOf = (id: string | null) => rates.find(({ pipeline }) => (pipeline?.id ?? null) === id)
  const lines = pipelines.map((pipeline) => ({
    href: `/pipelines/${encodeURIComponent(pipeline.id)}`,
    name: nameOf(pipeline.name),
    status: pipeline.status === null ? '' : capitalise(pipeline.status),
    ...cellsOf(pipeline, rateOf(pipeline.id)),
  }))
  if (pipelines.length < 2) return lines
  return [
    ...lines,
    { href: null, name: 'All pipelines', status: '', ...cellsOf(sumOf(pipelines), rateOf(null)) },
  ]
}

export function cellsOf(
  counted: Counted,
  rate: JudgedWinRate | undefined,
): Omit<PipelineLine, 'href' | 'name' | 'status'> {
  const { leads, open, openValue, stalled, newLeads, won, winRate, trend } = counted
  return {
    leads: count(leads),
    open: count(open),
    openValue: moneys(openValue),
    stalled: count(stalled),
    newLeads: count(newLeads),
    won: count(won),
    conversion: share({ part: won, whole: newLeads }),
    winRate: share(winRate),
    usualRate: rate === undefined ? '' : writeUsual(rate, winRate),
    spark: sparkOf(trend.slice(-PERIOD_DAYS).map((day) => day.newLeads)),
  }
}

/**
 * Formats the usual range of a win rate. Returns an empty text if the range was computed for other days than
 * the shown win rate.
 */
function writeUsual({ won, decided, range }: JudgedWinRate, { part, whole }: Ratio): string {
  if (range === null || won !== part || decided !== whole) return ''
  const { low, high } = percentsOf(range, decided)
  return low === high ? `${low}%` : `${low}–${high}%`
}

function sparkOf(values: readonly (number | null)[]): Spark {
  const { runs, end } = layoutSparkline(values)
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return {
    label:
      known.length === 0
        ? 'New leads a day: not known yet'
        : `New leads a day: ${count(low)} to ${count(high)}, on the last day ${count(known.at(-1) ?? 0)}`,
    lines: runs.filter((run) => run.length > 1).map(pathOf),
    end,
  }
}

function sumOf(pipelines: readonly PipelineOverview[]): Counted {
  const sum = (of: (pipeline: PipelineOverview) => number) =>
    pipelines.reduce((total, pipeline) => total + of(pipeline), 0)
  const days = pipelines[0]?.trend.map(({ day }) => day) ?? []
  const onDay = (index: number, of: 'newLeads' | 'won') => {
    const counts = pipelines.map(({ trend }) => trend[index]?.[of] ?? null)
    return counts.includes(null) ? null : counts.reduce<number>((total, each) => total + (each ?? 0), 0)
  }
  return {
    leads: sum(({ leads }) => leads),
    open: sum(({ open }) => open),
    openValue: sumMoneys(pipelines.flatMap(({ openValue }) => openValue)),
    stalled: sum(({ stalled }) => stalled),
    newLeads: sum(({ newLeads }) => newLeads),
    won: sum(({ won }) => won),
    winRate: { part: sum(({ winRate }) => winRate.part), whole: sum(({ winRate }) => winRate.whole) },
    trend: days.map((day, index) => ({
      day,
      newLeads: onDay(index, 'newLeads'),
      won: onDay(index, 'won'),
    })),
  }
}

/** Adds amounts of the same currency. The currency that most pipelines use comes first. */
function sumMoneys(values: readonly Money[]): Money[] {
  return [...Map.groupBy(values, ({ currency }) => currency)]
    .sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .map(([currency, all]) => ({ amount: all.reduce((sum, { amount }) => sum + amount, 0), currency }))
}

export interface TrendView {
  readonly days: number
  readonly choices: readonly { readonly days: number; readonly href: string; readonly isChosen: boolean }[]
  /** The chart; null if no figure of the shown days is known. */
  readonly chart: TrendChart | null
  /** The days, newest first. */
  readonly rows: readonly { readonly day: string; readonly newLeads: string; readonly won: string }[]
}

interface TrendChart {
  /** A sentence that describes the chart for screen readers. */
  readonly summary: string
  /** The lines of the grid; `y` is in percent of the plot's height. */
  readonly grid: readonly { readonly y: string; readonly text: string }[]
  readonly marks: readonly { readonly x: string; readonly anchor: string; readonly text: string }[]
  readonly series: readonly TrendSeries[]
  /**
   * The areas of days about which operators wrote a note, each with the note. The positions are in percent of
   * the plot's width.
   */
  readonly noted: readonly NotedArea[]
}

interface NotedArea {
  readonly x: string
  readonly width: string
  readonly middle: string
  readonly letter: string
  readonly text: string
}

interface TrendSeries {
  readonly name: 'new' | 'won'
  readonly legend: string
  /**
   * The line of the daily numbers as SVG path data, in thousandths of the plot's size; empty if there is no
   * line.
   */
  readonly daily: string
  /** The line of the running mean, in the same format. */
  readonly mean: string
  /** The position of the last point in percent of the plot's size; null if no value is known. */
  readonly end: { readonly x: string; readonly y: string } | null
}

const CHOICES = [30, 90, 365] as const
export type TrendDays = (typeof CHOICES)[number]
const DAYS_DEFAULT: TrendDays = 90

const WHOLE = 1_000
// A label nearer to an edge of the plot than this share of the plot's width is aligned with that edge.
const EDGE = 0.06

const NAMES = { newLeads: 'new', won: 'won' } as const
const TITLES = { newLeads: 'New leads', won: 'Won' } as const

export function trendDaysOf(wanted: unknown): TrendDays {
  return CHOICES.find((days) => String(days) === wanted) ?? DAYS_DEFAULT
}

/**
 * @param trend the days of the longest period that a user can choose, and earlier days, which the running
 * mean of the first days needs
 * @param path the path of the page
 * @param notes the operators' notes about days of the pipeline
 */
export function composeTrend(
  trend: readonly TrendDay[],
  days: TrendDays,
  path: string,
  locale: LocaleContext,
  notes: readonly DayNote[],
): TrendView {
  const drawn = trend.slice(-(days + MEAN_DAYS - 1))
  const shown = trend.slice(-days)
  const write = dayWriter({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' })
  return {
    days,
    choices: CHOICES.map((each) => ({
      days: each,
      href: `${path}?days=${each}`,
      isChosen: each === days,
    })),
    chart: shown.some(({ newLeads }) => newLeads !== null) ? chartOf(drawn, shown, locale, notes) : null,
    rows: shown.toReversed().map(({ day, newLeads, won }) => ({
      day: write(day),
      newLeads: newLeads === null ? NONE : count(newLeads),
      won: won === null ? NONE : count(won),
    })),
  }
}

/** Lays out the chart, and converts its positions to percentages, so that the chart fits any width. */
function chartOf(
  drawn: readonly TrendDay[],
  shown: readonly TrendDay[],
  locale: LocaleContext,
  notes: readonly DayNote[],
): TrendChart {
  const marks = marksOfDays(notes, shown)
  const layout = layoutTrend(drawn, drawn.length - shown.length, chartLabels(locale), marks)
  const across = shareOf(layout.left, layout.right)
  const down = shareOf(layout.top, layout.bottom)
  return {
    summary: summaryOf(drawn, shown),
    grid: layout.rows.map(({ y, text }) => ({ y: percent(down(y)), text })),
    marks: layout.columns.map(({ x, text }) => ({
      x: percent(across(x)),
      anchor: anchorOf(across(x)),
      text,
    })),
    noted: layout.marks.map(({ left, right, letter, middle }, index) => ({
      x: percent(across(left)),
      width: percent(across(right) - across(left)),
      middle: percent(across(middle)),
      letter,
      text: marks[index] ? writeNote(marks[index], locale) : '',
    })),
    series: layout.lines.map(({ series, daily, mean, end }) => ({
      name: NAMES[series],
      legend: `${TITLES[series]}: ${formatMean(drawn.map((day) => day[series]))}`,
      daily: linesOf(daily, across, down),
      mean: linesOf(mean, across, down),
      end: end && { x: percent(across(end.x)), y: percent(down(end.y)) },
    })),
  }
}

function shareOf(from: TrendLayout['left'], to: number): (at: number) => number {
  return (at) => (at - from) / (to - from)
}

/** Turns parts of a line into SVG path data. A single point becomes a line of length zero, seen as a dot. */
function linesOf(runs: readonly Run[], across: (x: number) => number, down: (y: number) => number): string {
  const place = ({ x, y }: Point): Point => ({ x: across(x) * WHOLE, y: down(y) * WHOLE })
  return runs
    .map((run) => run.map(place))
    .map((run) => pathOf(run.length === 1 && run[0] ? [run[0], run[0]] : run))
    .join('')
}

function anchorOf(share: number): string {
  if (share < EDGE) return 'start'
  return share > 1 - EDGE ? 'end' : 'middle'
}

function percent(share: number): string {
  return `${tenth(share * 100)}%`
}

/** Formats the last mean as `47 a day, mean of 7 days`, or the last known count if too few days are known. */
function formatMean(counts: readonly (number | null)[]): string {
  const last = counts.findLastIndex((each) => each !== null)
  const mean = meansOfWeek(counts)[last] ?? null
  if (mean !== null) return `${writeMean(mean, numbers)} a day, mean of ${MEAN_DAYS} days`
  return `${count(counts[last] ?? 0)} on the last day`
}

function summaryOf(drawn: readonly TrendDay[], shown: readonly TrendDay[]): string {
  const write = dayWriter({ day: 'numeric', month: 'long', year: 'numeric' })
  const parts = (['newLeads', 'won'] as const).map((series) => {
    const known = shown.map((day) => day[series]).filter((each) => each !== null)
    const range = `${count(Math.min(...known))} to ${count(Math.max(...known))} a day`
    return `${TITLES[series]}: ${range}, at the end ${formatMean(drawn.map((day) => day[series]))}.`
  })
  return [`From ${write(shown[0]?.day ?? '')} to ${write(shown.at(-1)?.day ?? '')}.`, ...parts].join(' ')
}

/** Creates a function that formats local dates. UTC is used, because these dates have no time zone. */
function dayWriter(options: Intl.DateTimeFormatOptions): (day: string) => string {
  const format = new Intl.DateTimeFormat(LOCALE, { ...options, timeZone: 'UTC' })
  return (day) => format.format(Date.parse(day))
}

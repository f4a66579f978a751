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
import { count, LOCALE, moneys, nameOf, numbers, share } from '../../server/format.ts'

type Counted = Pick<
  PipelineOverview,
  'leads' | 'open' | 'openValue' | 'stalled' | 'newLeads' | 'won' | 'winRate' | 'trend'
>

/** The last of several rows is for all pipelines. `rates` are the known win rates with their ranges. */
export function composeList(pipelines: readonly PipelineOverview[], rates: readonly JudgedWinRate[]) {
  const rateOf = (id: string | null) => rates.find(({ pipeline }) => (pipeline?.id ?? null) === id)
  const lines = pipelines.map((pipeline) => ({
    ...cellsOf(pipeline, rateOf(pipeline.id)),
    href: `/pipelines/${encodeURIComponent(pipeline.id)}`,
    name: nameOf(pipeline.name),
    status: pipeline.status === null ? '' : capitalise(pipeline.status),
  }))
  if (pipelines.length < 2) return lines
  const all = { ...cellsOf(sumOf(pipelines), rateOf(null)), href: null, name: 'All pipelines', status: '' }
  return [...lines, all]
}

export function cellsOf(counted: Counted, rate: JudgedWinRate | undefined) {
  const { openValue, newLeads, won, winRate, trend } = counted
  return {
    ...counted,
    openValue: moneys(openValue),
    conversion: share({ part: won, whole: newLeads }),
    winRate: share(winRate),
    /** The usual range of the win rate, such as `9–21%`; empty if it is not known. */
    usualRate: rate === undefined ? '' : writeUsual(rate, winRate),
    spark: sparkOf(trend.slice(-PERIOD_DAYS).map((day) => day.newLeads)),
  }
}

/** Empty if the range was computed for other days than the shown win rate. */
function writeUsual({ won, decided, range }: JudgedWinRate, { part, whole }: Ratio): string {
  if (range === null || won !== part || decided !== whole) return ''
  const { low, high } = percentsOf(range, decided)
  return low === high ? `${low}%` : `${low}–${high}%`
}

/** Lays out a sparkline (a tiny line chart) of the new leads of each day. */
function sparkOf(values: readonly (number | null)[]) {
  const { runs, end } = layoutSparkline(values)
  const known = values.filter((value) => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  return {
    label:
      known.length === 0
        ? 'New leads a day: not known yet'
        : `New leads a day: ${count(low)} to ${count(high)}, on the last day ${count(known.at(-1) ?? 0)}`,
    /** The SVG path data (attribute `d`) of each part of the line. */
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

/** The trend also has earlier days, which the running mean of the first days needs. */
export function composeTrend(
  trend: readonly TrendDay[],
  days: TrendDays,
  path: string,
  locale: LocaleContext,
  notes: readonly DayNote[],
) {
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
      newLeads,
      won,
    })),
  }
}

/** Lays out the chart, and converts its positions to percentages, so that the chart fits any width. */
function chartOf(
  drawn: readonly TrendDay[],
  shown: readonly TrendDay[],
  locale: LocaleContext,
  notes: readonly DayNote[],
) {
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

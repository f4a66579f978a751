/**
 * The positions of everything in the trend, in units of its picture; `trend.ts` paints it. The picture is shown a fifth
 * larger on a desktop and a quarter smaller on a phone, and its smallest letters are still 9 pixels there.
 */
import type { TrendDay } from '../../domain/figures.ts'
import type { LocaleContext } from '../words/locale-context.ts'
import type { Numbers } from '../words/numbers.ts'
import type { Point, Run } from './svg.ts'
import { splitAtGaps } from './svg.ts'
import { fitInto, widthOf } from './text-width.ts'

export const TREND_WIDTH = 460
export const TREND_HEIGHT = 214
/** The font sizes of ticks, and of the labels at the ends of the lines, which are semi-bold. */
export const TICK_SIZE = 12.5
export const LABEL_SIZE = 13.5

/** Between the plot and its texts on the left and on the right, and the base line of those below. */
export const TICK_GAP = 9
export const LABEL_GAP = 10
export const COLUMN_BASE = TREND_HEIGHT - 6

const TOP = 10
const BELOW = 28
const LABEL_HEIGHT = 17
/** Beyond this share of the width for each side, texts are cut. */
const MARGIN_SHARE = 0.35
const MONTH_GAP = 14
const SERIES = ['newLeads', 'won'] as const

export interface TrendLayout {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly rows: readonly { readonly y: number; readonly text: string }[]
  /** The mark stands at `x`, the text around `middle`, which differs where it would leave the picture. */
  readonly columns: readonly { readonly x: number; readonly middle: number; readonly text: string }[]
  readonly lines: readonly TrendLine[]
}

export interface TrendLine {
  readonly series: (typeof SERIES)[number]
  readonly daily: readonly Run[]
  readonly mean: readonly Run[]
  /** The mean of the last known day, or its count where there is no mean yet; null where nothing is known. */
  readonly end: Point | null
  /** The text to the right of the plot, around this height; empty where nothing is known. */
  readonly label: string
  readonly labelY: number
}

/**
 * @param days oldest first
 * @param leadIn how many of the first are only there for the means of those after them
 */
export function layoutTrend(days: readonly TrendDay[], leadIn: number, labels: ChartLabels): TrendLayout {
  const shown = days.slice(leadIn)
  const series = SERIES.map((name) => readSeries(name, days, leadIn, labels))
  const ticks = roundTicks(
    Math.max(0, ...series.flatMap(({ daily, mean }) => [...daily, ...mean].filter(isKnown))),
  )
  const highest = Math.max(...ticks)
  const rowTexts = ticks.map((tick) =>
    fitInto(labels.tick(tick, highest), TREND_WIDTH * MARGIN_SHARE - TICK_GAP, TICK_SIZE),
  )
  const left = TICK_GAP + Math.max(...rowTexts.map((text) => widthOf(text, TICK_SIZE)))
  const right = TREND_WIDTH - LABEL_GAP - Math.max(...series.map(({ label }) => widthOf(label, LABEL_SIZE)))
  const [top, bottom] = [TOP, TREND_HEIGHT - BELOW]
  const x = (index: number) =>
    right - ((shown.length - 1 - index) * (right - left)) / Math.max(1, shown.length - 1)
  const y = (count: number) => bottom - (count / highest) * (bottom - top)
  const points = (counts: readonly (number | null)[]) =>
    counts.map((count, index) => (count === null ? null : { x: x(index), y: y(count) }))
  const lines = series.map(({ name, daily, mean, last, end, label }) => ({
    series: name,
    daily: splitAtGaps(points(daily)),
    mean: splitAtGaps(points(mean)),
    end: end === null ? null : { x: x(last), y: y(end) },
    label,
    labelY: end === null ? bottom : y(end),
  }))
  return {
    left,
    right,
    top,
    bottom,
    rows: ticks.map((tick, index) => ({ y: y(tick), text: rowTexts[index] ?? '' })),
    columns: columnsOf(shown, x, labels),
    lines: pushApart(lines, top, bottom),
  }
}

/** The counts and means of the days that are shown, and what the line ends with. */
function readSeries(
  name: TrendLine['series'],
  days: readonly TrendDay[],
  leadIn: number,
  labels: ChartLabels,
) {
  const counts = days.map((day) => day[name])
  const daily = counts.slice(leadIn)
  const mean = meansOfWeek(counts).slice(leadIn)
  const last = daily.findLastIndex(isKnown)
  const end = mean[last] ?? daily[last] ?? null
  const text = end === null ? '' : labels[name](end)
  const label = fitInto(text, TREND_WIDTH * MARGIN_SHARE - LABEL_GAP, LABEL_SIZE)
  return { name, daily, mean, last, end, label }
}

/** Beginnings of months, of which some are left out where they would crowd; in a short span its ends instead. */
function columnsOf(
  days: readonly TrendDay[],
  x: (index: number) => number,
  labels: ChartLabels,
): TrendLayout['columns'] {
  const columnAt = (index: number) => {
    const text = labels.day(days[index]?.day ?? '')
    const half = widthOf(text, TICK_SIZE) / 2
    return { x: x(index), middle: Math.min(Math.max(x(index), half), TREND_WIDTH - half), half, text }
  }
  const isCrowded = (some: readonly ReturnType<typeof columnAt>[]) =>
    some.some((column, index) => {
      const next = some[index + 1]
      return next !== undefined && next.middle - column.middle < next.half + column.half + MONTH_GAP
    })
  const months = [...days.keys()].filter((index) => days[index]?.day.endsWith('-01')).map(columnAt)
  const spaced = [1, 2, 3, 6, 12]
    .map((every) => months.filter((_, index) => index % every === 0))
    .find((some) => some.length > 1 && !isCrowded(some))
  const ends = [...new Set(days.length === 0 ? [] : [0, days.length - 1])].map(columnAt)
  const chosen = spaced ?? (isCrowded(ends) ? ends.slice(-1) : ends)
  return chosen.map(({ x, middle, text }) => ({ x, middle, text }))
}

/** Moves labels that would touch each other apart, around the middle of both, and into the plot. */
function pushApart(lines: readonly TrendLine[], top: number, bottom: number): readonly TrendLine[] {
  const [upper, lower] = lines.filter(({ end }) => end !== null).toSorted((a, b) => a.labelY - b.labelY)
  if (!upper || !lower || lower.labelY - upper.labelY >= LABEL_HEIGHT) return lines
  const middle = (upper.labelY + lower.labelY) / 2
  const first = Math.min(Math.max(middle - LABEL_HEIGHT / 2, top), bottom - LABEL_HEIGHT)
  return lines.map((line) => {
    if (line === upper) return { ...line, labelY: first }
    return line === lower ? { ...line, labelY: first + LABEL_HEIGHT } : line
  })
}

function isKnown<T>(value: T | null): value is T {
  return value !== null
}

/* What charts write, in a reader's language. They show no names of the data: Inter lacks the letters of many. */

export interface ChartLabels {
  /** At the end of a line, with its last mean: `New 50`. */
  readonly newLeads: (mean: number) => string
  readonly won: (mean: number) => string
  /** Writes a tick of an axis that goes up to `highest`, all in one manner: `20`, `1.5m`. */
  readonly tick: (count: number, highest: number) => string
  /** Writes a local date, `2026-09-01`, as `1 September`, with no dot of a short form at its end. */
  readonly day: (day: string) => string
}

/** From here on numbers are written short: a line's end has no room for `1,284,000`. */
const LARGE = 100_000

export function chartLabels({ tag, words, numbers }: LocaleContext): ChartLabels {
  const short = new Intl.NumberFormat(tag, { notation: 'compact', maximumSignificantDigits: 3 })
  const date = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'long', timeZone: 'UTC' })
  const mean = (value: number) => (value < LARGE ? writeMean(value, numbers) : short.format(value))
  return {
    newLeads: (value) => words('trend.newLeads', { mean: mean(value) }),
    won: (value) => words('trend.won', { mean: mean(value) }),
    tick: (count, highest) => (highest < LARGE ? numbers.count(count) : short.format(count)),
    day: (day) => date.format(Date.parse(day)),
  }
}

/* The running mean that the thick lines of a chart are made of, and how it is written beside them. */

/** Days in a mean: a whole week, so that weekends do not move it. */
export const MEAN_DAYS = 7

/** For each day the mean of it and the six before; null where any of them is missing. */
export function meansOfWeek(counts: readonly (number | null)[]): readonly (number | null)[] {
  return counts.map((_, last) => {
    const week = counts.slice(Math.max(0, last - MEAN_DAYS + 1), last + 1).filter((count) => count !== null)
    if (week.length < MEAN_DAYS) return null
    return week.reduce((sum, count) => sum + count, 0) / MEAN_DAYS
  })
}

/** `47`, `3.4`, `0`: as exact as it may be taken. */
export function writeMean(mean: number, numbers: Numbers): string {
  return mean === 0 || mean >= 9.95 ? numbers.count(mean) : numbers.fixed(mean, 1)
}

/* Round numbers for an axis of counts: from 0 and whole, since a half lead is none. */

const MOST_STEPS = 4
const FACTORS = [1, 2, 2.5, 5, 10]

/** Three to five ticks from 0 to `max` or the next round number above it: 41 makes 0, 20, 40, 60. */
export function roundTicks(max: number): readonly number[] {
  const step = roundStep(max / MOST_STEPS)
  const steps = Math.max(2, Math.ceil(max / step))
  return Array.from({ length: steps + 1 }, (_, number) => number * step)
}

/** The smallest round whole number from `least` on. */
function roundStep(least: number): number {
  if (least <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  const steps = FACTORS.map((factor) => factor * power)
  return steps.find((step) => step >= least && Number.isInteger(step)) ?? 10 * power
}

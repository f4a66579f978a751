/**
 * Computes the layout of the trend chart: all positions, labels, weekly means and ticks. `draw.ts` then draws
 * the chart. A desktop shows the chart a fifth larger, and a phone a quarter smaller. Even on a phone, the
 * smallest letters have a size of 9 pixels.
 */
import type { TrendDay } from '../../domain/figures.ts'
import type { Mark } from '../day-notes.ts'
import type { LocaleContext } from '../words/locale-context.ts'
import type { Numbers } from '../words/numbers.ts'
import { fitInto, type Point, type Run, splitAtGaps, widthOf } from './svg.ts'

export const TREND_WIDTH = 460
export const TREND_HEIGHT = 214
export const TICK_SIZE = 12.5
/** The font size of the semi-bold labels at the ends of the lines. */
export const LABEL_SIZE = 13.5

export const TICK_GAP = 9
/** The gap between the plot and the labels on its right. */
export const LABEL_GAP = 10
/** The base line of the texts below the plot. */
export const COLUMN_BASE = TREND_HEIGHT - 6

const TOP = 10
const BELOW = 28
// A mark is an area of days that have a note, with a letter above the plot.

const MARK_HEIGHT = 16
const MARK_WIDTH = 3
const LETTER_WIDTH = 12
// A text that is wider than this share of the picture is cut.
const MARGIN_SHARE = 0.35
const MONTH_GAP = 14

export interface TrendLayout {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly rows: readonly { readonly y: number; readonly text: string }[]
  /** A tick is at `x`. Its text is centred on `middle`, which differs near the edges of the picture. */
  readonly columns: readonly { readonly x: number; readonly middle: number; readonly text: string }[]
  readonly line: TrendLine
  readonly marks: readonly MarkArea[]
}

interface MarkArea {
  readonly left: number
  readonly right: number
  readonly letter: string
  readonly middle: number
}

interface TrendLine {
  readonly daily: readonly Run[]
  readonly mean: readonly Run[]
  /**
   * On the last day with a known count, at the mean of that day or else at the count. Null without counts.
   */
  readonly end: Point | null
  /** The text to the right of the end; empty if no count is known. */
  readonly label: string
}

/** The `leadIn` first days are used only for the means of later days. `marks` are notes about shown days. */
export function layoutTrend(
  days: readonly TrendDay[],
  leadIn: number,
  labels: ChartLabels,
  marks: readonly Mark[] = [],
): TrendLayout {
  const shown = days.slice(leadIn)
  const counts = days.map(({ newLeads }) => newLeads)
  const daily = counts.slice(leadIn)
  const mean = meansOfWeek(counts).slice(leadIn)
  const last = daily.findLastIndex(isKnown)
  const end = mean[last] ?? daily[last] ?? null
  const text = end === null ? '' : labels.newLeads(end)
  const label = fitInto(text, TREND_WIDTH * MARGIN_SHARE - LABEL_GAP, LABEL_SIZE)
  const ticks = roundTicks(Math.max(0, ...[...daily, ...mean].filter(isKnown)))
  const highest = Math.max(...ticks)
  const rowTexts = ticks.map((tick) =>
    fitInto(labels.tick(tick, highest), TREND_WIDTH * MARGIN_SHARE - TICK_GAP, TICK_SIZE),
  )
  const left = TICK_GAP + Math.max(...rowTexts.map((text) => widthOf(text, TICK_SIZE)))
  const right = TREND_WIDTH - LABEL_GAP - widthOf(label, LABEL_SIZE)
  const [top, bottom] = [TOP + (marks.length > 0 ? MARK_HEIGHT : 0), TREND_HEIGHT - BELOW]
  const x = (index: number) =>
    right - ((shown.length - 1 - index) * (right - left)) / Math.max(1, shown.length - 1)
  const y = (count: number) => bottom - (count / highest) * (bottom - top)
  const points = (counts: readonly (number | null)[]) =>
    counts.map((count, index) => (count === null ? null : { x: x(index), y: y(count) }))
  return {
    left,
    right,
    top,
    bottom,
    rows: ticks.map((tick, index) => ({ y: y(tick), text: rowTexts[index] ?? '' })),
    columns: columnsOf(shown, x, labels),
    line: {
      daily: splitAtGaps(points(daily)),
      mean: splitAtGaps(points(mean)),
      end: end === null ? null : { x: x(last), y: y(end) },
      label,
    },
    marks: pushLetters(marks.map((mark) => ({ ...areaOf(mark, shown, x), letter: mark.letter }))),
  }
}

/** Places the letters above their areas so that they do not overlap. */
function pushLetters(areas: readonly Omit<MarkArea, 'middle'>[]): MarkArea[] {
  let last = Number.NEGATIVE_INFINITY
  return areas.map((area) => {
    last = Math.max((area.left + area.right) / 2, last + LETTER_WIDTH)
    return { ...area, middle: last }
  })
}

/** Returns the area of a mark, from half a day before its first shown day to half a day after its last. */
function areaOf({ firstDay, lastDay }: Mark, days: readonly TrendDay[], x: (index: number) => number) {
  const first = Math.max(
    0,
    days.findIndex(({ day }) => day >= firstDay),
  )
  const last = Math.max(
    first,
    days.findLastIndex(({ day }) => day <= lastDay),
  )
  const half = Math.max(MARK_WIDTH, x(1) - x(0)) / 2
  return { left: Math.max(x(0), x(first) - half), right: Math.min(x(days.length - 1), x(last) + half) }
}

/**
 * Returns the ticks of the time axis. They are the first days of months. If the texts would overlap, they are
 * the first days of every second, third, sixth or twelfth month. If fewer than two such days fit, the ticks
 * are the first and the last day of the chart, or only the last day if both texts would overlap.
 */
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

function isKnown<T>(value: T | null): value is T {
  return value !== null
}

/** Charts show no names from the data, because the font Inter lacks characters of many languages. */
export interface ChartLabels {
  /** Formats the label of the line, with its last mean: `50 a day`. */
  readonly newLeads: (mean: number) => string
  /** Formats a tick: `20`, `1.5m`. `highest`, the largest tick, decides the style of all ticks. */
  readonly tick: (count: number, highest: number) => string
  /** Formats a local date, `2026-09-01`, as `1 September`. */
  readonly day: (day: string) => string
}

// From this number on, numbers are written in a short form, because there is no room for `1,284,000`.
const LARGE = 100_000

export function chartLabels({ tag, words, numbers }: LocaleContext): ChartLabels {
  const short = new Intl.NumberFormat(tag, { notation: 'compact', maximumSignificantDigits: 3 })
  const date = new Intl.DateTimeFormat(tag, { day: 'numeric', month: 'long', timeZone: 'UTC' })
  const mean = (value: number) => (value < LARGE ? writeMean(value, numbers) : short.format(value))
  return {
    newLeads: (value) => words('trend.newLeads', { mean: mean(value) }),
    tick: (count, highest) => (highest < LARGE ? numbers.count(count) : short.format(count)),
    day: (day) => date.format(Date.parse(day)),
  }
}

/** The number of days in a mean. It is a whole week, so that weekends do not change the mean. */
const MEAN_DAYS = 7

/** The mean of a day and the six before; null if one of the seven counts is unknown. */
export function meansOfWeek(counts: readonly (number | null)[]): readonly (number | null)[] {
  return counts.map((_, last) => {
    const week = counts.slice(Math.max(0, last - MEAN_DAYS + 1), last + 1).filter((count) => count !== null)
    if (week.length < MEAN_DAYS) return null
    return week.reduce((sum, count) => sum + count, 0) / MEAN_DAYS
  })
}

/** Formats a mean without false precision: `47`, `3.4`, `0`. */
export function writeMean(mean: number, numbers: Numbers): string {
  return mean === 0 || mean >= 9.95 ? numbers.count(mean) : numbers.fixed(mean, 1)
}

// Axes start at 0 and have whole numbers, because there are no half leads.
const MOST_STEPS = 4
const FACTORS = [1, 2, 2.5, 5, 10]

/** Returns three to five round numbers from 0 to `max` or more: for 41, they are 0, 20, 40 and 60. */
export function roundTicks(max: number): readonly number[] {
  const step = roundStep(max / MOST_STEPS)
  const steps = Math.max(2, Math.ceil(max / step))
  return Array.from({ length: steps + 1 }, (_, number) => number * step)
}

function roundStep(least: number): number {
  if (least <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  const steps = FACTORS.map((factor) => factor * power)
  return steps.find((step) => step >= least && Number.isInteger(step)) ?? 10 * power
}

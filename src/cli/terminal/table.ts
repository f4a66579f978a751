/**
 * Formats records for people: as a table without lines, numbers to the right, cut to the width of the terminal,
 * or as names and values.
 */
import { printable } from '../../printable.ts'
import { splitGraphemes } from '../../report/words/clean-text.ts'
import { formatClock } from '../../schedule/scheduled-runs.ts'
import { offsetMs, wallMs } from '../../schedule/zone.ts'
import { MINUTE_MS } from '../../time.ts'

export interface Column<Row> {
  readonly title: string
  /** Returns the cell's value. Null and undefined are shown as a dash. */
  readonly value: (row: Row) => string | number | null | undefined
  /** True if numbers are shown with all their digits. */
  readonly isExact?: boolean
  /** True if the cells are never cut, because people copy them. */
  readonly isWhole?: boolean
  /** True if the column may be left out of a narrow table. The last optional column is left out first. */
  readonly isOptional?: boolean
}

export interface Page {
  /** The width of the terminal; Infinity to cut nothing. */
  readonly width: number
  readonly style: (format: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string) => string
}

/** A paragraph of a result for people: its lines, or a function that lays them out. Empty ones are left out. */
export type Paragraph = string | ((page: Page) => string)

const GAP = '  '
const LEAST_WIDTH = 6
// Optional columns are left out before other columns get narrower than this.
const READABLE_WIDTH = 16
// Matches characters that take two columns of a terminal.
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u

/** Makes a table. Without rows it is empty. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Paragraph {
  return (page) => (rows.length === 0 ? '' : formatTable(rows, columns, page))
}

function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, style }: Page,
): string {
  const all = columns.map((given) => {
    const column = { ...given, title: cellText(given.title) }
    const values = rows.map((row) => column.value(row))
    const cells = values.map((value) => cellText(column.isExact && value !== null ? String(value) : value))
    const natural = Math.max(...[column.title, ...cells].map(columnsOf))
    return { ...column, cells, natural, isNumeric: values.some((value) => typeof value === 'number') }
  })
  const shown = leaveOut(all, width)
  const widths = fitWidths(shown, width)
  const line = (textOf: (column: (typeof shown)[number]) => string) =>
    shown
      .map((column, index) => fill(textOf(column), at(widths, index), column.isNumeric))
      .join(GAP)
      .trimEnd()
  const heading = style(
    'bold',
    line(({ title }) => title),
  )
  return [heading, ...rows.map((_, index) => line(({ cells }) => cells[index] ?? ''))].join('\n')
}

/** Cuts a text that is too long for its column, or pads a short text. */
function fill(text: string, width: number, isRight: boolean): string {
  const shown = columnsOf(text) > width ? cut(text, width) : text
  const spaces = ' '.repeat(Math.max(0, width - columnsOf(shown)))
  return isRight ? spaces + shown : shown + spaces
}

function cut(text: string, width: number): string {
  let shown = ''
  for (const { segment } of splitGraphemes(text)) {
    if (columnsOf(shown + segment) >= width) break
    shown += segment
  }
  return `${shown}…`
}

/** Returns how many terminal columns a text takes. */
function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  return [...splitGraphemes(text)].reduce((sum, { segment }) => sum + (WIDE.test(segment) ? 2 : 1), 0)
}

/** Lists names and values, one pair a line. Empty values are left out. */
export function fields(values: Readonly<Record<string, string | number | null | undefined>>): Paragraph {
  const given = Object.entries(values).filter(([, value]) => value != null && value !== '')
  const width = Math.max(...given.map(([name]) => name.length))
  return ({ style }) =>
    given
      .map(([name, value]) => `${style('dim', plainText(name).padEnd(width))}${GAP}${cellText(value)}`)
      .join('\n')
}

/** Formats a time in UTC: `2026-11-20 08:15Z`. Null stays null. */
export function formatInstant(instant: string | null): string | null {
  return instant && `${instant.slice(0, 10)} ${instant.slice(11, 16)}Z`
}

/** Formats a share from 0 to 1 as `45%`. */
export function formatShare(share: number | null): string | null {
  return share === null ? null : `${Math.round(share * 100)}%`
}

/** Formats an amount of money: `12,500 EUR`. If the amount is null, returns null. */
export function formatMoney(amount: number | null, currency: string | null): string | null {
  return amount === null ? null : `${formatNumber(amount)} ${currency ?? ''}`.trimEnd()
}

function cellText(value: string | number | null | undefined): string {
  if (value === null || value === undefined || value === '') return '-'
  return typeof value === 'number' ? formatNumber(value) : plainText(value.replaceAll('\n', ' '))
}

function formatNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 })
}

interface Measured {
  /** The width of the longest cell or the title, in terminal columns. */
  readonly natural: number
  readonly isWhole?: boolean
  readonly isOptional?: boolean
}

function leaveOut<T extends Measured>(columns: readonly T[], width: number): readonly T[] {
  const readable = columns.map(({ natural, isWhole }) =>
    isWhole ? natural : Math.min(natural, READABLE_WIDTH),
  )
  const last = columns.findLastIndex(({ isOptional }) => isOptional)
  return last < 0 || totalWidth(readable) <= width ? columns : leaveOut(columns.toSpliced(last, 1), width)
}

/** Narrows the widest column that may be cut, again and again until the table fits. */
function fitWidths(columns: readonly Measured[], width: number): readonly number[] {
  const fitted = columns.map(({ natural }) => natural)
  while (totalWidth(fitted) > width) {
    const cuttable = columns.flatMap(({ isWhole }, index) =>
      isWhole || at(fitted, index) <= LEAST_WIDTH ? [] : [index],
    )
    if (cuttable.length === 0) break
    const widest = cuttable.reduce((best, index) => (at(fitted, index) > at(fitted, best) ? index : best))
    fitted[widest] = at(fitted, widest) - 1
  }
  return fitted
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1))
}

function at(widths: readonly number[], index: number): number {
  return widths[index] ?? 0
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

/** Formats a time as local time with its UTC offset: `Mon 2026-11-23 07:00 +01:00`. */
export function localTime(at: Date, timeZone: string): string {
  const shownMs = wallMs(at.getTime(), timeZone)
  const minutes = Math.round(offsetMs(at.getTime(), timeZone) / MINUTE_MS)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return `${WEEKDAYS[new Date(shownMs).getUTCDay()]} ${formatClock(shownMs)} ${offset}`
}

/* Makes text from other sources safe to print on a terminal. */

/** Makes a text `printable`, and replaces tabs too. Line breaks stay. */
export function plainText(text: string): string {
  return printable(text.replaceAll('\t', ' '))
}

// Matches a code for colour or bold text, as this program adds it.
const STYLE = new RegExp(`(${'\u001b'}\\[\\d{1,2}m)`)

/** Makes a text `printable`, but keeps the colours that were added around it. */
export function styledText(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('')
}

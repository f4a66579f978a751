/**
 * Formats records for people: as a table without lines, numbers to the right, or as names and values. A row of a
 * table that is wider than the terminal is cut at its edge, as by `ps`; in a pipe it stays whole.
 */
import { printable } from '../../printable.ts'
import { splitGraphemes } from '../../report/words/clean-text.ts'
import { offsetMs, wallMs } from '../../schedule/zone.ts'
import { MINUTE_MS } from '../../time.ts'

export interface Column<Row> {
  readonly title: string
  /** Returns the cell's value. Null and undefined are shown as a dash. */
  readonly value: (row: Row) => string | number | null | undefined
  /** True if numbers are shown with all their digits. */
  readonly isExact?: boolean
}

export interface Page {
  /** The width of the terminal; Infinity to cut nothing. */
  readonly width: number
  readonly style: (format: 'bold' | 'dim' | 'red' | 'green' | 'yellow', text: string) => string
}

/** A paragraph of a result for people: its lines, or a function that lays them out. Empty ones are left out. */
export type Paragraph = string | ((page: Page) => string)

const GAP = '  '
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
  const all = columns.map((column) => {
    const values = rows.map((row) => column.value(row))
    const cells = [
      cellText(column.title),
      ...values.map((value) => cellText(column.isExact && value !== null ? String(value) : value)),
    ]
    const isNumeric = values.some((value) => typeof value === 'number')
    return { cells, isNumeric, width: Math.max(...cells.map(columnsOf)) }
  })
  const [heading = '', ...lines] = ['', ...rows].map((_, index) => {
    const filled = all.map(({ cells, isNumeric, width: wanted }) => {
      const text = cells[index] ?? ''
      const spaces = ' '.repeat(wanted - columnsOf(text))
      return isNumeric ? spaces + text : text + spaces
    })
    return cut(filled.join(GAP).trimEnd(), width)
  })
  return [style('bold', heading), ...lines].join('\n')
}

function cut(text: string, width: number): string {
  if (columnsOf(text) <= width) return text
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

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

/** Formats a time as local time with its UTC offset: `Mon 2026-11-23 07:00 +01:00`. */
export function localTime(at: Date, timeZone: string): string {
  const shown = new Date(wallMs(at.getTime(), timeZone))
  const minutes = Math.round(offsetMs(at.getTime(), timeZone) / MINUTE_MS)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return `${WEEKDAYS[shown.getUTCDay()]} ${shown.toISOString().slice(0, 16).replace('T', ' ')} ${offset}`
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

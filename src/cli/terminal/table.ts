/** Records as a table for people: no lines between, numbers to the right, cut to the width of the terminal. */
import Table from 'cli-table3'
import { tellClock } from '../../schedule/clock-change.ts'
import { offsetMs, wallMs } from '../../schedule/zone.ts'
import { plainText } from './plain-text.ts'

export interface Column<Row> {
  readonly title: string
  /** Null and undefined show as a dash. */
  readonly value: (row: Row) => string | number | null | undefined
  /** Numbers are shown with all their digits, as they are. */
  readonly isExact?: boolean
  /** Stays whole where the table is too wide: what a person would copy. */
  readonly isWhole?: boolean
  /** Left out, the last one first, where the table would become too narrow to read. */
  readonly isOptional?: boolean
}

export interface TableStyle {
  /** Columns of the terminal; Infinity where nothing needs cutting. */
  readonly width: number
  readonly heading: (title: string) => string
}

const GAP = '  '
const LEAST_WIDTH = 6
/** As much of a column that may be cut as should be seen before others are left out. */
const READABLE_WIDTH = 16
const NO_LINES = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: GAP },
}

/** Lines without the last line break. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { width, heading }: TableStyle,
): string {
  const all = columns.map((column) => {
    const values = rows.map((row) => column.value(row))
    const cells = values.map((value) => cellText(column.isExact && value !== null ? String(value) : value))
    const natural = Math.max(column.title.length, ...cells.map((cell) => cell.length))
    return { ...column, cells, natural, isNumeric: values.some((value) => typeof value === 'number') }
  })
  const shown = leaveOut(all, width)
  const table = new Table({
    head: shown.map(({ title }) => heading(title)),
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: shown.map(({ isNumeric }) => (isNumeric ? 'right' : 'left')),
    colWidths: fitWidths(shown, width),
  })
  table.push(...rows.map((_, index) => shown.map(({ cells }) => cells[index] ?? '')))
  return table.toString().replace(/ +$/gm, '')
}

/** Names and values below each other; what is null or absent is left out. */
export function formatFields(
  fields: Readonly<Record<string, string | number | null | undefined>>,
  name: (name: string) => string,
): string {
  const given = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const width = Math.max(...given.map(([title]) => title.length))
  return given.map(([title, value]) => `${name(title.padEnd(width))}${GAP}${cellText(value)}`).join('\n')
}

/** `2026-11-20 08:15Z` */
export function formatInstant(instant: string | null): string | null {
  return instant && `${instant.slice(0, 10)} ${instant.slice(11, 16)}Z`
}

/** `45%`, from 0 to 1. */
export function formatShare(share: number | null): string | null {
  return share === null ? null : `${Math.round(share * 100)}%`
}

/** `12,500 EUR` */
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
  /** Characters of the longest cell, the title included. */
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

/** Takes from the widest column that may be cut, as long as all do not fit; null leaves a column as it is. */
function fitWidths(columns: readonly Measured[], width: number): (number | null)[] {
  const fitted = columns.map(({ natural }) => natural)
  while (totalWidth(fitted) > width) {
    const cuttable = columns.flatMap(({ isWhole }, index) =>
      isWhole || at(fitted, index) <= LEAST_WIDTH ? [] : [index],
    )
    if (cuttable.length === 0) break
    const widest = cuttable.reduce((best, index) => (at(fitted, index) > at(fitted, best) ? index : best))
    fitted[widest] = at(fitted, widest) - 1
  }
  return columns.map(({ natural }, index) => (fitted[index] === natural ? null : at(fitted, index)))
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1))
}

function at(widths: readonly number[], index: number): number {
  return widths[index] ?? 0
}

/* Times as the clock of a zone shows them. */

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const
const MINUTE_MS = 60_000

/** `Mon 2026-11-23 07:00 +01:00` */
export function localTime(at: Date, timeZone: string): string {
  const shownMs = wallMs(at.getTime(), timeZone)
  const minutes = Math.round(offsetMs(at.getTime(), timeZone) / MINUTE_MS)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return `${WEEKDAYS[new Date(shownMs).getUTCDay()]} ${tellClock(shownMs)} ${offset}`
}

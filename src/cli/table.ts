/** Records as a table for people: no lines between, numbers to the right, cut to the width of the terminal. */
import Table from 'cli-table3'

export interface Column<Row> {
  readonly title: string
  /** Null and undefined show as a dash. */
  readonly value: (row: Row) => string | number | null | undefined
  /** Stays whole where the table is too wide: what a person would copy. */
  readonly isWhole?: boolean
}

export interface TableStyle {
  /** Columns of the terminal; Infinity where nothing needs cutting. */
  readonly width: number
  readonly heading: (title: string) => string
}

const GAP = '  '
const LEAST_WIDTH = 6
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
  const values = rows.map((row) => columns.map((column) => column.value(row)))
  const cells = values.map((row) => row.map(cellText))
  const table = new Table({
    head: columns.map((column) => heading(column.title)),
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map((_, index) =>
      values.some((row) => typeof row[index] === 'number') ? 'right' : 'left',
    ),
    colWidths: fitWidths(columns, cells, width),
  })
  table.push(...cells)
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

/** Text from the service, made harmless for a terminal: control characters could move its cursor or worse. */
export function plainText(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}

function cellText(value: string | number | null | undefined): string {
  if (value === null || value === undefined || value === '') return '-'
  return typeof value === 'number' ? formatNumber(value) : plainText(value)
}

function formatNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 })
}

/** Takes from the widest column that may be cut, as long as all do not fit; null leaves a column as it is. */
function fitWidths<Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  width: number,
): (number | null)[] {
  const natural = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  )
  const fitted = [...natural]
  const isTooWide = () => fitted.reduce((sum, each) => sum + each, GAP.length * (columns.length - 1)) > width
  while (isTooWide()) {
    const widest = fitted.reduce<number | null>((best, each, index) => {
      if (columns[index]?.isWhole || each <= LEAST_WIDTH) return best
      return best === null || each > (fitted[best] ?? 0) ? index : best
    }, null)
    if (widest === null) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted.map((each, index) => (each === natural[index] ? null : each))
}

/** The queries block shows each query's result, or a box if it failed. What does not fit is below the row. */

import type { ReportFigures } from '../../../domain/figures.ts'
import type { QueryTable } from '../../../domain/lists.ts'
import { widthOf } from '../../charts/svg.ts'
import type { BlockContext } from '../../context.ts'
import { composeFailed } from '../../failed-blocks.ts'
import { capitalise, oneLine, oneLineOrNull, widthInText } from '../../words/clean-text.ts'
import type { LocaleContext } from '../../words/locale-context.ts'
import { type ListColumn, type ListTable, listTable } from '../lists.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/
const ROWS = 15
const COLUMNS = 4
// The width of all columns together on the smallest phone, in pixels.
const ROOM_PX = 288
// The gap beside each column, in pixels.
const GAP_PX = 10
// The maximum width of a word in the first column, in pixels. A longer word is split.
const FIRST_WORD_PX = 150
// The maximum width of a word in the other columns, in pixels.
const WORD_PX = 118
const FONT_PX = 14
const TITLE_LENGTH = 80
const NOTE_LENGTH = 200
const CELL_LENGTH = 60
const WIDTH_LEAST = 6
// The maximum width of a text column, in characters. Up to this limit, the column is as wide as its content.
// Longer text wraps.
const WIDTH_MOST = 12
const FIRST_WIDTH_MOST = 18
// Columns of numbers are wider than their content by this factor, because numbers cannot wrap.
const NUMBER_ROOM = 1.3
const TEXT_COLUMNS = 72

export function composeQueries(
  { queries, failed }: Pick<ReportFigures, 'queries' | 'failed'>,
  locale: LocaleContext,
  { attached }: Pick<BlockContext, 'attached'>,
) {
  return queries.map((query) => {
    const missing = failed.find((each) => each.query === query.name)
    return missing === undefined
      ? composeQuery(query, locale, attached.get(query.name))
      : composeFailed(missing, { queries }, locale)
  })
}

/** `file` is the name of the attached file that has all rows. */
function composeQuery(query: QueryTable, locale: LocaleContext, file: string | undefined) {
  const { words } = locale
  const columns = query.columns.map((name, index) => {
    const cells = query.rows.map((row) => row[index] ?? null)
    // The first column names the row, so it is text even if it holds numbers.
    const isNumber =
      index > 0 && cells.some(Number.isFinite) && cells.every((cell) => typeof cell !== 'string')
    const write = writerOf(cells, locale)
    const shown = cells.slice(0, ROWS).map((cell) => cellText(cell, write, locale))
    return { label: capitalise(name), isNumber, shown }
  })
  const fitting = countFittingColumns(columns)
  const rows = query.rows
    .slice(0, ROWS)
    .map((_, index) => columns.map(({ shown, ...column }) => ({ ...column, text: shown[index] ?? '' })))
  return {
    kind: 'queries' as const,
    title: oneLine(query.title, TITLE_LENGTH),
    note: oneLineOrNull(query.note, NOTE_LENGTH) ?? '',
    empty: rows.length === 0 ? words('queries.empty') : '',
    columns: withWidths(columns.slice(0, fitting)),
    columnCount: String(fitting),
    rows: rows.map(([first, ...others]) => ({
      first: first?.text ?? '',
      rest: others
        .slice(fitting - 1)
        .map(labelled)
        .join(' · '),
      cells: others.slice(0, fitting - 1).map(({ text, isNumber }) => ({ text, isNumber })),
    })),
    lines: linesOf(columns, rows),
    more: moreOf(query, rows.length, file, locale),
  }
}

/**
 * Says only how many rows are shown if the query found more than were read, as the others were not counted.
 */
function moreOf(
  { rows, isCut }: QueryTable,
  shown: number,
  file: string | undefined,
  { words }: LocaleContext,
): string {
  const left = rows.length - shown
  const cut = isCut || (left > 0 && file === undefined) ? [words('queries.cut', { shown })] : []
  const inFile = left > 0 && file !== undefined ? [words('truncation.inFile', { n: left, file })] : []
  return [...cut, ...inFile].join(' · ')
}

type QueryCell = QueryTable['rows'][number][number]

/** Returns a function that writes all numbers of a column with the same number of decimals. */
function writerOf(cells: readonly QueryCell[], { numbers }: LocaleContext): (value: number) => string {
  const values = cells.filter((cell) => typeof cell === 'number')
  if (values.every(Number.isInteger)) return numbers.count
  const digits = values.some((value) => Math.abs(value) >= 10) ? 1 : 2
  return (value) => numbers.fixed(value, digits)
}

function cellText(
  cell: QueryCell,
  write: (value: number) => string,
  { words, dates }: LocaleContext,
): string {
  if (cell === null) return words('none')
  if (typeof cell === 'number') return write(cell)
  if (isInstant(cell)) return dates.instant(cell)
  return oneLineOrNull(cell, CELL_LENGTH) ?? words('none')
}

/** Returns whether a text is a valid instant. A text such as `2026-13-40T00:00:00Z` only looks like one. */
function isInstant(text: string): boolean {
  if (!INSTANT.test(text)) return false
  const at = new Date(text)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text.slice(0, 19))
}

interface ShownColumn {
  readonly label: string
  readonly isNumber: boolean
  readonly shown: readonly string[]
}

/** Counts by the smallest phone, on which no number or ordinary word must be split. */
function countFittingColumns(columns: readonly ShownColumn[]): number {
  let left = ROOM_PX
  const fitting = columns.slice(0, COLUMNS).findIndex(({ label, isNumber, shown }, index) => {
    const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => widthOf(text, FONT_PX)))
    const words = [label, ...(isNumber ? [] : shown)].flatMap((text) => text.split(' '))
    const word = Math.min(index === 0 ? FIRST_WORD_PX : WORD_PX, widest(words))
    left -= GAP_PX + Math.max(word, isNumber ? widest(shown) : 0)
    return left < 0
  })
  return Math.max(fitting < 0 ? Math.min(columns.length, COLUMNS) : fitting, Math.min(columns.length, 1))
}

function withWidths(columns: readonly ShownColumn[]) {
  const room = columns.map(({ label, isNumber, shown }, index) => {
    if (isNumber)
      return Math.max(WIDTH_LEAST, longestOf(shown) * NUMBER_ROOM, longestOf(label.split(' ')) + 1)
    const most = index === 0 ? FIRST_WIDTH_MOST : WIDTH_MOST
    return Math.min(most, Math.max(WIDTH_LEAST, longestOf([label, ...shown])))
  })
  const all = room.reduce((sum, each) => sum + each, 0)
  return columns.map(({ label, isNumber }, index) => {
    return { label, isNumber, width: String(Math.round(((room[index] ?? 0) / all) * 100)) }
  })
}

function longestOf(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(widthInText))
}

type ShownCell = { readonly label: string; readonly isNumber: boolean; readonly text: string }

function labelled({ label, text }: ShownCell): string {
  return `${label} ${text}`
}

/** If the table does not fit, each row gets a line for the first column and a line for the others. */
function linesOf(columns: readonly ShownColumn[], rows: readonly (readonly ShownCell[])[]): string[] {
  if (rows.length === 0) return []
  const widths = columns.map(({ label, shown }) => longestOf([label, ...shown]))
  const gap = '  '
  const line = (texts: readonly { readonly text: string; readonly isNumber: boolean }[]) =>
    texts
      .map(({ text, isNumber }, index) => {
        const room = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthInText(text)))
        return isNumber ? room + text : text + room
      })
      .join(gap)
  if (widths.reduce((sum, width) => sum + width + gap.length, -gap.length) <= TEXT_COLUMNS) {
    return [line(columns.map(({ label, isNumber }) => ({ text: label, isNumber }))), ...rows.map(line)]
  }
  return rows.flatMap(([first, ...others]) => [
    `- ${first?.text ?? ''}`,
    ...(others.length === 0 ? [] : [`  ${others.map(labelled).join(' · ')}`]),
  ])
}

export function listQuery({ title, columns, rows, isCut }: QueryTable, locale: LocaleContext): ListTable {
  const more = isCut ? locale.words('queries.cut', { shown: rows.length }) : ''
  const holdsInstants = (index: number) => {
    const cells = rows.map((row) => row[index] ?? null).filter((cell) => cell !== null)
    return cells.length > 0 && cells.every((cell) => typeof cell === 'string' && isInstant(cell))
  }
  const read = columns.map((name, index): ListColumn<QueryTable['rows'][number]> => {
    return { name, isInstant: holdsInstants(index), cell: (row) => row[index] ?? null }
  })
  return listTable(title, read, rows, more, locale)
}

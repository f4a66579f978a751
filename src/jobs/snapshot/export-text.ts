/**
 * CSV as in RFC 4180, in UTF-8, with a line feed at the end of each line. Nothing between two commas is null,
 * `""` is an empty text.
 */
import type { Cell, Row } from '../../store/queries/snapshot-table.ts'

export function* encodeCsv(
  columns: readonly { readonly name: string }[],
  chunks: Iterable<readonly Row[]>,
): Generator<string> {
  yield csvLine(columns.map(({ name }) => name))
  for (const rows of chunks) yield rows.map(csvLine).join('')
}

function csvLine(row: Row): string {
  return `${row.map(csvCell).join(',')}\n`
}

function csvCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell)
  const text = harmlessText(cell)
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/* One JSON object a line; whole numbers keep every digit, texts that hold JSON stay texts. */

export function* encodeNdjson(
  columns: readonly { readonly name: string }[],
  chunks: Iterable<readonly Row[]>,
): Generator<string> {
  const names = columns.map(({ name }) => JSON.stringify(name))
  for (const rows of chunks) yield rows.map((row) => `${jsonObject(names, row)}\n`).join('')
}

/** @param names as JSON */
export function jsonObject(names: readonly string[], row: Row): string {
  return `{${row.map((cell, index) => `${names[index]}:${jsonCell(cell)}`).join(',')}}`
}

function jsonCell(cell: Cell): string {
  return typeof cell === 'bigint' ? String(cell) : JSON.stringify(cell)
}

/* Text on its way into a spreadsheet, which takes some beginnings for a formula and would run it. */

/** The full-width forms too: some spreadsheets read them as the plain ones. */
const FORMULA_START = /^[=+\-@\t\r\n\0＝＋－＠]/

/** With an apostrophe before what could be taken for a formula. For text alone: a number may begin with a minus. */
export function harmlessText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text
}

/**
 * Encodes rows as CSV (RFC 4180) or as newline-delimited JSON. CSV is in UTF-8 with line feeds. An empty
 * field means null, and `""` means an empty text.
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

export function* encodeNdjson(
  columns: readonly { readonly name: string }[],
  chunks: Iterable<readonly Row[]>,
): Generator<string> {
  const names = columns.map(({ name }) => JSON.stringify(name))
  for (const rows of chunks) yield rows.map((row) => `${jsonObject(names, row)}\n`).join('')
}

/**
 * Encodes one row as a JSON object. Integers keep all digits, and a text that contains JSON stays a text.
 * @param names the names of the columns, already encoded as JSON
 */
export function jsonObject(names: readonly string[], row: Row): string {
  return `{${row.map((cell, index) => `${names[index]}:${jsonCell(cell)}`).join(',')}}`
}

function jsonCell(cell: Cell): string {
  return typeof cell === 'bigint' ? String(cell) : JSON.stringify(cell)
}

/**
 * Matches a text that a spreadsheet might run as a formula. Some spreadsheets treat full-width characters
 * like the plain characters.
 */
const FORMULA_START = /^[=+\-@\t\r\n\0＝＋－＠]/

/**
 * Puts an apostrophe before a text that might run as a formula. It must be used only for texts, because a
 * number may begin with a minus.
 */
export function harmlessText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text
}

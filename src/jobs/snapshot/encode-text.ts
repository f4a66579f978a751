/**
 * Encodes rows as CSV (RFC 4180) or as newline-delimited JSON. CSV is in UTF-8 with line feeds. An empty
 * field means null, and `""` means an empty text. Spreadsheets of a locale with a decimal comma expect
 * semicolons between the fields, so such a locale gets both.
 */
import { printable } from '../../printable.ts'
import type { Cell, Row } from '../../store/queries/snapshot-table.ts'

/** @param locale the locale (BCP 47) of the reader */
export function* encodeCsv(
  columns: readonly { readonly name: string }[],
  chunks: Iterable<readonly Row[]>,
  locale: string,
): Generator<string> {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5)
  const line = parts.some(({ type, value }) => type === 'decimal' && value === ',')
    ? (row: Row) => `${row.map((cell) => csvCell(cell, ',', OTHER_THAN_SEMICOLON)).join(';')}\n`
    : (row: Row) => `${row.map((cell) => csvCell(cell, '.', OTHER_THAN_COMMA)).join(',')}\n`
  yield line(columns.map(({ name }) => printable(name)))
  for (const rows of chunks) yield rows.map(line).join('')
}

function csvCell(cell: Cell, decimal: string, split: RegExp): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell).replace('.', decimal)
  const text = harmlessText(cell).replace(split, "$&'")
  return text === '' || /[";,\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
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
 * Match the separator before a formula inside a text, for spreadsheets that split a file at another separator
 * than its own. Quotes do not help there, because such a spreadsheet finds them in the middle of a field.
 */
const OTHER_THAN_COMMA = /[;\t\r\n][ "]*(?=[=+\-@＝＋－＠])/g
const OTHER_THAN_SEMICOLON = /[,\t\r\n][ "]*(?=[=+\-@＝＋－＠])/g

/**
 * Puts an apostrophe before a text that might run as a formula. It must be used only for texts, because a
 * number may begin with a minus.
 */
export function harmlessText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text
}

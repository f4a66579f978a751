/**
 * Encodes rows as CSV (RFC 4180) with line feeds. An empty field means null, and `""` means an empty text. The decimal sign and the separator between the fields are
 * those that the spreadsheets of a locale expect.
 */
import { printable } from '../../printable.ts'
import type { Cell, Row } from '../../store/queries/select.ts'

const SEMICOLON_REGIONS: readonly string[] = ['CH', 'LI']

/** @param locale the locale (BCP 47) of the reader */
export function encodeCsv(
  columns: readonly { readonly name: string }[],
  rows: readonly Row[],
  locale: string,
): string {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5)
  const decimal = parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.'
  const isSemicolon = decimal === ',' || SEMICOLON_REGIONS.includes(new Intl.Locale(locale).region ?? '')
  const [separator, split] = isSemicolon ? [';', OTHER_THAN_SEMICOLON] : [',', OTHER_THAN_COMMA]
  const line = (row: Row) => `${row.map((cell) => csvCell(cell, decimal, split)).join(separator)}\n`
  return [columns.map(({ name }) => printable(name)), ...rows].map(line).join('')
}

function csvCell(cell: Cell, decimal: string, split: RegExp): string {
  if (typeof cell !== 'string') return cell === null ? '' : String(cell).replace('.', decimal)
  const text = harmlessText(cell).replace(split, "$&'")
  return text === '' || /[";,\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Matches a text that a spreadsheet might run as a formula; some treat full-width characters the same. */
const FORMULA_START = /^[=+\-@\t\r\n\0＝＋－＠]/

/** Match the separator before a formula inside a text, where spreadsheets split at other separators. */
const OTHER_THAN_COMMA = /[;\t\r\n][ "]*(?=[=+\-@＝＋－＠])/g
const OTHER_THAN_SEMICOLON = /[,\t\r\n][ "]*(?=[=+\-@＝＋－＠])/g

/**
 * Puts an apostrophe before a text that might run as a formula. Not for numbers, which may begin with a
 * minus.
 */
export function harmlessText(text: string): string {
  return FORMULA_START.test(text) ? `'${text}` : text
}

/**
 * CSV as in RFC 4180, in UTF-8, with a line feed at the end of each line. Nothing between two commas is null,
 * `""` is an empty text.
 */
import type { Cell, Row } from '../../store/queries/snapshot-table.ts'
import { harmlessText } from './spreadsheet-text.ts'

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

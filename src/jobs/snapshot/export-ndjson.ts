/** One JSON object a line; whole numbers keep every digit, texts that hold JSON stay texts. */
import type { Cell, Row } from '../../store/queries/snapshot-table.ts'

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

/** CSV as RFC 4180 has it: commas, and quotes around what holds a comma, a quote or a line break. */

export interface CsvRow {
  /** Where it begins, from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y

/** Rows without the empty ones; or the line of a quote that stands alone. */
export function parseCsv(text: string): { rows: CsvRow[] } | { brokenLine: number } {
  const rows: CsvRow[] = []
  let line = 1
  let cells: string[] = []
  let begin = line
  const pattern = new RegExp(CELL)
  // A byte order mark is no part of the first heading.
  for (pattern.lastIndex = text.startsWith('\uFEFF') ? 1 : 0; pattern.lastIndex < text.length; ) {
    const found = pattern.exec(text)
    if (found === null) return { brokenLine: line }
    const [whole, quoted, plain = '', end] = found
    cells.push((quoted?.replaceAll('""', '"') ?? plain).trim())
    line += whole.match(/\r\n|\n|\r/g)?.length ?? 0
    if (end === ',' && pattern.lastIndex < text.length) continue
    if (end === ',') cells.push('')
    if (cells.some((cell) => cell !== '')) rows.push({ line: begin, cells })
    cells = []
    begin = line
  }
  return { rows }
}

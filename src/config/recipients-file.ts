/**
 * Reads recipients from a CSV file with one recipient in each row. The columns are the settings of a
 * recipient and of its filter. A list is written `a;b`, a range of numbers `60..90`. The values are checked
 * later.
 */
import { readFileSync } from 'node:fs'
import { FILTER_COLUMNS } from '../domain/choices.ts'
import { mistakeLine } from './errors.ts'
import type { SettingPath, SettingTree } from './setting-path.ts'
import { nearest, setValueAt } from './setting-path.ts'
import { readFault } from './settings-file.ts'

interface RecipientsFile {
  readonly recipients: readonly SettingTree[]
  /** The place of each setting of each recipient: the line (`recipients.csv:3`) and the column (`locale`). */
  readonly places: readonly { readonly path: SettingPath; readonly place: string; readonly name: string }[]
}

type CellKind = 'text' | 'list' | 'number'

const COLUMNS: Readonly<Record<string, { path: SettingPath; kind: CellKind }>> = {
  address: { path: ['address'], kind: 'text' },
  name: { path: ['name'], kind: 'text' },
  locale: { path: ['locale'], kind: 'text' },
  time_zone: { path: ['time_zone'], kind: 'text' },
  blocks: { path: ['blocks'], kind: 'list' },
  attachments: { path: ['attachments'], kind: 'list' },
  pipelines: { path: ['filter', 'pipelines'], kind: 'list' },
  ...Object.fromEntries(
    Object.entries(FILTER_COLUMNS).map(([column, kind]) => [
      column,
      { path: ['filter', column], kind: kind === 'number' ? 'number' : 'list' },
    ]),
  ),
}

/**
 * Reads the file. Mistakes do not throw.
 * @param origin the name of the file as `problems` shows it
 * @param problems receives one line for each mistake in the format of the file
 */
export function readRecipientsFile(path: string, origin: string, problems: string[]): RecipientsFile {
  const [heading, ...rows] = readRows(path, origin, problems)
  if (heading === undefined) return { recipients: [], places: [] }
  const at = (row: CsvRow): string => `${origin}:${row.line}`
  for (const problem of headingProblems(heading.cells)) problems.push(`${at(heading)}  ${problem}`)
  if (!heading.cells.includes('address')) return { recipients: [], places: [] }
  const recipients: SettingTree[] = []
  const places: RecipientsFile['places'][number][] = []
  for (const row of rows) {
    if (row.cells.length > heading.cells.length)
      problems.push(`${at(row)}  ${row.cells.length} cells below ${heading.cells.length} headings`)
    const recipient: SettingTree = {}
    for (const [index, name] of heading.cells.entries()) {
      const column = COLUMNS[name]
      const cell = row.cells[index] ?? ''
      if (column === undefined) continue
      places.push({ path: [recipients.length, ...column.path], place: at(row), name })
      const setting = settingOf(cell, column.kind)
      if (setting === null) {
        const found = `found ${JSON.stringify(cell)}, expected bounds such as 60.., ..90 or 60..90`
        problems.push(mistakeLine({ place: at(row), name }, found))
      } else if (cell !== '') setValueAt(recipient, column.path, setting)
    }
    recipients.push(recipient)
  }
  return { recipients, places }
}

function readRows(path: string, origin: string, problems: string[]): readonly CsvRow[] {
  const wrong = (problem: string): readonly CsvRow[] => {
    problems.push(mistakeLine({ place: origin, name: 'recipients_file' }, problem))
    return []
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    return wrong(error instanceof TypeError ? 'it is not UTF-8' : `cannot be read: ${readFault(error)}`)
  }
  const parsed = parseCsv(text)
  if ('brokenLine' in parsed) return wrong(`line ${parsed.brokenLine} has a quote that stands alone`)
  return parsed.rows.length > 0 ? parsed.rows : wrong(`it has no headings: ${Object.keys(COLUMNS).join(',')}`)
}

function headingProblems(names: readonly string[]): string[] {
  // Spreadsheets separate the cells by semicolons in countries where the comma is the decimal sign.
  if (names.length === 1 && names[0]?.includes(';'))
    return ['the cells stand apart by semicolons, expected commas']
  const known = Object.keys(COLUMNS)
  const unknown = names.filter((name) => COLUMNS[name] === undefined)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  return [
    ...unknown.map((name) => {
      const meant = nearest(name, known)
      return `${name}: no such column; ${meant === null ? `known: ${known.join(', ')}` : `did you mean ${meant}?`}`
    }),
    ...twice.map((name) => `${name}: two columns of that name`),
    ...(names.includes('address') ? [] : ['address: there is no such column']),
  ]
}

/**
 * Converts a cell to the value of a setting; null if a range of numbers cannot be read. Other mistakes are
 * found later by the schema.
 */
function settingOf(cell: string, kind: CellKind): unknown {
  if (kind === 'text' || cell === '') return cell
  if (kind === 'list') {
    return cell
      .split(';')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }
  const [, min = '', max = ''] = /^(-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?$/.exec(cell) ?? []
  if (min === '' && max === '') return null
  return { ...(min !== '' && { min: Number(min) }), ...(max !== '' && { max: Number(max) }) }
}

interface CsvRow {
  /** The line on which the row begins, from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y

/** Returns all rows except empty ones, or the line with an unmatched quote. */
function parseCsv(text: string): { rows: CsvRow[] } | { brokenLine: number } {
  const rows: CsvRow[] = []
  let line = 1
  let cells: string[] = []
  let begin = line
  const pattern = new RegExp(CELL)
  // A byte order mark is skipped, because it would become a part of the first heading.
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

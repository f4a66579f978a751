import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type Column, fields, type Page, type Paragraph, table } from '../../../src/cli/terminal/table.ts'
import { openBar, openLoggedProgress, progressLine } from '../../../src/cli/terminal/terminal.ts'
import { openLog } from '../../../src/log.ts'

interface Row {
  readonly id: string
  readonly name: string | null
  readonly score: number | null
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', value: (row) => row.id },
  { title: 'NAME', value: (row) => row.name },
  { title: 'SCORE', value: (row) => row.score },
]
const ROWS: readonly Row[] = [
  { id: 'lead-0001', name: 'Alphabetical Industries', score: 7 },
  { id: 'lead-0002', name: null, score: 12500 },
]
const plain: Page = { width: Number.POSITIVE_INFINITY, style: (_, text) => text }

function linesOf(paragraph: Paragraph, width = plain.width): string[] {
  return (typeof paragraph === 'string' ? paragraph : paragraph({ ...plain, width })).split('\n')
}

describe('a table', () => {
  test('has numbers to the right, dashes for what is missing, and no lines', () => {
    expect(linesOf(table(ROWS, COLUMNS))).toEqual([
      'ID         NAME                      SCORE',
      'lead-0001  Alphabetical Industries       7',
      'lead-0002  -                        12,500',
    ])
  })

  test('is cut at the edge of the terminal', () => {
    expect(linesOf(table(ROWS, COLUMNS), 20)).toEqual([
      'ID         NAME    …',
      'lead-0001  Alphabet…',
      'lead-0002  -       …',
    ])
  })
})

test('fields stand below each other, without those that are missing', () => {
  const values = { Lead: 'a', Company: 'Alpha', Score: null, Employees: 1200 }
  expect(linesOf(fields(values))).toEqual(['Lead       a', 'Company    Alpha', 'Employees  1,200'])
})

describe('a line of progress', () => {
  test('shows the share and the counts', () => {
    expect(progressLine('Leads', 4500, 10_000, '12 pages')).toBe(
      'Leads  ███████████░░░░░░░░░░░░░   45%  4,500 of 10,000  12 pages',
    )
  })

  test('shows what is known where the total is not', () => {
    expect(progressLine('Leads', 4500, null)).toBe('Leads  4,500')
  })

  test('never goes past the whole, though more came than was said', () => {
    expect(progressLine('Leads', 11, 10)).toContain('100%  11 of 10')
  })
})

test('off a terminal a line is logged every five seconds', async () => {
  const lines: string[] = []
  const log = await openLog({
    level: 'info',
    pretty: false,
    color: false,
    secrets: [],
    write: (line) => lines.push(line),
  })
  let ms = 0
  using progress = openLoggedProgress('Leads', log, () => ms)
  for (ms = 0; ms <= 12_000; ms += 1000) progress.update(ms / 1000, 12, 'a page')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'Leads: a page', done: 5, total: 12 },
    { msg: 'Leads: a page', done: 10, total: 12 },
  ])
})

test('a bar is written to its stream', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
  let ms = 0
  {
    using bar = openBar('Leads', stream, () => ms)
    bar.update(0, 10)
    ms = 1000
    bar.update(5, 10)
  }
  expect(String(stream.read())).toContain('50%  5 of 10')
})

import { describe, expect, test } from 'vitest'
import { type Column, fields, type Page, type Paragraph, table } from '../../../src/cli/terminal/table.ts'

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

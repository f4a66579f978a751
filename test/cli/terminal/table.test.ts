import { describe, expect, test } from 'vitest'
import { type Column, formatFields, formatTable } from '../../../src/cli/terminal/table.ts'

interface Row {
  readonly id: string
  readonly name: string | null
  readonly score: number | null
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', value: (row) => row.id, isWhole: true },
  { title: 'NAME', value: (row) => row.name },
  { title: 'SCORE', value: (row) => row.score },
]
const ROWS: readonly Row[] = [
  { id: 'lead-0001', name: 'Alphabetical Industries', score: 7 },
  { id: 'lead-0002', name: null, score: 12500 },
]
const plain = { width: Number.POSITIVE_INFINITY, heading: (title: string) => title }

describe('a table', () => {
  test('has numbers to the right, dashes for what is missing, and no lines', () => {
    expect(formatTable(COLUMNS, ROWS, plain).split('\n')).toEqual([
      'ID         NAME                      SCORE',
      'lead-0001  Alphabetical Industries       7',
      'lead-0002  -                        12,500',
    ])
  })

  test('is cut to the terminal in its widest column, but never where it must stay whole', () => {
    expect(formatTable(COLUMNS, ROWS, { ...plain, width: 32 }).split('\n')).toEqual([
      'ID         NAME            SCORE',
      'lead-0001  Alphabetical…       7',
      'lead-0002  -              12,500',
    ])
  })

  test('is as narrow as can be where nothing fits', () => {
    const lines = formatTable(COLUMNS, ROWS, { ...plain, width: 5 }).split('\n')
    expect(lines[1]).toBe('lead-0001  Alpha…       7')
  })

  test('leaves out optional columns from the last where it would be too narrow', () => {
    const columns: Column<Row>[] = [
      ...COLUMNS,
      { title: 'SHORT', value: () => 'x', isOptional: true },
      { title: 'LONG', value: () => 'x'.repeat(30), isOptional: true },
    ]
    const headings = (width: number) =>
      formatTable(columns, ROWS, { ...plain, width })
        .split('\n')[0]
        ?.split(/ +/)
    expect(headings(80)).toEqual(['ID', 'NAME', 'SCORE', 'SHORT', 'LONG'])
    expect(headings(50)).toEqual(['ID', 'NAME', 'SCORE', 'SHORT'])
    expect(headings(20)).toEqual(['ID', 'NAME', 'SCORE'])
  })

  test('shows control characters of the service as spaces', () => {
    const rows = [{ id: 'a', name: 'Evil\u001b[2J\r\nCorp', score: 1 }]
    expect(formatTable(COLUMNS, rows, plain).split('\n')[1]).toBe('a   Evil [2J  Corp      1')
  })
})

test('fields stand below each other, without those that are missing', () => {
  const fields = { Lead: 'a', Company: 'Alpha', Score: null, Employees: 1200 }
  expect(formatFields(fields, (name) => name).split('\n')).toEqual([
    'Lead       a',
    'Company    Alpha',
    'Employees  1,200',
  ])
})

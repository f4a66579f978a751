/**
 * Every fault that leadsheet promises to handle has a test. faults.json lists the faults, and the titles of
 * their tests end in `(row 8)` and so on.
 */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const rowSchema = z.strictObject({
  row: z.int().min(1),
  area: z.enum(['upstream', 'paging', 'storage', 'time', 'mail', 'reports', 'security']),
  fault: z.string().min(1),
  required: z.string().min(1),
  /** A file with a test whose title ends with the row. */
  test: z.string(),
})
const rows = z.array(rowSchema).parse(JSON.parse(readFileSync('test/faults.json', 'utf8')))

/** Returns the rows that the titles in a file end with. */
function rowsIn(file: string): number[] {
  const ends = readFileSync(file, 'utf8').matchAll(/\(row (\d+)\)['"`]/g)
  return [...ends].map(([, row]) => Number(row))
}

describe('the list of faults', () => {
  it('has each row once, in order', () => {
    const numbers = rows.map(({ row }) => row)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  })

  it.each(rows)('has a test for row $row: $fault', ({ row, test }) => {
    expect(rowsIn(test)).toContain(row)
  })

  it('has a row for each that a title names', () => {
    const known = rows.map(({ row }) => row)
    const named = globSync('test/**/*.test.ts').flatMap(rowsIn)
    expect([...new Set(named)].filter((row) => !known.includes(row))).toEqual([])
  })
})

/** Every fault that leadsheet promises to handle has a test. faults.json lists the faults and their files. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const rowSchema = z.strictObject({
  row: z.int().min(1),
  area: z.enum(['upstream', 'paging', 'storage', 'time', 'mail', 'reports', 'security']),
  fault: z.string().min(1),
  required: z.string().min(1),
  /** The file of its test. */
  test: z.string().endsWith('.test.ts'),
})
const rows = z.array(rowSchema).parse(JSON.parse(readFileSync('test/faults.json', 'utf8')))

describe('the list of faults', () => {
  it('has each row once, in order', () => {
    const numbers = rows.map(({ row }) => row)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  })

  it('names files that there are', () => {
    expect(rows.map(({ test }) => test).filter((test) => !existsSync(test))).toEqual([])
  })
})

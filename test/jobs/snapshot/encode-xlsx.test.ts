import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, test, vi } from 'vitest'
import { encodeXlsx } from '../../../src/jobs/snapshot/encode-xlsx.ts'
import { folderWith } from '../../support/folder.ts'

const TABLE = {
  title: 'odd',
  columns: ['id', 'company', 'score', 'seen_at'].map((name) => ({ name, isInstant: name === 'seen_at' })),
  rows: [
    ['1', '=1+1', 90, '2026-11-21 06:00:00'],
    ['2', 'a, "b"\nc', -0.5, null],
    ['3', '<&>"\b_x0041_\ré😀', null, null],
  ],
}

describe('an Excel file', () => {
  test('has real numbers and dates, no formula, and keeps signs that XML knows nothing of', async () => {
    const file = join(folderWith(), 'odd.xlsx')
    writeFileSync(file, await encodeXlsx(TABLE))
    expect(await readSheet(file)).toEqual([
      ['id', 'company', 'score', 'seen_at'],
      ['1', "'=1+1", 90, new Date('2026-11-21T06:00:00Z')],
      ['2', 'a, "b"\nc', -0.5, null],
      ['3', '<&>"\b_x0041_\ré😀', null, null],
    ])
  })

  test('is the same file whenever it is made', async () => {
    const made: Buffer[] = []
    for (const now of ['2026-11-21T06:00:00Z', '2027-01-04T18:30:00Z']) {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) })
      made.push(await encodeXlsx(TABLE).finally(() => vi.useRealTimers()))
    }
    expect(made[1]).toEqual(made[0])
  })
})

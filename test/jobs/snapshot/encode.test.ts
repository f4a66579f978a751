import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, test, vi } from 'vitest'
import { encodeCsv } from '../../../src/jobs/snapshot/encode-text.ts'
import { encodeXlsx } from '../../../src/jobs/snapshot/encode-xlsx.ts'
import type { Row } from '../../../src/store/queries/select.ts'
import { folderWith } from '../../support/folder.ts'

const COLUMNS = ['id', 'company', 'score', 'share', 'big', 'mixed', 'seen_at']
const ODD: readonly Row[] = [
  ['1', '=1+1', 90, -0.5, 9007199254740993n, 1, '2026-11-21T06:00:00.000Z'],
  ['2', 'a, "b"\nc', -5, 0.25, -1n, 'x', null],
  ['3', '', null, null, null, null, null],
  ['4', null, 7, 1, 0n, -2.5, '2026-11-21T06:00:01.500Z'],
]

function csvOf(names: readonly string[], rows: readonly Row[], locale = 'en-GB') {
  const columns = names.map((name) => ({ name }))
  const text = encodeCsv(columns, rows, locale)
  const file = join(folderWith(), 'rows.csv')
  writeFileSync(file, text)
  return { file, text }
}

async function askDuckDb(sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  return (await connection.runAndReadAll(sql)).getRowObjectsJson()
}

describe('CSV', () => {
  test('quotes what needs it, and tells null from an empty text', async () => {
    await expect(csvOf(COLUMNS, ODD).text).toMatchFileSnapshot('golden/odd.csv')
  })

  test('makes no formula of a text, whatever sign it begins with', () => {
    const signs = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']
    const texts = signs.map((sign) => csvOf(['a'], [[`${sign}cmd`]]).text)
    expect(texts.map((text) => text.slice(2).replace(/^"|"?\n$/g, ''))).toEqual(
      signs.map((sign) => `'${sign}cmd`),
    )
  })

  test.each(['en-GB', 'de-DE'])(
    'makes no formula of a part of a text, wherever a spreadsheet splits the file (%s)',
    async (locale) => {
      const splits = [';', '\t', ',', '\r\n', '; ', ';"', ';;']
      const texts = splits.map((split) => `x${split}=cmd|' /C calc'!A0;y`)
      const { file, text } = csvOf(
        ['a', 'b'],
        texts.map((each) => [each, each]),
        locale,
      )
      const own = locale === 'de-DE' ? ';' : ','
      // At its own separator, the quotes hold a text together.
      const others = [';', ',', '\t'].filter((separator) => separator !== own)
      const pieces = others.flatMap((separator) => text.split(new RegExp(`[${separator}\r\n]`)))
      expect(pieces.filter((piece) => /^[ "]*=/.test(piece))).toEqual([])
      const read = await askDuckDb(`SELECT * FROM read_csv('${file}', delim = '${own}', quote = '"')`)
      expect(read.map((row) => String(row['b']).replaceAll("'=", '='))).toEqual(texts)
    },
  )

  test.each([
    [['en-GB', 'en-US', 'en'], 'a,b\n-0.5,"x;y"\n'],
    [['de-CH', 'de-LI', 'en-CH'], 'a;b\n-0.5;"x;y"\n'],
    [['en-ZA', 'de-DE', 'de-AT'], 'a;b\n-0,5;"x;y"\n'],
  ])('has the separator and the decimal sign of %s', (locales, csv) => {
    for (const locale of locales) expect(csvOf(['a', 'b'], [[-0.5, 'x;y']], locale).text).toBe(csv)
  })
})

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

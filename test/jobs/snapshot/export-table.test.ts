import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DuckDBInstance } from '@duckdb/node-api'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, test, vi } from 'vitest'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  type ExportOptions,
  exportToFile,
} from '../../../src/jobs/snapshot/export-table.ts'
import { openStore } from '../../../src/store/open.ts'
import { openSnapshot } from '../../../src/store/queries/snapshot-table.ts'
import { buildSnapshot } from '../../../src/store/snapshot/build-snapshot.ts'
import { snapshotWith } from '../../support/data/snapshot.ts'
import { folderWith } from '../../support/folder.ts'
import { lead, OPENED_AT, save } from '../../support/store.ts'

const ODD = `
  CREATE TABLE odd (
    id TEXT PRIMARY KEY, company TEXT, score ANY, share REAL, big INTEGER, mixed ANY,
    seen_at TEXT -- UTC
  ) STRICT;
  INSERT INTO odd VALUES
    ('1', '=1+1', 90, -0.5, 9007199254740993, 1, '2026-11-21T06:00:00.000Z'),
    ('2', 'a, "b"' || char(10) || 'c', -5, 0.25, -1, 'x', NULL),
    ('3', '', NULL, NULL, NULL, NULL, NULL),
    ('4', NULL, 7, 1.0, 0, -2.5, '2026-11-21T06:00:01.500Z')`

const silent: ExportOptions = { signal: new AbortController().signal, onProgress: () => {}, locale: 'en-GB' }

/** Numbers from 1 for statements such as `INSERT … SELECT n FROM series`. */
function series(last: number): string {
  return `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${last})`
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** Returns the memory in use, inside and outside the JavaScript heap. */
function heldMib(): number {
  // Memory outside the heap is only freed by a second collection.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

async function exported(statements: string, table: string, format: ExportFormat, options = silent) {
  using reader = openSnapshot(snapshotWith(statements))
  const found = reader.findTable(table)
  if (!found) throw new Error(`no table ${table}`)
  const file = join(folderWith(), `${table}.${format}`)
  const result = await exportToFile(found, format, file, options)
  return { file, result, text: () => readFileSync(file, 'utf8') }
}

async function askDuckDb(sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  return (await connection.runAndReadAll(sql)).getRowObjectsJson()
}

describe('an export as CSV', () => {
  test('quotes what needs it, and tells null from an empty text', async () => {
    const { text, result } = await exported(ODD, 'odd', 'csv')
    expect(text()).toBe(
      [
        'id,company,score,share,big,mixed,seen_at',
        "1,'=1+1,90,-0.5,9007199254740993,1,2026-11-21T06:00:00.000Z",
        '2,"a, ""b""\nc",-5,0.25,-1,x,',
        '3,"",,,,,',
        '4,,7,1,0,-2.5,2026-11-21T06:00:01.500Z',
        '',
      ].join('\n'),
    )
    expect(result).toEqual({ rows: 4, bytes: Buffer.byteLength(text()), cut: 0 })
  })

  test('makes no formula of a text, whatever sign it begins with', async () => {
    const signs = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']
    const rows = signs.map((sign) => `('${sign}cmd')`).join(', ')
    const { file } = await exported(`CREATE TABLE t (a TEXT); INSERT INTO t VALUES ${rows}`, 't', 'csv')
    const read = await askDuckDb(`SELECT a FROM read_csv('${file}', header = true, quote = '"')`)
    expect(read.map((row) => row['a'])).toEqual(signs.map((sign) => `'${sign}cmd`))
  })

  test.each(['en-GB', 'de-DE'])(
    'makes no formula of a part of a text, wherever a spreadsheet splits the file (%s)',
    async (locale) => {
      const splits = [';', '\t', ',', '\r\n', '; ', ';"', ';;']
      const texts = splits.map((split) => `x${split}=cmd|'' /C calc''!A0;y`)
      const rows = texts.map((text) => `('${text}', '${text}')`).join(', ')
      const statements = `CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ${rows}`
      const { file, text } = await exported(statements, 't', 'csv', { ...silent, locale })
      const own = locale === 'de-DE' ? ';' : ','
      // At its own separator, the quotes hold a text together.
      const others = [';', ',', '\t'].filter((separator) => separator !== own)
      const pieces = others.flatMap((separator) => text().split(new RegExp(`[${separator}\r\n]`)))
      expect(pieces.filter((piece) => /^[ "]*=/.test(piece))).toEqual([])
      const read = await askDuckDb(`SELECT * FROM read_csv('${file}', delim = '${own}', quote = '"')`)
      expect(read.map((row) => String(row['b']).replaceAll("'=", '='))).toEqual(
        texts.map((text) => text.replaceAll("''", "'")),
      )
    },
  )

  test.each([
    ['en-GB', 'a,b\n-0.5,"x;y"\n'],
    ['de-CH', 'a;b\n-0.5;"x;y"\n'],
    ['de-LI', 'a;b\n-0.5;"x;y"\n'],
    ['en-CH', 'a;b\n-0.5;"x;y"\n'],
    ['en-ZA', 'a;b\n-0,5;"x;y"\n'],
    ['en-US', 'a,b\n-0.5,"x;y"\n'],
    ['en', 'a,b\n-0.5,"x;y"\n'],
    ['de-DE', 'a;b\n-0,5;"x;y"\n'],
    ['de-AT', 'a;b\n-0,5;"x;y"\n'],
  ])('has the separator and the decimal sign of %s', async (locale, csv) => {
    const statements = "CREATE TABLE t (a REAL, b TEXT); INSERT INTO t VALUES (-0.5, 'x;y')"
    expect((await exported(statements, 't', 'csv', { ...silent, locale })).text()).toBe(csv)
  })

  test('reads back in DuckDB as it was', async () => {
    const { file } = await exported(ODD, 'odd', 'csv')
    const rows = await askDuckDb(
      `SELECT id, company, big::VARCHAR AS big FROM read_csv('${file}', allow_quoted_nulls = false) ORDER BY id`,
    )
    expect(rows.map((row) => row['company'])).toEqual(["'=1+1", 'a, "b"\nc', '', null])
    expect(rows[0]?.['big']).toBe('9007199254740993')
  })
})

test('an export as NDJSON keeps every digit, and texts as they are', async () => {
  const { text } = await exported(ODD, 'odd', 'ndjson')
  const lines = text().trimEnd().split('\n')
  expect(lines[0]).toBe(
    '{"id":"1","company":"=1+1","score":90,"share":-0.5,"big":9007199254740993,"mixed":1,"seen_at":"2026-11-21T06:00:00.000Z"}',
  )
  expect(lines.map((line) => JSON.parse(line).company)).toEqual(['=1+1', 'a, "b"\nc', '', null])
})

describe('an export as Parquet', () => {
  test('gives each column the one type that its values have', async () => {
    const { file } = await exported(ODD, 'odd', 'parquet')
    const types = await askDuckDb(`SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '${file}')`)
    expect(Object.fromEntries(types.map((row) => [row['column_name'], row['column_type']]))).toEqual({
      id: 'VARCHAR',
      company: 'VARCHAR',
      score: 'BIGINT',
      share: 'DOUBLE',
      big: 'BIGINT',
      mixed: 'VARCHAR',
      seen_at: 'TIMESTAMP WITH TIME ZONE',
    })
    const rows = await askDuckDb(
      `SELECT company, score, share, big, mixed, epoch_ms(seen_at) AS ms FROM '${file}' ORDER BY id`,
    )
    expect(rows).toEqual([
      {
        company: '=1+1',
        score: '90',
        share: -0.5,
        big: '9007199254740993',
        mixed: '1',
        ms: String(Date.parse('2026-11-21T06:00:00Z')),
      },
      { company: 'a, "b"\nc', score: '-5', share: 0.25, big: '-1', mixed: 'x', ms: null },
      { company: '', score: null, share: null, big: null, mixed: null, ms: null },
      {
        company: null,
        score: '7',
        share: 1,
        big: '0',
        mixed: '-2.5',
        ms: String(Date.parse('2026-11-21T06:00:01.500Z')),
      },
    ])
  })

  test('has the columns of an empty table', async () => {
    const { file } = await exported(
      'CREATE TABLE empty (id TEXT, score INTEGER, at TEXT -- UTC\n)',
      'empty',
      'parquet',
    )
    const types = await askDuckDb(`SELECT column_type FROM (DESCRIBE SELECT * FROM '${file}')`)
    expect(types.map((row) => row['column_type'])).toEqual(['VARCHAR', 'BIGINT', 'TIMESTAMP WITH TIME ZONE'])
    expect(await askDuckDb(`SELECT count(*) AS n FROM '${file}'`)).toEqual([{ n: '0' }])
  })
})

test('an export as Parquet reads each table and view of a snapshot', async () => {
  const folder = folderWith()
  const [live, target] = [join(folder, 'leadsheet.db'), join(folder, 'snapshot.db')]
  const store = await openStore(live, OPENED_AT)
  await save(store, [lead('l1', { companyName: 'Acme' })])
  await store.close()
  const madeAt = OPENED_AT.toISOString()
  await buildSnapshot({ live, target, madeAt, version: '0.0.0', sourcePaths: {} })
  using reader = openSnapshot(target)
  expect(reader.names).toContain('lead_now')
  for (const name of reader.names) {
    const table = reader.findTable(name)
    const file = join(folder, `${name}.parquet`)
    const written = table && (await exportToFile(table, 'parquet', file, silent))
    expect(await askDuckDb(`SELECT count(*) AS n FROM '${file}'`), name).toEqual([
      { n: String(written?.rows) },
    ])
  }
})

describe('an export as Excel', () => {
  test('has real numbers and dates, and no formula', async () => {
    const { file } = await exported(ODD, 'odd', 'xlsx')
    const rows = await readSheet(file)
    expect(rows.slice(0, 3)).toEqual([
      ['id', 'company', 'score', 'share', 'big', 'mixed', 'seen_at'],
      ['1', "'=1+1", 90, -0.5, '9007199254740993', 1, new Date('2026-11-21T06:00:00Z')],
      ['2', 'a, "b"\nc', -5, 0.25, -1, 'x', null],
    ])
  })

  test('keeps signs that XML knows nothing of, and cuts what no cell can hold', async () => {
    const statements = `CREATE TABLE t (a TEXT, b TEXT);
      INSERT INTO t VALUES ('<&>"' || char(8) || '_x0041_' || char(13) || 'é😀', printf('%.40000c', 'y'))`
    const { file, result } = await exported(statements, 't', 'xlsx')
    const [, row = []] = await readSheet(file)
    expect(row[0]).toBe('<&>"\b_x0041_\ré😀')
    expect(String(row[1])).toHaveLength(32_767)
    expect(result.cut).toBe(1)
  })

  test('is the same file whenever it is made', async () => {
    const made: Buffer[] = []
    for (const now of ['2026-11-21T06:00:00Z', '2027-01-04T18:30:00Z']) {
      vi.useFakeTimers({ toFake: ['Date'], now: new Date(now) })
      const { file } = await exported(ODD, 'odd', 'xlsx').finally(() => vi.useRealTimers())
      made.push(readFileSync(file))
    }
    expect(made[1]).toEqual(made[0])
  })

  test('refuses more rows than a sheet has', async () => {
    const statements = `CREATE TABLE t (a INTEGER);
      ${series(1_048_576)} INSERT INTO t SELECT n FROM series`
    await expect(exported(statements, 't', 'xlsx')).rejects.toMatchObject({ code: 'export_too_large' })
  })
})

describe('the file of an export', () => {
  test.each(EXPORT_FORMATS)(
    'stays as it was when the export is stopped, and nothing is left: %s',
    async (format) => {
      const name = `many.${format}`
      const folder = folderWith({ [name]: 'as before' })
      const statements = `CREATE TABLE many (n INTEGER, note TEXT);
      ${series(30_000)} INSERT INTO many SELECT n, printf('%.300c', 'x') FROM series`
      const reader = openSnapshot(snapshotWith(statements))
      const table = reader.findTable('many')
      if (!table) throw new Error('no table many')
      const stop = new AbortController()
      const reason = new Error('stopped')
      const onProgress = (rows: number): void => {
        if (rows === 15_000) stop.abort(reason)
      }
      await expect(
        exportToFile(table, format, join(folder, name), { ...silent, onProgress, signal: stop.signal }),
      ).rejects.toBe(reason)
      // The reader is closed here, because a database cannot be closed while it is read.
      reader[Symbol.dispose]()
      expect(readdirSync(folder)).toEqual([name])
      expect(readFileSync(join(folder, name), 'utf8')).toBe('as before')
    },
  )

  test('names the folder that is not there', async () => {
    using reader = openSnapshot(snapshotWith(ODD))
    const table = reader.findTable('odd')
    if (!table) throw new Error('no table odd')
    await expect(exportToFile(table, 'csv', '/nowhere/odd.csv', silent)).rejects.toMatchObject({
      code: 'data_unwritable',
      message: expect.stringContaining('/nowhere/odd.csv'),
    })
  })
})

test('the memory of an export does not grow with the rows, whatever the format', async () => {
  const rows = 200_000
  // The texts of the second half alone are one and a half times the allowed growth of memory.
  const statements = `CREATE TABLE wide (id INTEGER PRIMARY KEY, note TEXT);
    ${series(rows)} INSERT INTO wide SELECT n, printf('%.600c', 'x') || n FROM series`
  using reader = openSnapshot(snapshotWith(statements))
  const table = reader.findTable('wide')
  if (!table) throw new Error('no table wide')
  for (const format of EXPORT_FORMATS) {
    const held: number[] = []
    const onProgress = (done: number): void => {
      if (done % 30_000 === 0) held.push(heldMib())
    }
    const file = join(folderWith(), `wide.${format}`)
    const result = await exportToFile(table, format, file, { ...silent, onProgress })
    expect(result.rows).toBe(rows)
    expect(Math.max(...held.slice(3)) - Math.max(...held.slice(0, 3)), format).toBeLessThan(40)
  }
})

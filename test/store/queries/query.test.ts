import { readdirSync } from 'node:fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { runQuery } from '../../../src/store/queries/query.ts'
import { snapshotWith } from '../../support/data/snapshot.ts'
import { folderWith } from '../../support/folder.ts'

const LEADS = `CREATE TABLE lead (id TEXT, big INTEGER, note TEXT);
  INSERT INTO lead VALUES ('1', 9007199254740993, NULL), ('2', -1, 'x;y'), ('3', 0, '')`

const FOREVER = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n'

function ask(sql: string, options: Partial<Parameters<typeof runQuery>[2]> = {}) {
  const signal = new AbortController().signal
  return runQuery(snapshotWith(LEADS), sql, { rowsMax: 100, timeoutMs: 30_000, signal, ...options })
}

describe('a query', () => {
  test('answers with every digit of a whole number', async () => {
    expect(await ask('SELECT id, big, note FROM lead')).toEqual({
      error: null,
      columns: ['id', 'big', 'note'],
      rows: [
        ['1', 9007199254740993n, null],
        ['2', -1n, 'x;y'],
        ['3', 0n, ''],
      ],
      isCut: false,
    })
  })

  test('stops at the wanted number of rows, and says that there are more', async () => {
    expect(await ask('SELECT id FROM lead', { rowsMax: 2 })).toMatchObject({
      rows: [['1'], ['2']],
      isCut: true,
    })
    expect(await ask('SELECT id FROM lead', { rowsMax: 3 })).toMatchObject({ isCut: false })
    const long = FOREVER.replace('sum(i)', "printf('%1000000d', i)")
    expect(await ask(long)).toMatchObject({ error: null, isCut: true })
  })

  test.each([
    ['DELETE FROM lead', 'it is no SELECT'],
    ["UPDATE lead SET note = '' RETURNING id", 'attempt to write a readonly database'],
    ['CREATE TEMP TABLE other (a)', 'it is no SELECT'],
    ["ATTACH 'other.db' AS other", 'it is no SELECT'],
    ["VACUUM INTO 'copy.db'", 'it is no SELECT'],
    ['PRAGMA query_only = 0', 'it is no SELECT'],
    ["SELECT load_extension('x')", 'not authorized'],
  ])('does nothing but read: %s', async (sql, message) => {
    expect(await ask(sql)).toEqual({ error: message })
  })

  test('is one statement, and a semicolon within a text or at the end is none', async () => {
    expect(await ask('SELECT 1; SELECT 2')).toEqual({ error: 'there is more than one statement' })
    expect(await ask("SELECT ';', id FROM lead; -- the end; really")).toMatchObject({ error: null })
  })

  test('that takes too long is killed, and leaves nothing behind', async () => {
    const folder = folderWith()
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    await expect(ask(FOREVER, { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'query_failed',
      message: 'the query took longer than 0.5 s',
    })
    expect(readdirSync(folder).filter((name) => name.includes('query'))).toEqual([])
  })

  test.each([
    ['SELECT hex(randomblob(100000000)) FROM lead', 'a value of more than 16 MB'],
    [
      `SELECT ${Array.from({ length: 100 }, () => 'zeroblob(16000000)').join()}`,
      'took more than 256 MB of memory',
    ],
  ])('that would take all memory is refused with the limit: %#', async (sql, limit) => {
    await expect(ask(sql)).rejects.toMatchObject({
      code: 'query_failed',
      message: expect.stringContaining(limit),
      hint: expect.stringContaining('Ask for less'),
    })
  })

  test('ends with the signal of the command', async () => {
    const reason = new Error('stopped')
    await expect(ask(FOREVER, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})

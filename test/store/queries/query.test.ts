import { readdirSync } from 'node:fs'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { LeadsheetError } from '../../../src/errors.ts'
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

/** Queries by what their answers show. */
const QUERIES: Readonly<Record<string, readonly (readonly [string, Parameters<typeof ask>[1]?])[]>> = {
  'answers with every digit of a whole number': [['SELECT id, big, note FROM lead']],
  'stops at the wanted number of rows, or where there are too many bytes, and says that there are more': [
    ['SELECT id FROM lead', { rowsMax: 2 }],
    ['SELECT id FROM lead', { rowsMax: 3 }],
    [FOREVER.replace('sum(i)', "printf('%1000000d', i)")],
  ],
  'does nothing but read': [
    ['DELETE FROM lead'],
    ["UPDATE lead SET note = '' RETURNING id"],
    ['CREATE TEMP TABLE other (a)'],
    ["ATTACH 'other.db' AS other"],
    ["VACUUM INTO 'copy.db'"],
    ['PRAGMA query_only = 0'],
    ["SELECT load_extension('x')"],
  ],
  'is one statement, and a semicolon within a text or at the end is none': [
    ['SELECT 1; SELECT 2'],
    ["SELECT ';', id FROM lead; -- the end; really"],
  ],
  'that takes too long is killed': [[FOREVER, { timeoutMs: 500 }]],
  'that would take all memory is refused with the limit': [
    ['SELECT hex(randomblob(100000000)) FROM lead'],
    [`SELECT ${Array.from({ length: 100 }, () => 'zeroblob(16000000)').join()}`],
  ],
}

it('a query is answered, or refused with why, and leaves nothing behind', async () => {
  const folder = folderWith()
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  const told: string[] = []
  const shown = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
  for (const [what, queries] of Object.entries(QUERIES)) {
    told.push(`a query ${what}`)
    for (const [sql, options] of queries) {
      const answer = await ask(sql, options).catch(({ code, message, hint }: LeadsheetError) => {
        return { thrown: code, message, hint }
      })
      const text = JSON.stringify(answer, shown).replaceAll(/ {100,}/g, '…')
      told.push(`  ${sql.slice(0, 100)}`, `    ${text}`)
    }
  }
  await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('golden/queries.txt')
  expect(readdirSync(folder).filter((name) => name.includes('query'))).toEqual([])
})

it('a query ends with the signal of the command', async () => {
  const reason = new Error('stopped')
  await expect(ask(FOREVER, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

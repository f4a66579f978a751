import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { snapshotWith } from '../../../support/data/snapshot.ts'
import { folderWith } from '../../../support/folder.ts'
import { finished, startLeadsheet } from '../../../support/leadsheet.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const SHOWN_LEADS = `CREATE TABLE lead (id TEXT, score REAL, big INTEGER);
  INSERT INTO lead VALUES ('ld_1', 0.125, 9007199254740993), ('ld_2', NULL, 12345)`

async function query(args: readonly string[], input = '') {
  const folder = folderWith({ 'best.sql': 'SELECT id FROM lead WHERE score > 0 -- the best' })
  copyFileSync(snapshotWith(SHOWN_LEADS), join(folder, 'snapshot.db'))
  const child = startLeadsheet(['query', ...args], { cwd: folder, env: { LEADSHEET_DATA_DIR: folder } })
  child.stdin?.end(input)
  return finished(child)
}

test('rows are shown as a table, numbers with all their digits', async () => {
  const { status, stdout } = await query(['SELECT * FROM lead'])
  expect(stdout).toBe(
    [
      'id    score               big',
      'ld_1  0.125  9007199254740993',
      'ld_2      -             12345',
      '',
    ].join('\n'),
  )
  expect(status).toBe(0)
})

test.each([
  ['--format=csv', 'id,score,big\nld_1,0.125,9007199254740993\n'],
  ['--json', '{"data": [\n  {"id":"ld_1","score":0.125,"big":9007199254740993}\n]}\n'],
])('rows are printed with %s, and that there are more is told beside them', async (option, printed) => {
  const { stdout, stderr } = await query(['SELECT * FROM lead', option, '--limit', '1'])
  expect(stdout).toBe(printed)
  expect(stderr).toBe('1 rows, and there are more: see --limit\n')
})

test('the SQL may stand in a file, or come by standard input', async () => {
  expect((await query(['best.sql', '--format', 'csv'])).stdout).toBe('id\nld_1\n')
  expect((await query(['-', '--json'], 'SELECT 1 AS one')).stdout).toBe('{"data": [\n  {"one":1}\n]}\n')
})

test.each([
  ['SELECT scor FROM lead', 'error: no such column: scor'],
  ['SELECT l.scor FROM lead AS l', 'error: no such column: l.scor'],
  ['SELECT * FROM leed', 'error: no such table: leed'],
  ['SELEC 1', 'error: near "SELEC": syntax error\n'],
  ['DELETE FROM lead', 'error: the statement does more than read'],
  ['missing.sql', `hint: The queries that come with leadsheet are in ${join(ROOT, 'docs/queries')}.\n`],
])('%s is refused', async (sql, said) => {
  const { status, stdout, stderr } = await query([sql])
  expect(stderr).toContain(said)
  expect(stdout).toBe('')
  expect(status).toBe(sql.endsWith('.sql') ? 2 : 1)
})

test('without a snapshot it says how one is made', async () => {
  const folder = folderWith()
  const child = startLeadsheet(['query', 'SELECT 1'], { cwd: folder, env: { LEADSHEET_DATA_DIR: folder } })
  child.stdin?.end()
  const { status, stderr } = await finished(child)
  expect(stderr).toMatch(/There is no snapshot .*\n.*leadsheet snapshot/)
  expect(status).toBe(1)
})

import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { snapshotWith } from '../../../support/data/snapshot.ts'
import { folderWith } from '../../../support/folder.ts'
import { finished, startLeadsheet } from '../../../support/leadsheet.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

const LEADS = `CREATE TABLE lead (id TEXT, score ANY); INSERT INTO lead VALUES ('1', 90), ('2', NULL);
  CREATE VIEW best AS SELECT id FROM lead WHERE score >= 80`

function run(args: readonly string[], statements: string | null = LEADS) {
  const folder = folderWith()
  if (statements !== null) copyFileSync(snapshotWith(statements), join(folder, 'snapshot.db'))
  const running = runWarm(args, { cwd: folder, env: { LEADSHEET_DATA_DIR: folder } })
  return running.then((finished) => ({ ...finished, folder }))
}

test('a table goes to standard output as CSV', async () => {
  const { status, stdout, stderr } = await run(['export', 'lead'])
  expect(stdout).toBe('id,score\n1,90\n2,\n')
  expect(stderr).toBe('2 rows of lead, 17 bytes\n')
  expect(status).toBe(0)
})

test('the ending of the file names the format, and --json tells what is in it', async () => {
  const { status, stdout, folder } = await run(['export', 'best', '-o', 'best.ndjson', '--json'])
  expect(readFileSync(join(folder, 'best.ndjson'), 'utf8')).toBe('{"id":"1"}\n')
  expect(JSON.parse(stdout).data).toMatchObject({
    table: 'best',
    format: 'ndjson',
    rows: 1,
    bytes: 11,
    cut: 0,
  })
  expect(status).toBe(0)
})

test('a text that no cell of Excel can hold is cut, and that is told', async () => {
  const long = "CREATE TABLE lead (raw TEXT); INSERT INTO lead VALUES (printf('%.40000c', 'x'))"
  const { status, stderr } = await run(['export', 'lead', '-o', 'lead.xlsx'], long)
  expect(stderr).toContain('warning: texts cut to what a cell of Excel can hold: 1')
  expect(status).toBe(3)
})

test.each([
  [['export', 'leed'], 'the snapshot has no table or view leed', 'Did you mean lead?'],
  [['export', 'delivery'], 'delivery is internal and cannot be exported', 'There are best, '],
  [['export', 'lead', '--format', 'xlsx'], 'xlsx needs --output FILE', 'Only csv and ndjson'],
  [['export', 'lead', '-o', 'lead.txt'], 'the ending of lead.txt names no format', 'say --format'],
  [['export', 'lead', '--json'], '--json needs --output', '--format ndjson'],
])('`%j` is refused with what to do', async (args, message, hint) => {
  const { status, stdout, stderr } = await run(args)
  expect(stderr).toContain(message)
  expect(stderr).toContain(hint)
  expect(stdout).toBe('')
  expect(status).toBe(2)
})

test('without a snapshot it says how one is made', async () => {
  const { status, stderr } = await run(['export', 'lead'], null)
  expect(stderr).toMatch(/There is no snapshot .*\n.*leadsheet snapshot/)
  expect(status).toBe(1)
})

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
  expect(stderr).toBe('1 rows, and there are more: see --limit, and `npx leadsheet export`\n')
})

test('the SQL may stand in a file, or come by standard input', async () => {
  expect((await query(['best.sql', '--format', 'csv'])).stdout).toBe('id\nld_1\n')
  expect((await query(['-', '--json'], 'SELECT 1 AS one')).stdout).toBe('{"data": [\n  {"one":1}\n]}\n')
})

test.each([
  ['SELECT scor FROM lead', 'error: no such column: scor\nhint: Did you mean score? '],
  ['SELECT l.scor FROM lead AS l', 'error: no such column: l.scor\nhint: Did you mean score? '],
  ['SELECT * FROM leed', 'error: no such table: leed\nhint: Did you mean lead? '],
  ['SELEC 1', 'error: near "SELEC": syntax error\n'],
  ['DELETE FROM lead', 'error: the statement does more than read'],
  ['missing.sql', 'error: missing.sql cannot be read'],
])('%s is refused, with what may have been meant', async (sql, said) => {
  const { status, stdout, stderr } = await query([sql])
  expect(stderr).toContain(said)
  expect(stdout).toBe('')
  expect(status).toBe(sql.endsWith('.sql') ? 2 : 1)
})

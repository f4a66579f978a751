import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { snapshotWith } from '../../../support/data/snapshot.ts'
import { folderWith } from '../../../support/folder.ts'
import { finished, startLeadsheet } from '../../../support/leadsheet.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'

const SHOWN_LEADS = `CREATE TABLE lead (id TEXT, score REAL, big INTEGER);
  INSERT INTO lead VALUES ('ld_1', 0.125, 9007199254740993), ('ld_2', NULL, 12345)`
const env = { LEADSHEET_DATA_DIR: '.' }

function folderWithLeads(): string {
  const folder = folderWith({
    'best.sql': 'SELECT id FROM lead WHERE score > 0 -- the best',
    'elsewhere.yaml': '',
  })
  copyFileSync(snapshotWith(SHOWN_LEADS), join(folder, 'snapshot.db'))
  return folder
}

test('rows are shown in each format, and what does more than read is refused', async () => {
  const file = join(import.meta.dirname, 'golden/query.txt')
  await checkTranscript(file, { cwd: folderWithLeads(), env })
})

test('the SQL may come by standard input', async () => {
  const child = startLeadsheet(['query', '-', '--json'], { cwd: folderWithLeads(), env })
  child.stdin?.end('SELECT 1 AS one')
  expect((await finished(child)).stdout).toBe('{"data": [\n  {"one":1}\n]}\n')
})

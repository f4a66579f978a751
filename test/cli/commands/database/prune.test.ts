import { join } from 'node:path'
import { sql } from 'kysely'
import { test } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { folderWith } from '../../../support/folder.ts'
import { clockStandingAt } from '../../../support/process/shifted-clock.ts'
import { checkTranscript } from '../../../support/process/transcript.ts'

test('prune deletes what is old, and says how much', async () => {
  const cwd = folderWith()
  await insertReadings(join(cwd, 'leadsheet.db'))
  const options = { cwd, env: { ...clockStandingAt('2026-11-21T12:00:00Z'), LEADSHEET_DATA_DIR: '.' } }
  await checkTranscript(join(import.meta.dirname, 'golden/prune.txt'), options)
})

/** Inserts a dozen samples of one agent, within two hours long ago. */
async function insertReadings(file: string): Promise<void> {
  await using store = await openStore(file, new Date())
  await store.write(async (trx) => {
    await sql`INSERT INTO agent (id, name, status, observed_at, raw) VALUES ('a1', 'a', 'running', '2026', '{}')`.execute(
      trx,
    )
    await sql`INSERT INTO agent_sample (agent_id, observed_at, run_id, status)
      SELECT 'a1', format('2020-01-01T%02d:%02d:00.000Z', value / 6, 10 * (value % 6)), 'r', 'running'
      FROM json_each('[0,1,2,3,4,5,6,7,8,9,10,11]')`.execute(trx)
  })
}

import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'

test('prune deletes what is old, and says how much', async () => {
  const folder = folderWith({})
  const file = join(folder, 'data', 'leadsheet.db')
  const env = { LEADSHEET_DATA_DIR: join(folder, 'data') }
  const run = (...args: string[]) => runWarm(['db', 'prune', ...args], { cwd: folder, env })

  const { stdout } = await run()
  expect(stdout).toContain('agent_sample')
  expect(existsSync(file)).toBe(false)

  await insertReadings(file)
  expect(await countReadings(file)).toBe(12)
  const done = await run('--json')
  expect(JSON.parse(done.stdout)).toMatchObject({
    data: [
      { table: 'pipeline_stat', deleted: 0 },
      { table: 'agent_sample', deleted: 10 },
      { table: 'event', deleted: 0 },
    ],
  })
  expect(done.status).toBe(0)
  expect(await countReadings(file)).toBe(2)
})

/** Inserts a dozen samples of one agent, within two hours long ago. */
async function insertReadings(file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true })
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

async function countReadings(file: string): Promise<number> {
  await using store = await openStore(file, new Date())
  return (await store.db.selectFrom('agent_sample').select('observed_at').execute()).length
}

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { startUpstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { expectSound } from './support/store.ts'
import { copyOf } from './support/world.ts'

it('a first load that was killed before its indexes were made can be looked at, backed up, restored and gone on with (row 37)', async () => {
  await using upstream = await startUpstream(60)
  const empty = folderWith({
    'leadsheet.yaml': 'api: { page_size: 20 }\ndata_dir: .\nsnapshot: { when: never }',
  })
  const env = { LEADSHEET_API_URL: upstream.url, LEADSHEET_API_KEY: 'test-key' }
  const whole = copyOf(empty, folderWith(), 'whole')
  const sync = (cwd: string): Program => ({
    args: ['sync', '--only', 'leads'],
    cwd,
    env: { ...env, EVERY_STATEMENT: '1' },
  })
  const points = await listPoints(sync(whole))
  const cwd = copyOf(empty, folderWith(), 'killed')
  const file = join(cwd, 'leadsheet.db')
  const lastIndex = points.findLastIndex((name) => /^before CREATE.* INDEX/i.test(name))
  expect(await runKilledAt(lastIndex + 1, sync(cwd))).toBe(true)
  const database = new Database(file)
  expect(database.prepare('SELECT count(*) FROM sync_dropped_index').pluck().get()).toBeGreaterThan(0)
  database.close()

  for (const args of [['status'], ['prune'], ['backup', 'backup.db']]) {
    const { status, stderr } = await run({ args, cwd, env })
    expect(status, `${args.join(' ')}: ${stderr}`).toBe(0)
  }
  const { status, stderr } = await run({ args: ['restore', 'backup.db'], cwd, env })
  expect(status, stderr).toBe(0)
  expect(await run({ args: ['sync', '--only', 'leads', '--full'], cwd, env })).toMatchObject({ status: 0 })
  await expectSound(file)
  expect(hashTables(file)).toEqual(hashTables(join(whole, 'leadsheet.db')))
})

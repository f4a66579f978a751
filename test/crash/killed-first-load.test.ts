import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { hashTables } from './support/contents.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { expectSound } from './support/store.ts'
import { copyOf, databaseIn, openFolder, openWorld } from './support/world.ts'

it('a first load that was killed before its indexes were made can be looked at, backed up, restored and gone on with, by any part of a sync (row 37)', async () => {
  await using world = await openWorld(3)
  const { env } = world
  const empty = await openFolder()
  const whole = copyOf(empty, folderWith(), 'whole')
  const load = (cwd: string): Program => ({
    args: ['sync', '--only', 'leads'],
    cwd,
    env: { ...env, EVERY_STATEMENT: '1' },
  })
  const points = await listPoints(load(whole))
  const cwd = copyOf(empty, folderWith(), 'killed')
  const firstIndex = points.findIndex((name) => /^before CREATE.* INDEX/i.test(name))
  expect(await runKilledAt(firstIndex + 1, load(cwd))).toBe(true)
  const database = new Database(databaseIn(cwd))
  expect(database.prepare('SELECT count(*) FROM sync_dropped_index').pluck().get()).toBeGreaterThan(0)
  database.close()

  const commands = [
    ['status'],
    ['db', 'prune'],
    ['db', 'backup', 'backup.db'],
    ['db', 'restore', 'backup.db'],
    ['sync', '--only', 'details'],
    ['sync', '--only', 'leads', '--full'],
  ]
  for (const args of commands) {
    const { status, stderr } = await run({ args, cwd, env })
    // The first check of `status` fails, because no sync has read all leads yet.
    expect(status, `${args.join(' ')}: ${stderr}`).toBe(args[0] === 'status' ? 1 : 0)
  }
  expect(await run({ args: ['sync', '--only', 'details'], cwd: whole, env })).toMatchObject({ status: 0 })
  await expectSound(databaseIn(cwd))
  expect(hashTables(databaseIn(cwd))).toEqual(hashTables(databaseIn(whole)))
})

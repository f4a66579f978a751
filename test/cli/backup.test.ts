import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { readSnapshotInfo } from '../../src/store/snapshot.ts'
import { folderWith } from '../support/folder.ts'
import { lead, OPENED_AT, save, saveWholeRun } from '../support/store.ts'
import { runWarm } from '../support/warm-leadsheet.ts'

test('what is backed up comes back, and the snapshot with it', async () => {
  const folder = folderWith()
  const file = join(folder, 'leadsheet.db')
  const run = (...args: string[]) => runWarm(args, { cwd: folder, env: { LEADSHEET_DATA_DIR: folder } })
  const saveRun = async (ids: readonly string[], asOf: string): Promise<string> => {
    await using store = await openStore(file, OPENED_AT)
    await save(
      store,
      ids.map((id) => lead(id)),
    )
    return await saveWholeRun(store, asOf)
  }

  const first = await saveRun(['l1', 'l2'], '2026-11-20T06:00:00Z')
  const backup = await run('backup', 'copy.db')
  expect(backup.stdout).toBe(
    `${join(folder, 'copy.db')}: 2 leads, 2 versions, 0 reports, as of 2026-11-20 06:00Z; checked\n`,
  )
  expect(await run('backup', 'copy.db')).toMatchObject({ status: 2 })

  await saveRun(['l3'], '2026-11-21T06:00:00Z')
  expect(await run('snapshot')).toMatchObject({ status: 0 })
  const restore = await run('restore', 'copy.db', '--json')
  expect(JSON.parse(restore.stdout)).toMatchObject({
    database: file,
    before: expect.stringContaining('leadsheet.db.before-restore-'),
    run_id: first,
    rows: { lead: 2 },
    letters_in_doubt: 0,
    schedules_from_now: [],
  })
  expect(readSnapshotInfo(join(folder, 'snapshot.db'))?.runId).toBe(first)
  expect(readdirSync(folder).filter((name) => /restoring|tmp|wal|shm/.test(name))).toEqual([])
})

test('without a database there is nothing to back up, and without a backup nothing to restore', async () => {
  const folder = folderWith()
  const env = { LEADSHEET_DATA_DIR: folder }
  const backup = await runWarm(['backup', 'copy.db'], { cwd: folder, env })
  expect(backup).toMatchObject({ status: 1, stderr: expect.stringContaining('there is no database') })
  const restore = await runWarm(['restore', 'copy.db'], { cwd: folder, env })
  expect(restore).toMatchObject({ status: 2, stderr: expect.stringContaining('there is no file') })
  expect(readdirSync(folder)).toEqual([])
})

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../../src/store/open.ts'
import { readSnapshotInfo } from '../../../../src/store/snapshot/snapshot.ts'
import { folderWith } from '../../../support/folder.ts'
import { runWarm } from '../../../support/process/warm-leadsheet.ts'
import { startService } from '../../../support/service.ts'
import { lead, OPENED_AT, save, saveWholeRun } from '../../../support/store.ts'

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
  const backup = await run('db', 'backup', 'copy.db')
  expect(backup.stdout).toBe(
    `${join(folder, 'copy.db')}: 2 leads, 2 versions, 0 reports, as of 2026-11-20 06:00Z; checked\n`,
  )
  expect(await run('db', 'backup', 'copy.db')).toMatchObject({ status: 2 })

  await saveRun(['l3'], '2026-11-21T06:00:00Z')
  expect(await run('snapshot')).toMatchObject({ status: 0 })
  const restore = await run('db', 'restore', 'copy.db', '--json')
  expect(JSON.parse(restore.stdout).data).toMatchObject({
    database: file,
    before: expect.stringContaining('leadsheet.db.before-restore-'),
    run_id: first,
    rows: { lead: 2 },
    unconfirmed_messages: 0,
    schedules_from_now: [],
  })
  expect(readSnapshotInfo(join(folder, 'snapshot.db'))?.runId).toBe(first)
  expect(readdirSync(folder).filter((name) => /restoring|tmp|wal|shm/.test(name))).toEqual([])
})

test('without a database there is nothing to back up, and without a backup nothing to restore', async () => {
  const folder = folderWith()
  const env = { LEADSHEET_DATA_DIR: folder }
  const backup = await runWarm(['db', 'backup', 'copy.db'], { cwd: folder, env })
  expect(backup).toMatchObject({ status: 1, stderr: expect.stringContaining('there is no database') })
  const restore = await runWarm(['db', 'restore', 'copy.db'], { cwd: folder, env })
  expect(restore).toMatchObject({ status: 2, stderr: expect.stringMatching(/ cannot be read: .*ENOENT/) })
  expect(readdirSync(folder)).toEqual([])
})

test('a lost database is no new installation: what is there to restore is named, and no preference is lost', async () => {
  const settings = `
data_dir: data
smtp: { url: file:./outbox }
mail: { from: reports@example.com }
recipients: [ana@example.com]
reports: [{ name: daily }]
`
  const cwd = folderWith({ 'leadsheet.yaml': settings })
  const data = join(cwd, 'data')
  const database = join(data, 'leadsheet.db')
  await using service = await startService(folderWith(), OPENED_AT, 3)
  const key = await service.createKey({ name: 'test', scope: 'read' })
  const env = { LEADSHEET_API_URL: service.url, LEADSHEET_API_KEY: key, LEADSHEET_LOG_LEVEL: 'error' }
  const run = (...args: string[]) => runWarm(args, { cwd, env })
  expect(await run('sync')).toMatchObject({ status: 0 })
  expect(await run('db', 'backup', 'copy.db')).toMatchObject({ status: 0 })
  expect(await run('recipients', 'set', 'unsubscribed', 'ana@example.com')).toMatchObject({ status: 0 })
  expect(statSync(join(data, 'preferences.json')).mode & 0o777).toBe(0o600)
  const standing = async () => (await run('recipients')).stdout

  const isStopped = expect.stringMatching(/ana@example\.com .*unsubscribed/)
  expect(await standing()).toEqual(isStopped)
  expect(await run('db', 'restore', 'copy.db')).toMatchObject({ status: 0 })
  // The backup was made before the change.
  expect(await standing()).toEqual(isStopped)

  const copy = readFileSync(join(data, 'preferences.json'))
  writeFileSync(join(data, 'preferences.json'), '{')
  const torn = await run('db', 'restore', 'copy.db')
  expect([torn.status, torn.stderr]).toEqual([
    1,
    expect.stringMatching(/preferences\.json: found .*\nhint: Move it/),
  ])
  writeFileSync(join(data, 'preferences.json'), copy)

  mkdirSync(join(data, 'backups'))
  writeFileSync(join(data, 'backups', 'leadsheet-before-0.2.0.db'), 'some bytes')
  for (const side of ['', '-wal', '-shm']) rmSync(`${database}${side}`, { force: true })
  const lost = /The database .*leadsheet\.db is not there, though .* has snapshot\.db, preferences\.json\n/
  for (const args of [['sync'], ['report', 'send', 'daily'], ['status']]) {
    const { status, stderr } = await run(...args)
    expect([args, status, stderr]).toEqual([args, 1, expect.stringMatching(lost)])
    expect(stderr).toMatch(/restore .*leadsheet-before-0\.2\.0\.db` .*sync --new`/)
  }
  expect(existsSync(database)).toBe(false)
  writeFileSync(database, '')
  expect(await run('sync')).toMatchObject({ status: 1, stderr: expect.stringContaining('is empty') })
  expect(statSync(database).size).toBe(0)

  expect(await run('sync', '--new')).toMatchObject({ status: 0 })
  expect(await standing()).toEqual(isStopped)
})

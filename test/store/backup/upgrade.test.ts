import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { restoreBackup } from '../../../src/store/backup/restore.ts'
import type { Upgrade } from '../../../src/store/backup/upgrade.ts'
import { openStore } from '../../../src/store/open.ts'
import { alterFile, askFile } from '../../support/data/alter-file.ts'
import { folderWith } from '../../support/folder.ts'
import {
  makeNextVersion,
  makePresentStore,
  NEXT_SCHEMA,
  PRESENT_SCHEMA,
} from '../../support/process/next-version.ts'
import { OPENED_AT } from '../../support/store.ts'

const AT = '2026-11-21T06:00:00.000Z'
const BACKUP = 'leadsheet-before-0.2.0.db'
const NEVER = new AbortController().signal

const folder = mkdtempSync(join(tmpdir(), 'leadsheet-'))
const sources = makeNextVersion(folder)
afterAll(() => rmSync(folder, { recursive: true }))

/** Makes a database of this version in a new folder. */
async function makeOlder(): Promise<string> {
  const file = join(folderWith(), 'leadsheet.db')
  await makePresentStore(file)
  return file
}

/** Upgrades to an invented next version. Returns the messages to those who wait. */
async function upgrade(file: string, change: Partial<Upgrade> = {}): Promise<string[]> {
  const steps: string[] = []
  const tell = (step: string): void => void steps.push(step)
  const { upgradeIfOlder } = await import(join(sources, 'store/backup/upgrade.ts'))
  await upgradeIfOlder(file, { program: '0.2.0', now: () => new Date(AT), tell, signal: NEVER, ...change })
  return steps
}

const migrationsIn = (file: string) =>
  askFile(file, 'SELECT name FROM kysely_migration').map(({ name }) => name)
const backupOf = (file: string): string => join(dirname(file), 'backups', BACKUP)
const backupsOf = (file: string): string[] => {
  const folder = join(dirname(file), 'backups')
  return existsSync(folder) ? readdirSync(folder).sort() : []
}

describe('a database of an older version', () => {
  it('is copied as it is, and then brought to the present schema with all its rows', async () => {
    const file = await makeOlder()
    expect(await upgrade(file)).toEqual([
      `the database is of an older version: it is copied to ${backupOf(file)} first`,
      'it is brought to the schema of 0.2.0',
    ])
    expect(backupsOf(file)).toEqual([BACKUP])
    expect(migrationsIn(backupOf(file))).toEqual(PRESENT_SCHEMA)
    expect(migrationsIn(file)).toEqual(NEXT_SCHEMA)
    expect(statSync(dirname(backupOf(file))).mode & 0o777).toBe(0o700)
    expect(askFile(file, 'SELECT id FROM lead').map(({ id }) => id)).toEqual(['l1', 'l2', 'l3'])
    expect(askFile(file, 'SELECT * FROM lease')).toEqual([])
  })

  it('is not touched while a program of that version runs on it', async () => {
    const file = await makeOlder()
    alterFile(
      file,
      "INSERT INTO lease VALUES ('daemon', 'x', 'elsewhere', 7, '2026', '2026-11-21T06:01:00.000Z')",
    )
    await expect(upgrade(file)).rejects.toMatchObject({
      code: 'job_busy',
      message: expect.stringContaining('a daemon of an older one is running on it: process 7 on elsewhere'),
    })
    expect(migrationsIn(file)).toEqual(PRESENT_SCHEMA)
    expect(backupsOf(file)).toEqual([])
    expect(askFile(file, 'SELECT name FROM lease')).toEqual([{ name: 'daemon' }])
  })

  it('that is to stop while it is copied is as it was, and nothing half-done is left', async () => {
    const file = await makeOlder()
    const stop = new AbortController()
    const tell = (): void => void setImmediate(() => stop.abort(new Error('stopped')))
    await expect(upgrade(file, { tell, signal: stop.signal })).rejects.toThrow('stopped')
    expect(migrationsIn(file)).toEqual(PRESENT_SCHEMA)
    expect(backupsOf(file)).toEqual([])
    expect(askFile(file, 'SELECT * FROM lease')).toEqual([])
    await upgrade(file)
    expect(migrationsIn(file)).toEqual(NEXT_SCHEMA)
  })
})

describe('a database that needs no backup', () => {
  it('is that of the present version, and one that is not there', async () => {
    const file = join(folderWith(), 'leadsheet.db')
    expect(await upgrade(file)).toEqual([])
    expect(existsSync(file)).toBe(false)
    await (await openStore(file, OPENED_AT)).close()
    expect(await upgrade(file)).toEqual([])
  })

  it('is one that no sync has put anything into', async () => {
    const file = await makeOlder()
    alterFile(file, 'DELETE FROM lead_history; DELETE FROM lead; DELETE FROM sync_run')
    expect(await upgrade(file)).toEqual([])
    expect(migrationsIn(file)).toEqual(PRESENT_SCHEMA)
  })
})

it('an older version that finds a newer database names the folder of the backup that it can be restored from, and upgraded again', async () => {
  const file = await makeOlder()
  await upgrade(file)
  alterFile(file, "DELETE FROM lead_history WHERE lead_id = 'l3'; DELETE FROM lead WHERE id = 'l3'")
  await expect(openStore(file, OPENED_AT)).rejects.toMatchObject({
    code: 'store_newer',
    hint: expect.stringContaining(`with the newest file in ${join(dirname(file), 'backups')}`),
  })
  const { before } = await restoreBackup(backupOf(file), file, new Date(AT), NEVER)
  expect(basename(before ?? '')).toMatch(/^leadsheet\.db\.before-restore-/)
  expect(askFile(file, 'SELECT id FROM lead')).toHaveLength(3)
  await upgrade(file)
  expect(migrationsIn(file)).toEqual(NEXT_SCHEMA)
})

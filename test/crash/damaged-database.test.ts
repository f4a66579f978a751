import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { folderWith } from '../support/folder.ts'
import { openSyncing } from '../support/syncing.ts'
import { startUpstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { run } from './support/program.ts'
import { expectSound } from './support/store.ts'
import { copyOf } from './support/world.ts'

/** Enough leads for tables of many pages. */
const LEADS = 500
const PAGE_BYTES = 4096

function overwrite(file: string, from: number, to: number): void {
  const bytes = readFileSync(file)
  bytes.fill(0x5a, from, to)
  writeFileSync(file, bytes)
}

/** The kinds of damage, the message about each, and its hint. */
const DAMAGES: readonly { name: string; damage: (file: string) => void; says: RegExp; hint: RegExp }[] = [
  {
    name: 'no database at all',
    damage: (file) => writeFileSync(file, 'id,name\n1,Acme\n'.repeat(1000)),
    says: /damaged or not a leadsheet database/,
    hint: /leadsheet db restore .* move .*leadsheet\.db away .* leadsheet sync/,
  },
  {
    name: 'its first page overwritten',
    damage: (file) => overwrite(file, 0, PAGE_BYTES),
    says: /damaged or not a leadsheet database/,
    hint: /leadsheet db restore/,
  },
  {
    name: 'the description of its tables overwritten',
    damage: (file) => overwrite(file, 100, PAGE_BYTES),
    says: /damaged or not a leadsheet database/,
    hint: /leadsheet db restore/,
  },
  {
    name: 'its second half missing',
    damage: (file) => truncateSync(file, Math.floor(readFileSync(file).length / 2 / PAGE_BYTES) * PAGE_BYTES),
    says: /damaged or not a leadsheet database/,
    hint: /leadsheet db restore/,
  },
  {
    name: 'all but its first pages overwritten',
    damage: (file) => overwrite(file, 60 * PAGE_BYTES, readFileSync(file).length),
    says: /damaged or not a leadsheet database/,
    hint: /leadsheet db restore/,
  },
  {
    name: 'the database of another program',
    damage: (file) => {
      truncateSync(file)
      const other = new Database(file)
      other.exec('CREATE TABLE note (text TEXT)')
      other.close()
    },
    says: /not one of leadsheet/,
    hint: /another data_dir/,
  },
]

describe('a database file that is damaged', () => {
  let healthy = ''
  beforeAll(async () => {
    healthy = await makeSynced()
  })
  afterAll(() => rmSync(healthy, { recursive: true }))

  it.each(DAMAGES)(
    'is named, left as it is, and comes with what to do: $name (row 48)',
    async ({ damage, says, hint }) => {
      const cwd = copyOf(healthy, folderWith(), 'damaged')
      const file = join(cwd, 'leadsheet.db')
      damage(file)
      const damaged = readFileSync(file)
      const env = { LEADSHEET_API_URL: 'http://127.0.0.1:1', LEADSHEET_API_KEY: 'test-key' }
      const { status, stderr } = await run({ args: ['sync', '--json'], cwd, env })
      expect(status).not.toBe(0)
      const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
      expect(error).toMatchObject({ code: 'store_corrupt' })
      expect(error.message).toMatch(says)
      expect(error.hint).toMatch(hint)
      expect(readFileSync(file).equals(damaged)).toBe(true)
    },
  )
})

it('a damaged database is replaced by its backup, as the hint says, and stays beside it (row 48)', async () => {
  const cwd = await makeSynced()
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const file = join(cwd, 'leadsheet.db')
  const env = {}
  expect(await run({ args: ['db', 'backup', 'backup.db'], cwd, env })).toMatchObject({ status: 0 })
  const before = hashTables(file)
  overwrite(file, 0, PAGE_BYTES)
  const restored = await run({ args: ['db', 'restore', 'backup.db'], cwd, env })
  expect(restored.status, restored.stderr).toBe(0)
  expect(hashTables(file)).toEqual(before)
  await expectSound(file)
  expect(readdirSync(cwd).filter((name) => name.includes('before'))).toHaveLength(1)
})

/** Makes a folder with the database of a sync. */
async function makeSynced(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'leadsheet-'))
  writeFileSync(join(folder, 'leadsheet.yaml'), 'data_dir: .')
  await using upstream = await startUpstream(LEADS)
  await using syncing = await openSyncing(upstream.url, 'test-key', { folder })
  await syncing.sync({ parts: ['leads'], pageSize: 100 })
  return folder
}

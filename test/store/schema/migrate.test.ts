import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { alterFile, askFile } from '../../support/data/alter-file.ts'
import { folderWith } from '../../support/folder.ts'
import { countCases } from '../../support/random.ts'

const NOW = new Date('2026-11-21T06:00:00Z')
const OPEN = join(import.meta.dirname, '../../../src/store/open.ts')

/** Opens the stores `0.db`, `1.db` and so on of a folder one after the other, in a separate process. */
function startOpening(folder: string, count: number): ChildProcess {
  const program = `
    const { openStore } = await import(${JSON.stringify(OPEN)})
    process.stdout.write('ready')
    for (let n = 0; n < ${count}; n++) await (await openStore(${JSON.stringify(folder)} + '/' + n + '.db', new Date(0))).close()`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program])
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Returns the schema of a file: tables, indexes and views. */
const schemaOf = (file: string) =>
  askFile(file, 'SELECT type, name, sql FROM sqlite_schema ORDER BY type, name')

/** Makes a store and closes it again. */
async function makeStore(file = join(folderWith(), 'leadsheet.db')): Promise<string> {
  await (await openStore(file, NOW)).close()
  return file
}

describe('opening a store', () => {
  it('brings an empty file to the present schema for its owner alone, and leaves it alone the next time', async () => {
    const file = join(folderWith({ 'leadsheet.db': '' }), 'leadsheet.db')
    const first = await openStore(file, NOW)
    const modeOf = (name: string) => statSync(join(dirname(file), name)).mode & 0o777
    const modes = readdirSync(dirname(file)).map((name) => [name, modeOf(name)])
    const own = ['leadsheet.db', 'leadsheet.db-shm', 'leadsheet.db-wal'].map((name) => [name, 0o600])
    expect(modes.toSorted()).toEqual(own)
    await first.close()
    const schema = schemaOf(file)
    const second = await openStore(file, NOW)
    expect(second.installationId).toBe(first.installationId)
    await second.close()
    expect(schemaOf(file)).toEqual(schema)
  })

  it('lets two processes open a new file at once', async () => {
    const folder = folderWith()
    const openings = [1, 2].map(() => startOpening(folder, countCases(4, 15)))
    const ends = await Promise.all(openings.map((child) => once(child, 'exit')))
    expect(ends.map(([status]) => status)).toEqual([0, 0])
  })

  it('refuses a file of a newer leadsheet and changes nothing', async () => {
    const file = await makeStore()
    alterFile(
      file,
      `INSERT INTO kysely_migration VALUES ('999-future', '2030-01-01T00:00:00Z');
       DROP VIEW lead_now; CREATE VIEW lead_now AS SELECT 1 AS of_the_future`,
    )
    const before = schemaOf(file)
    await expect(openStore(file, NOW)).rejects.toMatchObject({ code: 'store_newer' })
    expect(schemaOf(file)).toEqual(before)
  })

  it('makes a view anew whose text has changed, and leaves those of an analyst alone', async () => {
    const file = await makeStore()
    const schema = schemaOf(file)
    alterFile(file, 'DROP VIEW stage_stay; CREATE VIEW stage_stay AS SELECT 1 AS of_an_older_version')
    await makeStore(file)
    expect(schemaOf(file)).toEqual(schema)

    alterFile(
      file,
      "CREATE VIEW my_won AS SELECT * FROM lead_now WHERE outcome = 'won'; DROP VIEW stage_stay",
    )
    await using store = await openStore(file, NOW)
    const { rows } = await sql`SELECT count(*) AS n FROM my_won`.execute(store.db)
    expect(rows).toEqual([{ n: 0 }])
  })
})

it('a store whose disk is full says so, and keeps what it had', async () => {
  await using store = await openStore(join(folderWith(), 'leadsheet.db'), NOW)
  const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(store.db)
  await sql`PRAGMA max_page_count = ${sql.lit((rows[0]?.page_count ?? 0) + 1)}`.execute(store.db)
  const fill = store.write((trx) =>
    sql`INSERT INTO sync_scan_page SELECT value, 1, ${'x'.repeat(100_000)} FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')`.execute(
      trx,
    ),
  )
  await expect(fill).rejects.toMatchObject({
    code: 'data_unwritable',
    message: expect.stringContaining('full'),
  })
  expect(await store.db.selectFrom('sync_scan_page').selectAll().execute()).toEqual([])
})

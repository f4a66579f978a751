// @both-stores
/** Functions that both databases have, each in its own way. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it, onTestFinished, test } from 'vitest'
import { clockOf, tidyAfterWrites, writeUnflushed } from '../../../src/store/db/dialect.ts'
import { fileOf } from '../../../src/store/db/place.ts'
import { statement } from '../../../src/store/db/statement.ts'
import type { Store, Trx } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'
import { withClient } from '../../support/postgres/postgres-server.ts'
import { newDatabase } from '../../support/postgres.ts'
import { IN_POSTGRES, lead, OPENED_AT, openEmptyStore, save } from '../../support/store.ts'

/** Opens one store twice, as two processes would. */
async function openTwice(): Promise<[one: Store, other: Store]> {
  const at = IN_POSTGRES ? await newDurableDatabase() : join(folderWith(), 'leadsheet.db')
  const [one, other] = [await openStore(at, OPENED_AT), await openStore(at, OPENED_AT)]
  onTestFinished(one.close)
  onTestFinished(other.close)
  return [one, other]
}

/** Makes a database on a server with the usual settings for durability. */
async function newDurableDatabase(): Promise<string> {
  const url = await newDatabase()
  await withClient(url, (client) =>
    client.query(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET synchronous_commit = on`),
  )
  return url
}

const addPage = (trx: Trx, page: number) =>
  trx.insertInto('sync_scan_page').values({ page, pass: 1, seen: '[]' }).execute()

/** True if a commit waits for the disk. */
async function isDurable(db: Store['db']): Promise<boolean> {
  const asked = IN_POSTGRES ? sql`SHOW synchronous_commit` : sql`PRAGMA synchronous`
  const [row] = (await asked.execute(db)).rows as Record<string, unknown>[]
  return Object.values(row ?? {})[0] === (IN_POSTGRES ? 'on' : 2)
}

it('a write that does not wait for the disk is whole or nothing, and the next one waits again; its log can be emptied', async () => {
  const [one, other] = await openTwice()
  const { db } = one
  await writeUnflushed(db, async (trx) => {
    expect(await isDurable(trx)).toBe(false)
    await addPage(trx, 1)
  })
  const failing = writeUnflushed(db, async (trx) => {
    await addPage(trx, 2)
    throw new Error('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
  expect(await isDurable(db)).toBe(true)
  await db.transaction().execute(async (trx) => expect(await isDurable(trx)).toBe(true))
  const pages = await other.db.selectFrom('sync_scan_page').select('page').execute()
  expect(pages).toEqual([{ page: 1 }])
  await tidyAfterWrites(db)
  if (!IN_POSTGRES) expect(statSync(`${fileOf(one)}-wal`).size).toBe(0)
})

it('the clock of a file is that of who asks, and that of a server its own', async () => {
  await using store = await openEmptyStore()
  const asked = Date.now()
  const clock = sql<{ at: string }>`SELECT ${clockOf(store.db, OPENED_AT, 30_000)} AS at`
  const [{ at } = { at: '' }] = (await clock.execute(store.db)).rows
  if (!IN_POSTGRES) expect(at).toBe('2026-11-21T06:00:30.000Z')
  else {
    expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    // The server of the tests is on this machine, so the clocks agree.
    expect(Math.abs(Date.parse(at) - asked - 30_000)).toBeLessThan(30_000)
  }
})

it.runIf(IN_POSTGRES)('PostgreSQL knows after many writes how much is in which table', async () => {
  await using store = await openEmptyStore()
  await save(store, [lead('1'), lead('2')])
  const known = async () => {
    const { rows } = await sql<{ leads: number }>`
      SELECT reltuples AS leads FROM pg_class WHERE oid = to_regclass('lead')`.execute(store.db)
    return rows[0]?.leads
  }
  expect(await known()).toBe(-1)
  await tidyAfterWrites(store.db)
  expect(await known()).toBe(2)
})

test('a statement is built once, and runs with the values of each call wherever they stand', async () => {
  await using store = await openEmptyStore()
  let builds = 0
  const addPipeline = statement((db, { id, name }: { name: string; id: string }) => {
    builds++
    const row = { name, status: 'paused', id, first_seen_at: '', observed_at: '' }
    return db.insertInto('pipeline').values(row).returning('name').compile()
  })
  await store.write(async (trx) => {
    expect((await addPipeline(trx, { name: 'one', id: 'p1' })).rows).toEqual([{ name: 'one' }])
    expect((await addPipeline(trx, { id: 'p2', name: 'two' })).rows).toEqual([{ name: 'two' }])
  })
  const stored = await store.db.selectFrom('pipeline').select(['id', 'name']).orderBy('id').execute()
  expect(stored).toEqual([
    { id: 'p1', name: 'one' },
    { id: 'p2', name: 'two' },
  ])
  expect(builds).toBe(1)
})

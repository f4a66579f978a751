/** The thread that moves the write-ahead log of a daemon's store into the database. */
import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startCheckpoints } from '../../../src/store/db/checkpoint-thread.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'
import { OPENED_AT } from '../../support/store.ts'

const PAGE_BYTES = 4096
const WAIT = { timeout: 60_000, interval: 1 }

let file: string
let store: Store
beforeEach(async () => {
  file = join(folderWith(), 'leadsheet.db')
  store = await openStore(file, OPENED_AT)
  await sql`CREATE TABLE filler (bytes BLOB)`.execute(store.db)
})
afterEach(() => store.close())

async function readNumber(pragma: RawBuilder<unknown>, column: string): Promise<number> {
  const { rows } = await pragma.execute(store.db)
  return Number(Reflect.get(rows[0] ?? {}, column))
}

async function write(pages: number, at = 500): Promise<void> {
  for (let written = 0; written < pages; written += at)
    await store.write((trx) => sql`INSERT INTO filler VALUES (zeroblob(${at * PAGE_BYTES}))`.execute(trx))
}

const fail = (reason: unknown): never => {
  throw reason
}
const countMoved = () => readNumber(sql`PRAGMA wal_checkpoint(NOOP)`, 'checkpointed')
const readOwnLimit = () => readNumber(sql`PRAGMA wal_autocheckpoint`, 'wal_autocheckpoint')

it('moves what the main thread writes, which makes checkpoints of its own again after the end', async () => {
  const ownLimit = await readOwnLimit()
  const checkpoints = await startCheckpoints(store, fail)
  expect(await readOwnLimit()).toBe(0)
  await write(2000)
  await vi.waitFor(async () => expect(await countMoved()).toBeGreaterThan(2000), { timeout: 60_000 })
  await checkpoints[Symbol.asyncDispose]()
  expect(await readOwnLimit()).toBe(ownLimit)
  await write(500)
  await vi.waitFor(async () => {
    await write(500)
    expect(await countMoved()).toBeGreaterThan(ownLimit)
  }, WAIT)
})

it('empties a log that has become large', async () => {
  await using _checkpoints = await startCheckpoints(store, fail)
  await write(17_000)
  await vi.waitFor(() => expect(statSync(`${file}-wal`).size).toBe(0), { timeout: 60_000 })
  expect(await readNumber(sql`SELECT count(*) AS n FROM filler`, 'n')).toBe(34)
})

it('leaves checkpoints to the main thread if it fails', async () => {
  const ownLimit = await readOwnLimit()
  const wrong = { ...store, place: { kind: 'sqlite', file: dirname(file) } } as const
  const failed = Promise.withResolvers<unknown>()
  const checkpoints = await startCheckpoints(wrong, failed.resolve)
  expect(String(await failed.promise)).toContain('unable to open database file')
  expect(await readOwnLimit()).toBe(ownLimit)
  await checkpoints[Symbol.asyncDispose]()
})

import { copyFileSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { fileOf } from '../../src/store/db/place.ts'
import { findViolations } from '../../src/store/invariants/invariants.ts'
import { openStore } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { random } from '../support/random.ts'
import { openSyncing } from '../support/syncing.ts'
import { startUpstream } from '../support/upstream.ts'
import { hashTables } from './support/contents.ts'
import { IS_FULL, SEED } from './support/scale.ts'

const CASES = IS_FULL ? 300 : 60
/** One of so many cases is synced to the end. */
const SYNCED_EVERY = 20
/** The clock of all syncs in this file. */
const NOW = new Date('2026-11-21T06:00:00Z')
const LEADS = 600
const PAGE_SIZE = 50

/** The ways in which a power cut may damage the last written bytes. */
const DAMAGES: readonly ((wal: Buffer, at: number) => Buffer)[] = [
  function cut(wal, at) {
    return wal.subarray(0, at)
  },
  function followedByZeros(wal, at) {
    return Buffer.concat([wal.subarray(0, at), Buffer.alloc(wal.length - at)])
  },
  function flippedBit(wal, at) {
    const damaged = Buffer.from(wal)
    damaged.writeUInt8(damaged.readUInt8(at) ^ 0x10, at)
    return damaged
  },
]

/** Makes a database and a write-ahead log that holds a whole sync, as a power cut leaves them. */
async function makeLogged(url: string): Promise<{ file: string; wal: Buffer; tables: unknown }> {
  await using syncing = await openSyncing(url)
  const file = fileOf(syncing.store)
  // An open reader keeps the log from being written into the file.
  const reader = new Database(file)
  reader.exec('BEGIN; SELECT * FROM lead')
  await syncing.sync({ full: true, parts: ['leads'], pageSize: PAGE_SIZE })
  const copy = join(folderWith(), 'leadsheet.db')
  copyFileSync(file, copy)
  const wal = readFileSync(`${file}-wal`)
  reader.close()
  return { file: copy, wal, tables: hashTables(file) }
}

/**
 * Opens a file after a cut, checks all rules, and returns the number of leads. They must be those up to the
 * cursor.
 */
async function recover(file: string): Promise<number> {
  await using store = await openStore(file, NOW)
  expect(await findViolations(store.db, NOW.toISOString(), 'all')).toEqual([])
  const scan = await store.db.selectFrom('sync_scan').select(['seen', 'cursor']).executeTakeFirst()
  const leads = await store.db
    .selectFrom('lead')
    .select(['id', 'updated_at'])
    .orderBy('updated_at')
    .orderBy('id')
    .execute()
  const ended = await store.db.selectFrom('sync_scan_result').select('distinct_leads').executeTakeFirst()
  expect(leads).toHaveLength(scan?.seen ?? ended?.distinct_leads ?? 0)
  const last = leads.at(-1)
  if (scan?.cursor) expect(scan.cursor).toBe(`${last?.updated_at} ${last?.id}`)
  return leads.length
}

it(`a power cut leaves whole pages and the place to go on from, wherever it cuts the log; ${CASES} cuts, SEED=${SEED}`, async () => {
  await using upstream = await startUpstream(LEADS)
  const logged = await makeLogged(upstream.url)
  const next = random(SEED)
  const found = new Set<number>()
  for (let number = 0; number < CASES; number++) {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'leadsheet-'))
    const file = join(folder.path, 'leadsheet.db')
    copyFileSync(logged.file, file)
    const damage = DAMAGES[number % DAMAGES.length]
    writeFileSync(`${file}-wal`, damage?.(logged.wal, Math.floor(next() * logged.wal.length)) ?? '')
    found.add(await recover(file))
    if (number % SYNCED_EVERY === 0) {
      await using syncing = await openSyncing(upstream.url, 'test-key', { folder: folder.path })
      await syncing.sync({ full: true, parts: ['leads'], pageSize: PAGE_SIZE })
      expect(hashTables(file)).toEqual(logged.tables)
    }
  }
  expect([...found].filter((leads) => leads % PAGE_SIZE !== 0)).toEqual([])
  expect(found.size).toBeGreaterThan(LEADS / PAGE_SIZE / 2)
})

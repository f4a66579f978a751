/** A snapshot from PostgreSQL equals one that is made from a file. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { copyStore } from '../../../src/store/copy/copy.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { copyPublished, makeSnapshot } from '../../../src/store/snapshot/snapshot.ts'
import { openFurnishedStore } from '../../support/data/furnished-store.ts'
import { folderWith } from '../../support/folder.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { lead, newStoreUrl, save } from '../../support/store.ts'

const NOW = new Date('2026-11-21T09:00:00Z')
const NEVER = new AbortController().signal

async function openBoth(): Promise<{ inFile: Store; inPostgres: Store } & AsyncDisposable> {
  const inFile = await openFurnishedStore()
  const there = await newStoreUrl()
  await copyStore(inFile, placeOf(there), { now: () => NOW, signal: NEVER, onProgress: () => {} })
  const inPostgres = await openStore(there, NOW)
  const close = async () => {
    await inFile.close()
    await inPostgres.close()
  }
  return { inFile, inPostgres, [Symbol.asyncDispose]: close }
}

/** Returns every row of every table and view, unordered. */
function contentOf(file: string): Record<string, string[]> {
  const database = new Database(file, { readonly: true })
  const names = database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
       AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .pluck()
    .all()
  const rowsOf = (query: string) =>
    database
      .prepare<[], unknown>(query)
      .all()
      .map((row) => JSON.stringify(row))
      .sort()
  const content = Object.fromEntries(names.map((name) => [name, rowsOf(`SELECT * FROM "${name}"`)]))
  const schema = rowsOf("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
  database.close()
  return { ...content, schema }
}

describe.skipIf(!hasPostgres)('a snapshot of PostgreSQL', () => {
  it('has the same tables, views and dictionary, and is not there when it was stopped', async () => {
    await using both = await openBoth()
    const folder = folderWith()
    const job = { madeAt: NOW.toISOString(), version: '0.0.0', sourcePaths: { 'lead.status': 'status' } }
    const ALL = { group: null, signal: NEVER }
    await makeSnapshot(both.inFile, job, join(folder, 'file.db'), ALL)
    await makeSnapshot(both.inPostgres, job, join(folder, 'postgres.db'), ALL)
    const [expected, made] = [contentOf(join(folder, 'file.db')), contentOf(join(folder, 'postgres.db'))]
    expect(made['lead']?.length).toBeGreaterThan(10)
    expect(made).toEqual(expected)
    const stop = new AbortController()
    const making = makeSnapshot(both.inPostgres, job, join(folder, 's.db'), { ...ALL, signal: stop.signal })
    stop.abort(new Error('told to stop'))
    await expect(making).rejects.toThrow('told to stop')
    expect(readdirSync(folder).sort()).toEqual(['file.db', 'postgres.db'])
  })

  it('shows one moment, whatever is written while it is read', async () => {
    await using both = await openBoth()
    const { inPostgres: store } = both
    const copy = join(folderWith(), 'copy.db')
    const stop = new AbortController()
    const writing = (async () => {
      for (let number = 0; !stop.signal.aborted; number++) await save(store, [lead(`late-${number}`)])
      return (await store.db.selectFrom('lead').select('id').execute()).length
    })()
    const before = (await store.db.selectFrom('lead').select('id').execute()).length
    await copyPublished(store.db, copy, NEVER)
    stop.abort()
    expect(await writing).toBeGreaterThan(before)
    const database = new Database(copy, { readonly: true })
    const count = (table: string) =>
      database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()
    // All tables of a lead have been written in one transaction.
    expect(count('lead_raw')).toBe(count('lead'))
    expect(database.prepare('SELECT sum(leads) FROM lead_day').pluck().get()).toBe(count('lead'))
    expect(database.prepare('SELECT count(DISTINCT lead_id) FROM lead_version').pluck().get()).toBe(
      count('lead'),
    )
    expect(database.pragma('foreign_key_check')).toEqual([])
    database.close()
  })
})

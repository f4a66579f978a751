/** A snapshot from PostgreSQL equals one that is made from a file. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { copyStore } from '../../../src/store/copy/copy.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import { countLeads } from '../../../src/store/leads/lead.ts'
import { openStore } from '../../../src/store/open.ts'
import { copyPublished, makeSnapshot } from '../../../src/store/snapshot/snapshot.ts'
import { askFile } from '../../support/data/alter-file.ts'
import { openFurnishedStore } from '../../support/data/furnished-store.ts'
import { folderWith } from '../../support/folder.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { lead, newStoreUrl, save } from '../../support/store.ts'

const NOW = new Date('2026-11-21T09:00:00Z')
const NEVER = new AbortController().signal

async function openBoth() {
  const inFile = await openFurnishedStore()
  const there = await newStoreUrl()
  await copyStore(inFile, placeOf(there), { now: () => NOW, signal: NEVER, onProgress: () => {} })
  const inPostgres = await openStore(there, NOW)
  onTestFinished(inFile.close)
  onTestFinished(inPostgres.close)
  return { inFile, inPostgres }
}

/** Returns every row of every table and view, unordered. */
function contentOf(file: string): Record<string, string[]> {
  const rowsOf = (query: string) =>
    askFile(file, query)
      .map((row) => JSON.stringify(row))
      .sort()
  const schema = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'"
  const tables = askFile<{ name: string }>(file, `${schema} AND type IN ('table', 'view')`)
  const content = tables.map(({ name }) => [name, rowsOf(`SELECT * FROM "${name}"`)])
  return { ...Object.fromEntries(content), schema: rowsOf(schema) }
}

describe.skipIf(!hasPostgres)('a snapshot of PostgreSQL', () => {
  it('has the same tables, views and dictionary, and is not there when it was stopped', async () => {
    const both = await openBoth()
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
    const { inPostgres: store } = await openBoth()
    const copy = join(folderWith(), 'copy.db')
    const stop = new AbortController()
    const writing = (async () => {
      for (let number = 0; !stop.signal.aborted; number++) await save(store, [lead(`late-${number}`)])
      return countLeads(store.db)
    })()
    const before = await countLeads(store.db)
    await copyPublished(store.db, copy, NEVER)
    stop.abort()
    expect(await writing).toBeGreaterThan(before)
    // All tables of a lead have been written in one transaction.
    const [counts = {}] = askFile(
      copy,
      `SELECT (SELECT count(*) FROM lead) AS leads, (SELECT count(*) FROM lead_raw) AS raw,
        (SELECT sum(leads) FROM lead_day) AS days, (SELECT count(DISTINCT lead_id) FROM lead_version) AS versions`,
    )
    expect(new Set(Object.values(counts)).size, JSON.stringify(counts)).toBe(1)
    expect(askFile(copy, 'PRAGMA foreign_key_check')).toEqual([])
  })
})

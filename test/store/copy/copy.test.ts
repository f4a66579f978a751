// @both-stores
/**
 * A store is copied into the other kind of database: from a file to PostgreSQL, and back in the other project.
 */
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { listCopiedTables } from '../../../src/store/copy/copied-tables.ts'
import { copyStore, type TableCopy } from '../../../src/store/copy/copy.ts'
import { placeOf } from '../../../src/store/db/place.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { openStore } from '../../../src/store/open.ts'
import { claimLease } from '../../../src/store/schedule/lease.ts'
import { openFurnishedStore } from '../../support/data/furnished-store.ts'
import { listTables } from '../../support/data/tables.ts'
import { folderWith } from '../../support/folder.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import {
  IN_POSTGRES,
  lead,
  newStoreUrl,
  OPENED_AT,
  openEmptyStore,
  save,
  saveWholeRun,
} from '../../support/store.ts'

const NOW = new Date('2026-11-21T09:00:00Z')

/** Returns a new place with a schema and no rows. */
async function newTarget(): Promise<string> {
  return IN_POSTGRES ? join(folderWith(), 'leadsheet.db') : newStoreUrl()
}

function copy(
  source: Store,
  to: string,
  change: Partial<Parameters<typeof copyStore>[2]> = {},
): Promise<TableCopy[]> {
  const { signal } = new AbortController()
  return copyStore(source, placeOf(to), { now: () => NOW, signal, onProgress: () => {}, ...change })
}

/** Interrupts a copy when it has reported so many times. */
async function copyUntil(source: Store, to: string, times: number): Promise<void> {
  const stop = new AbortController()
  let left = times
  const onProgress = () => --left === 0 && stop.abort(new Error('cut off'))
  await expect(copy(source, to, { signal: stop.signal, onProgress })).rejects.toThrow('cut off')
}

it.skipIf(!hasPostgres)(
  'a copied store has every row of every table as it was, comes back the same, and goes on with the next numbers',
  async () => {
    await using source = await openFurnishedStore()
    const back = join(folderWith(), 'back', 'leadsheet.db')
    const there = IN_POSTGRES ? await newTarget() : await newDatabase()
    const copied = await copy(source, there)
    const tables = Object.fromEntries(copied.map(({ name, rows }) => [name, rows]))
    expect(tables).toMatchObject({ sync_run: 2, message: 1, link_key: 1, report_issue: 1 })
    expect(tables['lead']).toBeGreaterThan(40)
    expect(tables['activity']).toBeGreaterThan(20)

    await using target = await openStore(there, NOW)
    expect(target.installationId).toBe(source.installationId)
    expect(await copy(target, back)).toEqual(copied)

    const before = await numbersOf(target)
    expect(before).toEqual(await numbersOf(source))
    await save(target, [lead('new')], '2026-11-21T09:00:00Z')
    const run = await saveWholeRun(target, '2026-11-21T09:00:00Z')
    expect(await numbersOf(target)).toEqual({ lead: before.lead + 1, runs: [...before.runs, run] })
  },
)

it.skipIf(!hasPostgres)(
  'a copy that is cut off leaves an empty store, and the next one copies what the source has become since',
  async () => {
    await using source = await openFurnishedStore()
    const there = await newTarget()
    await copyUntil(source, there, 7)
    const left = await openStore(there, NOW)
    expect(await left.db.selectFrom('sync_run').select('id').execute()).toEqual([])
    expect(left.installationId).not.toBe(source.installationId)
    await left.close()
    await source.write((trx) => trx.updateTable('agent').set({ name: 'Renamed' }).execute())
    await copy(source, there)
    await using target = await openStore(there, NOW)
    const agents = await target.db.selectFrom('agent').select('name').distinct().execute()
    expect(agents).toEqual([{ name: 'Renamed' }])
    expect(target.installationId).toBe(source.installationId)
  },
)

describe.skipIf(!hasPostgres)('a copy is refused', () => {
  it('where another installation has begun to work, which stays as it is', async () => {
    await using source = await openEmptyStore()
    const there = await newTarget()
    const other = await openStore(there, OPENED_AT)
    await save(other, [lead('theirs')])
    await other.close()
    await expect(copy(source, there)).rejects.toMatchObject({ code: 'store_taken' })
    await using again = await openStore(there, NOW)
    expect(again.installationId).toBe(other.installationId)
    expect(await again.db.selectFrom('lead').select('id').execute()).toEqual([{ id: 'theirs' }])
  })

  it('while anything runs on the source', async () => {
    await using source = await openEmptyStore()
    const there = await newTarget()
    const lease = await claimLease(source, 'sync', () => NOW)
    await expect(copy(source, there)).rejects.toMatchObject({
      code: 'job_busy',
      message: expect.stringMatching(/^A sync is running on /),
    })
    await lease.release()
    expect(await copy(source, there)).not.toEqual([])
  })

  it.runIf(IN_POSTGRES)('while one of those that share it lives', async () => {
    await using source = await openEmptyStore()
    const beginUptime = (at: string, ended_at: string | null) =>
      source.write((trx) =>
        trx
          .insertInto('daemon_uptime')
          .values({ began_at: at, began_after: 'down', last_heartbeat_at: at, ended_at, host: 'b', pid: 7 })
          .execute(),
      )
    await beginUptime('2026-11-21T08:50:00.000Z', null)
    await beginUptime('2026-11-21T08:59:00.000Z', '2026-11-21T08:59:00.000Z')
    await copy(source, await newTarget())
    await beginUptime('2026-11-21T08:58:30.000Z', null)
    await expect(copy(source, await newTarget())).rejects.toThrow(
      /^A daemon is running on .*: process 7 on b$/,
    )
  })
})

it('what is copied is every table but those that are about the database or its processes, or are made of others', async () => {
  const copied = await listCopiedTables()
  const left = (await listTables()).filter((name) => copied.every((table) => table.name !== name))
  expect(left).toEqual(['installation', 'lease', 'sync_dropped_index'])
  expect(copied.filter(({ key }) => key.length === 0)).toEqual([])
})

/** Returns the highest number of a lead, and the runs in the order in which they began. */
async function numbersOf({ db }: Store) {
  const numbers = await sql<{ lead: number }>`SELECT max(no) AS lead FROM lead`.execute(db)
  const runs = await sql<{ id: string }>`SELECT id FROM sync_run ORDER BY rowid`.execute(db)
  return { lead: 0, ...numbers.rows[0], runs: runs.rows.map(({ id }) => id) }
}

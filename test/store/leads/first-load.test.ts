import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { LeadsheetError } from '../../../src/errors.ts'
import { dropIndexes, restoreIndexes } from '../../../src/store/db/dropped-index.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { countLeads } from '../../../src/store/leads/lead.ts'
import { COUNT_ALL_DAYS } from '../../../src/store/leads/lead-day.ts'
import { openStore } from '../../../src/store/open.ts'
import { folderWith } from '../../support/folder.ts'
import { openListing, PAGE, paged, records } from '../../support/source/listing.ts'
import { lead, OPENED_AT, save } from '../../support/store.ts'

const NEVER = new AbortController().signal

/** Returns the indexes of the leads and the trigger that counts them. */
async function indexes(store: Store): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_schema
    WHERE type = 'index' AND tbl_name = 'lead' ORDER BY name`.execute(store.db)
  return rows.map((row) => row.name)
}

async function checksForeignKeys(store: Store): Promise<boolean> {
  const { rows } = await sql<{ foreign_keys: number }>`PRAGMA foreign_keys`.execute(store.db)
  return rows[0]?.foreign_keys === 1
}

describe('a first load into a file', () => {
  it('goes in without indexes, and leaves them all, with foreign keys that are checked and hold', async () => {
    const during: string[][] = []
    // The list ends with an empty page.
    const list = paged('page', records(40))
    await using listing = await openListing(PAGE, list)
    const all = await indexes(listing.store)
    listing.answer = (position, size, filters) => {
      indexes(listing.store).then((names) => during.push(names))
      return list(position, size, filters)
    }
    expect((await listing.sync()).leads).toMatchObject({ inserted: 40 })
    expect(await countLeads(listing.store.db)).toBe(40)
    expect(during).toContainEqual([])
    expect(await indexes(listing.store)).toEqual(all)
    expect(await checksForeignKeys(listing.store)).toBe(true)
    const { rows } = await sql`PRAGMA foreign_key_check`.execute(listing.store.db)
    expect(rows).toEqual([])
    during.length = 0
    await listing.sync()
    expect(during).not.toContainEqual([])
  })

  it('ends as soon as a lead comes again that has changed, and goes on in the usual way', async () => {
    const before = records(25)
    const again = { ...before[3], updated: '2026-11-05T00:00:00.000Z' }
    await using listing = await openListing(PAGE, paged('page', [...before, again, ...records(9, 25)]))
    const all = await indexes(listing.store)
    const result = await listing.sync()
    expect(result.leads).toMatchObject({ seen: 34, inserted: 34, updated: 0 })
    const read = listing.store.db.selectFrom('lead').where('id', '=', 'l003').select(['no', 'updated_at'])
    expect(await read.execute()).toEqual([{ no: 4, updated_at: again.updated }])
    expect(await indexes(listing.store)).toEqual(all)
  })

  it('that fails keeps what it has read, with its indexes', async () => {
    await using listing = await openListing(PAGE, (position, size, filters) => {
      if (position === '3') throw new LeadsheetError('api_unreachable', 'away')
      return paged('page', records(35))(position, size, filters)
    })
    const all = await indexes(listing.store)
    expect(await listing.sync()).toMatchObject({ outcome: 'partial', leads: { inserted: 20 } })
    expect(await indexes(listing.store)).toEqual(all)
    expect(await checksForeignKeys(listing.store)).toBe(true)
  })

  it('that is told to stop leaves the indexes to the next sync, which goes on from its place', async () => {
    const stop = new AbortController()
    await using listing = await openListing(PAGE, paged('page', records(35)))
    const all = await indexes(listing.store)
    const onProgress = ({ pages }: { pages: number }) => pages === 2 && stop.abort()
    const problems = [{ code: 'run_interrupted' }]
    const stopped = { outcome: 'partial', problems, leads: { inserted: 20 } }
    expect(await listing.sync({ signal: stop.signal, onProgress })).toMatchObject(stopped)
    expect(await indexes(listing.store)).toEqual([])
    expect(await checksForeignKeys(listing.store)).toBe(true)
    listing.asked.length = 0
    expect(await listing.sync()).toMatchObject({ outcome: 'ok', scan: { distinct: 35 } })
    expect(listing.asked[0]).not.toBeNull()
    expect(await indexes(listing.store)).toEqual(all)
  })
})

it('indexes that were put aside come back as they were, an analyst’s own too', async () => {
  await using store = await openStore(join(folderWith(), 'leadsheet.db'), OPENED_AT)
  await save(store, [lead('1'), lead('2')])
  await sql`CREATE INDEX "my own" ON lead (company_name) WHERE score IS NOT NULL`.execute(store.db)
  const schema = () =>
    sql`SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name`.execute(store.db)
  const before = await schema()
  await store.write((trx) => dropIndexes(trx, COUNT_ALL_DAYS))
  expect((await schema()).rows.length).toBeLessThan(before.rows.length)
  await restoreIndexes(store.db, NEVER)
  expect((await schema()).rows).toEqual(before.rows)
  expect(await store.db.selectFrom('sync_dropped_index').selectAll().execute()).toEqual([])
  await sql`INSERT INTO sync_dropped_index VALUES ('a', 'CREATE INDEX a ON lead (nothing)')`.execute(store.db)
  await expect(restoreIndexes(store.db, NEVER)).rejects.toThrow('nothing')
})

/** The first load into PostgreSQL, where other processes may read leads meanwhile. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { restoreIndexes } from '../../../src/store/db/dropped-index.ts'
import type { Store } from '../../../src/store/db/store.ts'
import { mayApplyEvents } from '../../../src/store/events/event.ts'
import { beginFirstLoad } from '../../../src/store/leads/first-load.ts'
import { countLeads, insertLeads } from '../../../src/store/leads/lead.ts'
import { openStore } from '../../../src/store/open.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { lead, migratedDatabase, OPENED_AT, save, seenAt } from '../../support/store.ts'

const NEVER = new AbortController().signal
const LEADS = ['1', '2', '3'].map((id) => lead(id))

/** Returns the definitions of the indexes of leads, and of the foreign keys to leads. */
async function definitions({ db }: Store): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    SELECT indexdef AS text FROM pg_indexes WHERE schemaname = current_schema() AND tablename = 'lead'
    UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
      WHERE contype = 'f' AND confrelid = 'lead'::regclass ORDER BY 1`.execute(db)
  return rows.map(({ text }) => text)
}

describe.skipIf(!hasPostgres)('a first load into PostgreSQL', () => {
  const openShared = async () => {
    const url = await newDatabase({ template: await migratedDatabase() })
    return { url, store: await openStore(url, OPENED_AT) }
  }

  it('goes in without most indexes and checks, counts each lead once, and leaves all as it was', async () => {
    const { store } = await openShared()
    const all = await definitions(store)
    const load = await beginFirstLoad(store)
    const during = await definitions(store)
    expect(during.length).toBeLessThan(all.length - 4)
    expect(all).toEqual(expect.arrayContaining(during))
    expect(await mayApplyEvents(store.db)).toBe(false)
    await store.write((trx) => insertLeads(trx, LEADS, seenAt('2026-11-21T06:00:00Z')))
    await load?.end(NEVER)
    expect(await definitions(store)).toEqual(all)
    expect(await countLeads(store.db)).toBe(3)
    expect(await mayApplyEvents(store.db)).toBe(true)
    await store.close()
  })

  it('that was killed leaves its indexes to the next process', async () => {
    const { url, store } = await openShared()
    const all = await definitions(store)
    await beginFirstLoad(store)
    await store.write((trx) => insertLeads(trx, LEADS, seenAt('2026-11-21T06:00:00Z')))
    await store.close()
    await using next = await openStore(url, OPENED_AT)
    expect((await definitions(next)).length).toBeLessThan(all.length)
    await restoreIndexes(next, NEVER)
    expect(await definitions(next)).toEqual(all)
  })

  it('is an ordinary load where somebody reads leads for long, or where leads are stored', async () => {
    const { url, store } = await openShared()
    await using reader = await openStore(url, OPENED_AT)
    const all = await definitions(store)
    await reader.db
      .transaction()
      .setAccessMode('read only')
      .execute(async (trx) => {
        await trx.selectFrom('lead').select('id').execute()
        expect(await beginFirstLoad(store)).toBeNull()
      })
    expect(await definitions(store)).toEqual(all)
    await save(store, LEADS)
    expect(await beginFirstLoad(store)).toBeNull()
    expect(await definitions(store)).toEqual(all)
    await store.close()
  })
})

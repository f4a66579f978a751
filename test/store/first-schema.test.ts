import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, it } from 'vitest'
import { openSqlite } from '../../src/store/db/sqlite.ts'
import type { Store } from '../../src/store/db/store.ts'
import * as init from '../../src/store/migrations/001-init.ts'
import { openStore } from '../../src/store/open.ts'
import type { Tables } from '../../src/store/tables/tables.ts'
import { folderWith } from '../support/folder.ts'

/** A file as the first schema left it. */
async function withFirstSchema(fill: (old: Kysely<Tables>) => Promise<void>): Promise<Store> {
  const file = join(folderWith(), 'leadsheet.db')
  const old = openSqlite(file)
  const { error } = await new Migrator({
    db: old,
    provider: { getMigrations: async () => ({ '001-init': init }) },
  }).migrateToLatest()
  expect(error).toBeUndefined()
  await fill(old)
  await old.destroy()
  return openStore(file, new Date('2026-11-21T06:00:00Z'))
}

it('a database of the first schema keeps its held records, and begins the scan that was under way anew', async () => {
  await using store = await withFirstSchema(async (old) => {
    await sql`INSERT INTO held_row VALUES ('lead', 'abc', 'id: nothing at id', '{}', '2026', '2026')`.execute(
      old,
    )
    await sql`INSERT INTO sync_scan VALUES ('lead', 'full', NULL, 'next', '2026', 5, NULL)`.execute(old)
    await sql`INSERT INTO sync_scan_seen VALUES ('l1')`.execute(old)
  })
  const held = await store.db.selectFrom('held_row').selectAll().execute()
  expect(held).toMatchObject([
    { raw_sha256: 'abc', record_id: null, is_whole: 1, reason: 'id: nothing at id' },
  ])
  expect(await store.db.selectFrom('sync_scan').selectAll().execute()).toEqual([])
  expect(await store.db.selectFrom('sync_scan_page').selectAll().execute()).toEqual([])
})

it('its leads are numbered in order of arrival, with their records beside them and what refers to them', async () => {
  const at = '2026-11-01T00:00:00.000Z'
  await using store = await withFirstSchema(async (old) => {
    for (const id of ['z', 'a']) {
      await sql`INSERT INTO lead (id, pipeline_id, status, score, tags, created_at, updated_at, status_changed_at,
        first_seen_at, observed_at, run_id, raw)
        VALUES (${id}, 'p', 'new', 70, '[]', ${at}, ${at}, ${at}, ${at}, ${at}, 'run', ${`{"id":"${id}"}`})`.execute(
        old,
      )
      await sql`INSERT INTO lead_version (lead_id, valid_from, observed_at, run_id, pipeline_id, status)
        VALUES (${id}, ${at}, ${at}, 'run', 'p', 'new')`.execute(old)
    }
    await sql`INSERT INTO lead_absence VALUES ('a', 'run', ${at})`.execute(old)
  })
  const leads = await store.db
    .selectFrom('lead')
    .innerJoin('lead_raw', 'lead_raw.lead_no', 'lead.no')
    .innerJoin('lead_version', 'lead_version.lead_id', 'lead.id')
    .select(['no', 'id', 'raw', 'valid_to'])
    .orderBy('no')
    .execute()
  expect(leads).toEqual([
    { no: 1, id: 'z', raw: '{"id":"z"}', valid_to: null },
    { no: 2, id: 'a', raw: '{"id":"a"}', valid_to: null },
  ])
  const { rows: parents } =
    await sql`SELECT DISTINCT "table" FROM pragma_foreign_key_list('lead_absence')`.execute(store.db)
  expect(parents).toEqual([{ table: 'lead' }])
  const { rows: orphans } = await sql`PRAGMA foreign_key_check`.execute(store.db)
  expect(orphans).toEqual([])
  const orphan = sql`INSERT INTO lead_absence VALUES ('nobody', 'run', ${at})`.execute(store.db)
  await expect(orphan).rejects.toThrow('FOREIGN KEY')
})

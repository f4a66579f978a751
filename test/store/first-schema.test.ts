import { join } from 'node:path'
import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, it } from 'vitest'
import * as init from '../../src/store/migrations/001-init.ts'
import { openStore } from '../../src/store/open.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { folderWith } from '../support/folder.ts'

it('a database of the first schema keeps its held records, and begins the scan that was under way anew', async () => {
  const file = join(folderWith(), 'leadsheet.db')
  const old = openSqlite(file)
  const { error } = await new Migrator({
    db: old,
    provider: { getMigrations: async () => ({ '001-init': init }) },
  }).migrateToLatest()
  expect(error).toBeUndefined()
  await sql`INSERT INTO held_row VALUES ('lead', 'abc', 'id: nothing at id', '{}', '2026', '2026')`.execute(
    old,
  )
  await sql`INSERT INTO sync_scan VALUES ('lead', 'full', NULL, 'next', '2026', 5, NULL)`.execute(old)
  await sql`INSERT INTO sync_scan_seen VALUES ('l1')`.execute(old)
  await old.destroy()

  await using store = await openStore(file, new Date('2026-11-21T06:00:00Z'))
  const held = await store.db.selectFrom('held_row').selectAll().execute()
  expect(held).toMatchObject([
    { raw_sha256: 'abc', record_id: null, is_whole: 1, reason: 'id: nothing at id' },
  ])
  expect(await store.db.selectFrom('sync_scan').selectAll().execute()).toEqual([])
  expect(await store.db.selectFrom('sync_scan_page').selectAll().execute()).toEqual([])
})

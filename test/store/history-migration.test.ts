import { join } from 'node:path'
import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { expect, it } from 'vitest'
import { openSqlite } from '../../src/store/db/sqlite.ts'
import * as init from '../../src/store/migrations/001-init.ts'
import * as heldAndDoubted from '../../src/store/migrations/002-held-and-doubted.ts'
import * as scanTruth from '../../src/store/migrations/003-scan-truth.ts'
import { openStore } from '../../src/store/open.ts'
import { folderWith } from '../support/folder.ts'
import { lead, save } from '../support/store.ts'

function day(number: number): string {
  return `2026-11-${String(number).padStart(2, '0')}T00:00:00.000Z`
}

/** A file of the schema before, with a lead that went, came back and was won, and one that is gone. */
async function oldFile(): Promise<string> {
  const file = join(folderWith(), 'leadsheet.db')
  const old = openSqlite(file)
  const migrations = {
    '001-init': init,
    '002-held-and-doubted': heldAndDoubted,
    '003-scan-truth': scanTruth,
  }
  const { error } = await new Migrator({
    db: old,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest()
  expect(error).toBeUndefined()
  for (const [id, status, updatedAt, removedAt] of [
    ['1', 'won', day(16), null],
    ['2', 'new', day(2), day(9)],
  ]) {
    await sql`INSERT INTO lead (id, pipeline_id, status, tags, created_at, updated_at, status_changed_at,
        first_seen_at, observed_at, removed_at, run_id, raw)
      VALUES (${id}, 'p1', ${status}, '[]', ${day(1)}, ${updatedAt}, ${day(2)},
        ${day(3)}, ${day(17)}, ${removedAt}, 'run', '{}')`.execute(old)
  }
  for (const [id, from, to, status] of [
    ['1', day(2), day(5), 'new'],
    ['1', day(8), day(12), 'new'],
    ['1', day(12), null, 'won'],
    ['2', day(2), day(9), 'new'],
  ]) {
    await sql`INSERT INTO lead_version (lead_id, valid_from, valid_to, observed_at, run_id, pipeline_id, status)
      VALUES (${id}, ${from}, ${to}, ${day(13)}, 'run', 'p1', ${status})`.execute(old)
  }
  await sql`CREATE VIEW stage_move AS SELECT 1 AS of_the_schema_before`.execute(old)
  await old.destroy()
  return file
}

it('a file of the schema before keeps its history, with absences and moves drawn from it', async () => {
  await using store = await openStore(await oldFile(), new Date(day(20)))
  const versions = async (): Promise<unknown[]> => {
    const rows = await store.db
      .selectFrom('lead_version')
      .selectAll()
      .orderBy('lead_id')
      .orderBy('valid_from')
      .execute()
    return rows.map((row) => [row.lead_id, row.status, row.valid_from, row.valid_to])
  }
  const kept = [
    ['1', 'new', day(2), day(5)],
    ['1', 'new', day(8), day(12)],
    ['1', 'won', day(12), null],
    ['2', 'new', day(2), day(9)],
  ]
  expect(await versions()).toEqual(kept)
  const gone = await store.db.selectFrom('lead_gone').selectAll().orderBy('lead_id').execute()
  expect(gone.map((row) => [row.lead_id, row.gone_at, row.returned_at])).toEqual([
    ['1', day(5), day(8)],
    ['2', day(9), null],
  ])
  const moves = await store.db.selectFrom('stage_move').selectAll().execute()
  expect(moves).toMatchObject([
    { lead_id: '1', from_status: 'new', to_status: 'won', moved_at: day(12), source: 'version' },
  ])

  // A state older than the last one that was read does not become the present; a newer one goes on from there.
  await save(store, [lead('1', { status: 'lost', updatedAt: day(14), statusChangedAt: day(14) })], day(20))
  expect(await versions()).toEqual([
    ...kept.slice(0, 2),
    ['1', 'won', day(12), day(14)],
    ['1', 'lost', day(14), day(16)],
    ['1', 'won', day(16), null],
    ...kept.slice(3),
  ])
})

/** Databases as older versions left them. */
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { openSqlite } from '../../src/store/db/sqlite.ts'
import * as init from '../../src/store/migrations/001-init.ts'
import * as heldAndDoubted from '../../src/store/migrations/002-held-and-doubted.ts'
import * as scanTruth from '../../src/store/migrations/003-scan-truth.ts'

export const FIRST_SCHEMA = { '001-init': init }
export const THIRD_SCHEMA = {
  ...FIRST_SCHEMA,
  '002-held-and-doubted': heldAndDoubted,
  '003-scan-truth': scanTruth,
}

const LEADS = sql`INSERT INTO lead (id, pipeline_id, status, score, tags, created_at, updated_at, status_changed_at,
    first_seen_at, observed_at, removed_at, run_id, raw)
  SELECT 'l' || value, 'p1', 'contacted', value, '[]', '2026-11-01T00:00:00.000Z', '2026-11-03T00:00:00.000Z',
    '2026-11-02T00:00:00.000Z', '2026-11-04T00:00:00.000Z', '2026-11-04T00:00:00.000Z',
    CASE value WHEN 3 THEN '2026-11-05T00:00:00.000Z' END, 'r1', '{"id":"l' || value || '"}'
  FROM json_each('[1,2,3]')`
const VERSIONS = [
  sql`INSERT INTO lead_version (lead_id, valid_from, valid_to, observed_at, run_id, pipeline_id, status, score)
    SELECT id, created_at, status_changed_at, created_at, 'r1', pipeline_id, 'new', score FROM lead`,
  sql`INSERT INTO lead_version (lead_id, valid_from, valid_to, observed_at, run_id, pipeline_id, status, score)
    SELECT id, status_changed_at, removed_at, observed_at, 'r1', pipeline_id, status, score FROM lead`,
]
const OTHERS = [
  sql`INSERT INTO pipeline VALUES ('p1', 'One', NULL, '2026', '2026')`,
  sql`INSERT INTO sync_run (id, started_at, mode, parts, outcome) VALUES ('r1', '2026', 'full', '[]', 'ok')`,
  sql`INSERT INTO report_edition VALUES ('e', 'daily', '2026', '2027', 'UTC', '2026', 'r1', '{}', 's', 'h', 't')`,
]

/** Three leads with their history, one of them gone, and what a sync and a report leave beside them. */
export async function makeOlderStore(file: string, schema: Record<string, Migration>): Promise<void> {
  const old = openSqlite(file)
  const migrator = new Migrator({ db: old, provider: { getMigrations: async () => schema } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  for (const statement of [LEADS, ...VERSIONS, ...OTHERS]) await statement.execute(old)
  await old.destroy()
}

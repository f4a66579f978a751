import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { expect, it } from 'vitest'
import * as init from '../../src/store/migrations/001-init.ts'
import * as heldAndDoubted from '../../src/store/migrations/002-held-and-doubted.ts'
import * as scanTruth from '../../src/store/migrations/003-scan-truth.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { folderWith } from '../support/folder.ts'
import { hashTables } from './support/contents.ts'
import { listPoints, type Program, run, runKilledAt } from './support/program.ts'
import { forEachCase, sampleOf } from './support/scale.ts'
import { expectSound } from './support/store.ts'
import { copyOf, databaseIn } from './support/world.ts'

const FIRST = { '001-init': init }
const THIRD = { ...FIRST, '002-held-and-doubted': heldAndDoubted, '003-scan-truth': scanTruth }

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

/** A folder whose database has a schema of the past and a few rows; without migrations an empty file. */
async function openOld(migrations: Record<string, Migration> | null): Promise<string> {
  const folder = folderWith({ 'data/.keep': '' })
  if (migrations === null) {
    writeFileSync(databaseIn(folder), '')
    return folder
  }
  const old = openSqlite(databaseIn(folder))
  const migrator = new Migrator({ db: old, provider: { getMigrations: async () => migrations } })
  expect((await migrator.migrateToLatest()).error).toBeUndefined()
  for (const statement of [LEADS, ...VERSIONS, ...OTHERS]) await statement.execute(old)
  await old.destroy()
  return folder
}

function schemaOf(file: string): string {
  const database = new Database(file)
  const schema = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()
  database.close()
  return JSON.stringify(schema)
}

it.each([
  ['an empty file', null, 0],
  ['the first schema', FIRST, 3],
  ['the third schema', THIRD, 3],
])(
  'a migration killed at any statement leaves the old schema or the new one, and is made by the next run: %s (row 40)',
  async (_name, migrations, leads) => {
    const base = await openOld(migrations)
    const copies = folderWith()
    const programIn = (folder: string): Program => ({
      main: join(import.meta.dirname, 'support/open-store.ts'),
      args: [databaseIn(folder)],
      cwd: folder,
      env: { EVERY_STATEMENT: '1' },
    })
    const unkilled = copyOf(base, copies, 'unkilled')
    const points = await listPoints(programIn(unkilled))
    const before = schemaOf(databaseIn(base))
    const after = schemaOf(databaseIn(unkilled))
    const rows = hashTables(databaseIn(unkilled))
    expect(rows['lead']).toMatch(`${leads} rows`)
    await expectSound(databaseIn(unkilled))

    const numbers = points.flatMap((name, index) => (/^before|^after commit/.test(name) ? [index + 1] : []))
    expect(numbers.length).toBeGreaterThan(50)
    await forEachCase(sampleOf(numbers, 3), async (point) => {
      const folder = copyOf(base, copies, String(point))
      await runKilledAt(point, programIn(folder))
      expect([before, after]).toContain(schemaOf(databaseIn(folder)))
      expect(await run(programIn(folder))).toMatchObject({ status: 0 })
      expect(schemaOf(databaseIn(folder))).toBe(after)
      expect(hashTables(databaseIn(folder))).toEqual(rows)
      await expectSound(databaseIn(folder))
      rmSync(folder, { recursive: true })
    })
  },
  1_200_000,
)

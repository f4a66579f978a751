/** Every table, view and column of a snapshot has an explanation. */
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Dictionary, describeEmpty, readDictionary } from '../../../build/docs/database.ts'
import { publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { PUBLISHED } from '../../../src/store/schema/published.ts'
import { PRIVATE } from '../../support/data/private-tables.ts'
import { ask, publishing } from '../../support/data/publishing.ts'
import { folderWith } from '../../support/folder.ts'
import { startService } from '../../support/service.ts'
import { openEmptyStore } from '../../support/store.ts'
import { openSyncing } from '../../support/syncing.ts'

const NEVER = new AbortController().signal

/** Makes the snapshot of a copy of the reference service. */
async function publishSynced(folder: string) {
  await using service = await startService(folderWith(), new Date('2026-11-21T06:00:00Z'), 20)
  await using syncing = await openSyncing(
    service.url,
    await service.createKey({ name: 'test', scope: 'read' }),
  )
  await syncing.sync({ pageSize: 500, details: { perRun: 100, concurrency: 4 } })
  return await publishSnapshot(publishing(syncing.store, folder), NEVER)
}

describe('the list of what is published', () => {
  it('knows each table of the store, as public or as private', async () => {
    const store = await openEmptyStore()
    const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'table'
      AND name NOT LIKE 'kysely_%' AND name NOT LIKE 'sqlite_%' ORDER BY name`.execute(store.db)
    await store.close()
    expect(rows.map(({ name }) => name)).toEqual([...Object.keys(PUBLISHED), ...PRIVATE].sort())
  })
})

describe('the dictionary', () => {
  let empty: Dictionary
  beforeAll(async () => {
    empty = await describeEmpty()
  })

  it('gives each column of a table one type', () => {
    const tables = empty.tables.filter(({ kind }) => kind === 'table').map(({ table_name }) => table_name)
    const types = empty.columns
      .filter(({ table_name }) => tables.includes(table_name))
      .map(({ type }) => type)
    expect([...new Set(types)].sort()).toEqual(['INTEGER', 'REAL', 'TEXT'])
  })

  it('has a meaning for each table, view and column', () => {
    expect(empty.tables.filter((entry) => entry.meaning === '')).toEqual([])
    const bare = empty.columns.filter((entry) => entry.meaning === '')
    expect(bare.map((entry) => `${entry.table_name}.${entry.column_name}`)).toEqual([])
  })

  it('has a row for each column that there is, itself included', async () => {
    const { file } = await publishSynced(folderWith())
    const columns = ask<{ name: string }>(
      file,
      `SELECT list.name || '.' || info.name AS name
       FROM pragma_table_list AS list, pragma_table_xinfo(list.name) AS info
       WHERE list.schema = 'main' AND list.type IN ('table', 'view')
         AND list.name NOT LIKE 'sqlite_%' ORDER BY 1`,
    )
    const described = ask<{ name: string }>(
      file,
      "SELECT table_name || '.' || column_name AS name FROM dictionary ORDER BY 1",
    )
    expect(described).toEqual(columns)
    expect(columns.map(({ name }) => name)).toContain('dictionary.meaning')
  })

  it('says of a column its type and its place upstream', async () => {
    const { file } = await publishSynced(folderWith())
    const of = (table: string, column: string) =>
      readDictionary(file).columns.find((entry) => entry.table_name === table && entry.column_name === column)
    expect(of('lead', 'company_employees')).toMatchObject({
      source_path: 'company.employees',
      type: 'INTEGER',
    })
    expect(of('lead', 'created_at')).toMatchObject({ source_path: 'created_at' })
    expect(of('lead', 'observed_at')).toMatchObject({ source_path: 'ours' })
    expect(of('lead_now', 'pipeline_name')).toMatchObject({ source_path: 'name' })
    expect(of('lead_now', 'outcome')).toMatchObject({ source_path: 'computed', type: null })
    expect(of('pipeline_stage_stat', 'reached')).toMatchObject({ source_path: 'stages[].reached' })
  })
})

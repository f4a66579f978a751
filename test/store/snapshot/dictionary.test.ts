/** Every table, view and column of a snapshot has an explanation. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Dictionary, describeEmpty, readDictionary } from '../../../build/docs/database.ts'
import { publishSnapshot } from '../../../src/jobs/snapshot/publish-snapshot.ts'
import { PUBLISHED } from '../../../src/store/schema/published.ts'
import { ask, publishing } from '../../support/data/publishing.ts'
import { openSyncedStore } from '../../support/data/synced-store.ts'
import { listTables } from '../../support/data/tables.ts'
import { folderWith } from '../../support/folder.ts'

it('the list of what is published knows each table of the store, as public or as private', async () => {
  const tables = await listTables()
  expect(tables).toEqual(expect.arrayContaining(Object.keys(PUBLISHED)))
  const told = tables.map((name) => `${name}: ${name in PUBLISHED ? 'public' : 'private'}\n`)
  await expect(told.join('')).toMatchFileSnapshot('golden/published.txt')
})

describe('the dictionary', () => {
  let empty: Dictionary
  beforeAll(async () => {
    empty = await describeEmpty()
  })

  it('has a meaning for each table, view and column', () => {
    expect(empty.tables.filter((entry) => entry.meaning === '')).toEqual([])
    const bare = empty.columns.filter((entry) => entry.meaning === '')
    expect(bare.map((entry) => `${entry.table_name}.${entry.column_name}`)).toEqual([])
  })

  it('has a row for each column that there is, itself included, with its type and its place upstream', async () => {
    await using store = await openSyncedStore(2)
    const { file } = await publishSnapshot(publishing(store, folderWith()), new AbortController().signal)
    const columns = ask<{ name: string }>(
      file,
      `SELECT list.name || '.' || info.name AS name
       FROM pragma_table_list AS list, pragma_table_xinfo(list.name) AS info
       WHERE list.schema = 'main' AND list.type IN ('table', 'view')
         AND list.name NOT LIKE 'sqlite_%' ORDER BY 1`,
    )
    const described = readDictionary(file).columns.map((entry) => ({
      name: `${entry.table_name}.${entry.column_name}`,
      type: entry.type,
      source: entry.source_path,
    }))
    expect(described.map(({ name }) => name).toSorted()).toEqual(columns.map(({ name }) => name))
    const told = described.map(({ name, type, source }) => `${name}: ${type}, ${source}\n`)
    await expect(told.join('')).toMatchFileSnapshot('golden/columns.txt')
  })
})

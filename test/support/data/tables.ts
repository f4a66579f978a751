/** The tables of a store. A golden of `dictionary.test.ts` lists which of them are published. */
import { listObjects, openEmptyDatabase } from '../../../src/store/schema/migrate.ts'
import { PUBLISHED } from '../../../src/store/schema/published.ts'

export async function listTables(): Promise<string[]> {
  const tables = listObjects(await openEmptyDatabase()).filter(({ type }) => type === 'table')
  return tables.flatMap(({ name }) => (/^(kysely|sqlite)_/.test(name) ? [] : [name])).sort()
}

/** Lists the tables that only leadsheet itself needs. */
export async function listPrivateTables(): Promise<string[]> {
  return (await listTables()).filter((name) => !(name in PUBLISHED))
}

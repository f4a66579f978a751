/** The schema in PostgreSQL is translated from that of SQLite, and has everything in it. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { translateSchema } from '../../../src/store/postgres/schema-from-sqlite.ts'
import { listObjects, openEmptyDatabase } from '../../../src/store/schema/migrate.ts'
import { VIEWS } from '../../../src/store/schema/views.ts'
import { listTables } from '../../support/data/tables.ts'
import { hasPostgres } from '../../support/postgres.ts'
import { openInPostgres } from '../../support/store.ts'

it('the tables of PostgreSQL are those of SQLite, with their columns, keys, references, checks and indexes', async () => {
  const database = await openEmptyDatabase()
  const statements = translateSchema(listObjects(database))
  const text = statements.map((one) => one.replace(/\s+/g, ' ').replaceAll(', ', ',\n  '))
  await expect(`${text.join(';\n')};\n`).toMatchFileSnapshot('golden/schema.sql.txt')
})

it.skipIf(!hasPostgres)('they are made there, and the views with their columns in order', async () => {
  await using store = await openInPostgres()
  const database = await openEmptyDatabase()
  const { rows } = await sql<{ name: string; column: string }>`
    SELECT table_name AS name, column_name AS column FROM information_schema.columns
    WHERE table_schema = current_schema() ORDER BY ordinal_position`.execute(store.db)
  // SQLite numbers the rows of this table by itself.
  const isOfBoth = ({ name, column }: (typeof rows)[number]) => !(name === 'sync_run' && column === 'rowid')
  for (const name of [...(await listTables()), ...Object.keys(VIEWS)]) {
    const expected = database.prepare<[], { name: string }>(`PRAGMA table_xinfo(${name})`).all()
    const columns = rows.filter((row) => row.name === name && isOfBoth(row)).map(({ column }) => column)
    expect(columns, name).toEqual(expected.map((each) => each.name))
  }
})

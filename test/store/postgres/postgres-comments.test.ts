/** The comments of the schema in PostgreSQL equal the dictionary of the snapshot. */
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { describeEmpty } from '../../../build/docs/database.ts'
import { openStore } from '../../../src/store/open.ts'
import { OWN } from '../../../src/store/schema/published.ts'
import { hasPostgres, newDatabase } from '../../support/postgres.ts'
import { OPENED_AT } from '../../support/store.ts'

interface Comment {
  readonly table_name: string
  readonly column_name: string | null
  readonly meaning: string
}

describe.skipIf(!hasPostgres)('the comments of a schema in PostgreSQL', () => {
  it('say of each table, view and column what the dictionary says', async () => {
    await using store = await openStore(await newDatabase(), OPENED_AT)
    const { rows } = await sql<Comment>`
      SELECT relname AS table_name, attname AS column_name, description AS meaning
      FROM pg_description JOIN pg_class ON pg_class.oid = objoid AND classoid = CAST('pg_class' AS regclass)
      LEFT JOIN pg_attribute ON attrelid = objoid AND attnum = objsubid AND objsubid > 0
      WHERE relnamespace = CAST(current_schema() AS regnamespace)`.execute(store.db)
    const said = new Map(rows.map((row) => [`${row.table_name}.${row.column_name ?? ''}`, row.meaning]))
    const { tables, columns } = await describeEmpty()
    const entries = [...tables.map((table) => ({ ...table, column_name: '' })), ...columns]
    const expected = entries
      .filter(({ table_name }) => !OWN.includes(table_name))
      .map(({ table_name, column_name, meaning }) => [`${table_name}.${column_name}`, meaning])
    expect(expected.length).toBeGreaterThan(200)
    expect(Object.fromEntries(expected.map(([name = '']) => [name, said.get(name)]))).toEqual(
      Object.fromEntries(expected),
    )
  })
})

/**
 * What is published of a store in PostgreSQL, as it was at one moment, in a file that a snapshot is built from as from
 * a store in a file. No private row or column ever comes into it.
 */
import { sql } from 'kysely'
import { type CopiedTable, listCopiedTables } from '../copy/copied-tables.ts'
import { type CopiedRow, readChunks } from '../copy/copy-rows.ts'
import { insertCopies } from '../db/rows.ts'
import { openSqlite } from '../db/sqlite.ts'
import type { Db, Trx } from '../db/store.ts'
import { migrate } from '../schema/migrate.ts'
import { PUBLISHED } from '../schema/published.ts'

/**
 * @param file must not exist; one that is cut short is of no use
 * @throws LeadsheetError store_*, data_unwritable, and the reason of the signal
 */
export async function copyPublished(db: Db, file: string, signal: AbortSignal): Promise<void> {
  const target = openSqlite(file)
  try {
    await makeReady(target, file)
    await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (reading) => {
        await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(reading)
        for (const table of await listCopiedTables())
          if (PUBLISHED[table.name] !== undefined) await copyTable(reading, target, table, signal)
      })
  } finally {
    await target.destroy()
  }
}

/** Rows come as they are and in their order, and of what would undo them nothing goes to the disk. */
async function makeReady(target: Db, file: string): Promise<void> {
  await migrate(target, file)
  await sql`PRAGMA foreign_keys = OFF`.execute(target)
  await sql`PRAGMA synchronous = OFF`.execute(target)
  await sql`PRAGMA journal_mode = MEMORY`.execute(target)
  const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'trigger'`.execute(
    target,
  )
  for (const { name } of rows) await sql`DROP TRIGGER ${sql.ref(name)}`.execute(target)
}

async function copyTable(reading: Trx, target: Db, table: CopiedTable, signal: AbortSignal): Promise<void> {
  const withheld = PUBLISHED[table.name] ?? []
  const columns = table.columns.filter(({ name }) => !withheld.includes(name))
  // The table does not do without them.
  const empty: CopiedRow = Object.fromEntries(withheld.map((name) => [name, '']))
  for await (const { rows } of readChunks(reading, { ...table, columns })) {
    signal.throwIfAborted()
    await insertCopies(
      target,
      table.name,
      withheld.length === 0 ? rows : rows.map((row) => ({ ...row, ...empty })),
    )
  }
}

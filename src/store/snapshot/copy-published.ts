/** Copies the published parts of a PostgreSQL store into a file, from which a snapshot is built. */
import { CompiledQuery, sql } from 'kysely'
import type { CopiedRow, CopiedTable } from '../copy/copied-tables.ts'
import { listCopiedTables, readChunks } from '../copy/copied-tables.ts'
import { insertCopies } from '../db/rows.ts'
import { openSqlite } from '../db/sqlite.ts'
import type { Db, Trx } from '../db/store.ts'
import { migrate } from '../schema/migrate.ts'
import { PUBLISHED } from '../schema/published.ts'

/**
 * Copies the published parts of a PostgreSQL store into an SQLite file from which a snapshot can be built.
 * The copy is from one consistent read of the database. The file never has a private row or column.
 * @param file must not exist; an unfinished file is useless
 * @throws LeadsheetError store_*, data_unwritable; the reason of an aborted signal
 */
export async function copyPublished(db: Db, file: string, signal: AbortSignal): Promise<void> {
  const target = openSqlite(file)
  try {
    const indexes = await makeReady(target, file)
    await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (reading) => {
        await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(reading)
        for (const table of await listCopiedTables())
          if (PUBLISHED[table.name] !== undefined) await copyTable(reading, target, table, signal)
      })
    for (const index of indexes) await target.executeQuery(CompiledQuery.raw(index))
  } finally {
    await target.destroy()
  }
}

/**
 * Prepares the file for copied rows. Checks and triggers are off, because the rows come unchanged and in
 * their order. Nothing is written to the disk to undo a failure.
 * @returns the statements that create the indexes again, which is faster than keeping them up to date
 */
async function makeReady(target: Db, file: string): Promise<string[]> {
  await migrate(target, file)
  await sql`PRAGMA foreign_keys = OFF`.execute(target)
  await sql`PRAGMA synchronous = OFF`.execute(target)
  await sql`PRAGMA journal_mode = MEMORY`.execute(target)
  const { rows } = await sql<{ type: string; name: string; sql: string }>`
    SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql IS NOT NULL`.execute(
    target,
  )
  const indexes = rows.filter(({ type }) => type === 'index')
  for (const { name } of indexes) await sql`DROP INDEX ${sql.ref(name)}`.execute(target)
  for (const { type, name } of rows)
    if (type === 'trigger') await sql`DROP TRIGGER ${sql.ref(name)}`.execute(target)
  return indexes.map((index) => index.sql)
}

async function copyTable(reading: Trx, target: Db, table: CopiedTable, signal: AbortSignal): Promise<void> {
  const withheld = PUBLISHED[table.name] ?? []
  const columns = table.columns.filter(({ name }) => !withheld.includes(name))
  // Gives withheld columns an empty text, because the table has these columns.
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

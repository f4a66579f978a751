/**
 * Drops indexes of SQLite before very many leads are inserted, and restores them afterwards. Building a whole
 * index at once costs a fraction of updating it row by row. The definitions are kept in the database, so that
 * they survive if the process is killed.
 */
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import type { Trx } from './store.ts'

/** The name of the statement that runs after all indexes are restored. No index has this name. */
const LAST = ''

/** Drops the indexes of `lead`, which slow down inserts. `last` runs after they are restored. */
export async function dropIndexes(trx: Trx, last: string): Promise<void> {
  const { rows } = await sql<{ name: string; made: string; drop: string }>`
    SELECT name, sql AS made, 'DROP INDEX ' || format('"%w"', name) AS "drop" FROM sqlite_schema
    WHERE sql IS NOT NULL AND type = 'index' AND tbl_name = 'lead'`.execute(trx)
  for (const { name, made, drop } of rows) {
    await trx.insertInto('sync_dropped_index').values({ name, sql: made }).execute()
    // Because the statement comes from the database itself, nothing in it needs escaping.
    await trx.executeQuery(CompiledQuery.raw(drop))
  }
  await trx.insertInto('sync_dropped_index').values({ name: LAST, sql: last }).execute()
}

/** True during the first load, and after a first load that was killed. */
export async function hasDroppedIndexes(db: Kysely<Tables>): Promise<boolean> {
  const dropped = await db.selectFrom('sync_dropped_index').select('name').executeTakeFirst()
  return dropped !== undefined
}

/**
 * Restores the indexes that this process or a killed process has dropped, each in a transaction of its own, so
 * that other processes can write between two indexes.
 * @throws the reason of an aborted signal; indexes that are not restored by then stay dropped
 */
export async function restoreIndexes(db: Kysely<Tables>, signal: AbortSignal): Promise<void> {
  const dropped = await db.selectFrom('sync_dropped_index').selectAll().orderBy('name', 'desc').execute()
  for (const { name, sql: text } of dropped) {
    signal.throwIfAborted()
    await db.transaction().execute(async (trx) => {
      // Because the statement comes from the database itself, nothing in it needs escaping.
      await trx.executeQuery(CompiledQuery.raw(text))
      await trx.deleteFrom('sync_dropped_index').where('name', '=', name).execute()
    })
  }
}

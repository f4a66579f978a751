/**
 * Drops indexes before very many rows are inserted, and restores them afterwards. Building a whole index at
 * once costs a fraction of updating it row by row. The trigger that counts each inserted lead is dropped with
 * them. The definitions are kept in the database, so that they survive if the process is killed.
 */

import { dirname, resolve } from 'node:path'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import type { IndexJob } from './index-child.ts'
import { fileOf } from './place.ts'
import type { Store, Trx } from './store.ts'
import { askChild, programFile } from './subprocess.ts'

/**
 * The largest number of leads for which this process restores the indexes. For more leads a child process
 * restores them, because a statement that builds a large index blocks the daemon and cannot be interrupted.
 */
const LEADS_IN_PLACE_MAX = 50_000

const COUNTING_TRIGGER = 'lead_count_insert'

/** Drops the indexes of some tables, and the trigger that counts inserted leads. Primary keys stay. */
export async function dropIndexes(trx: Trx, tables: readonly (keyof Tables)[]): Promise<void> {
  const { rows } = await sql<{ name: string; sql: string }>`SELECT name, sql FROM sqlite_schema
    WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (${sql.join(tables)})
      OR name = ${COUNTING_TRIGGER}`.execute(trx)
  if (rows.length > 0) await trx.insertInto('sync_dropped_index').values(rows).execute()
  for (const { name } of rows)
    await sql`DROP ${name === COUNTING_TRIGGER ? sql`TRIGGER` : sql`INDEX`} ${sql.ref(name)}`.execute(trx)
}

/**
 * Tells whether indexes are missing, as they are during the first load and after a first load that was
 * killed.
 */
export async function hasDroppedIndexes(db: Kysely<Tables>): Promise<boolean> {
  const dropped = await db.selectFrom('sync_dropped_index').select('name').executeTakeFirst()
  return dropped !== undefined
}

/**
 * Restores the indexes that this process or a killed process has dropped.
 * @throws the reason of an aborted signal; indexes that are not restored by then stay dropped
 */
export async function restoreIndexes(store: Store, signal: AbortSignal): Promise<void> {
  if (!(await hasDroppedIndexes(store.db))) return
  const { rows } = await sql<{ no: number | null }>`SELECT max(no) AS no FROM lead`.execute(store.db)
  const isLarge = fileOf(store) !== ':memory:' && (rows[0]?.no ?? 0) > LEADS_IN_PLACE_MAX
  // A failure of the child process occurs again below, as a clear error.
  if (isLarge) await restoreInChild(fileOf(store), signal).catch(() => signal.throwIfAborted())
  await makeIndexes(store.db)
}

/** Restores each index in a transaction of its own, so that other processes can write between two indexes. */
async function makeIndexes(db: Kysely<Tables>): Promise<void> {
  for (const { name, sql: text } of await db.selectFrom('sync_dropped_index').selectAll().execute()) {
    await db.transaction().execute(async (trx) => {
      // Because the text comes from the database itself, nothing needs escaping.
      await trx.executeQuery(CompiledQuery.raw(text))
      await trx.deleteFrom('sync_dropped_index').where('name', '=', name).execute()
    })
  }
}

function restoreInChild(file: string, signal: AbortSignal): Promise<null> {
  const script = programFile(import.meta.url, 'index-child')
  return askChild<IndexJob, null>(script, { file: resolve(file) }, { folder: dirname(resolve(file)), signal })
}

/**
 * Indexes put aside while very many rows go in, and made again afterwards: sorted at once they cost a fraction of
 * what they do row by row. Which they are is kept in the file, so that no kill can lose one.
 */

import { dirname, resolve } from 'node:path'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import type { IndexJob } from './index-child.ts'
import { fileOf } from './place.ts'
import type { Store, Trx } from './store.ts'
import { askChild, programFile } from './subprocess.ts'

/** From so many leads on, indexes are made by a child: a statement holds up everything else, and cannot be broken off. */
const LEADS_IN_PLACE_MAX = 50_000

/** Of some tables; primary keys stay. */
export async function dropIndexes(trx: Trx, tables: readonly (keyof Tables)[]): Promise<void> {
  const { rows } = await sql<{ name: string; sql: string }>`SELECT name, sql FROM sqlite_schema
    WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (${sql.join(tables)})`.execute(trx)
  if (rows.length > 0) await trx.insertInto('sync_dropped_index').values(rows).execute()
  for (const { name } of rows) await sql`DROP INDEX ${sql.ref(name)}`.execute(trx)
}

/** While the first load goes on, and after it was killed. */
export async function hasDroppedIndexes(db: Kysely<Tables>): Promise<boolean> {
  const dropped = await db.selectFrom('sync_dropped_index').select('name').executeTakeFirst()
  return dropped !== undefined
}

/**
 * Makes those anew that were put aside, in this run or in one that was killed.
 * @throws the reason of the signal; those that are not made by then stay aside
 */
export async function restoreIndexes(store: Store, signal: AbortSignal): Promise<void> {
  if (!(await hasDroppedIndexes(store.db))) return
  const { rows } = await sql<{ no: number | null }>`SELECT max(no) AS no FROM lead`.execute(store.db)
  const isLarge = fileOf(store) !== ':memory:' && (rows[0]?.no ?? 0) > LEADS_IN_PLACE_MAX
  // What stopped the child shows below again, as the error that it is.
  if (isLarge) await restoreInChild(fileOf(store), signal).catch(() => signal.throwIfAborted())
  await makeIndexes(store.db)
}

/** One by one, each in a transaction of its own, so that others can write between them. */
async function makeIndexes(db: Kysely<Tables>): Promise<void> {
  for (const { name, sql: text } of await db.selectFrom('sync_dropped_index').selectAll().execute()) {
    await db.transaction().execute(async (trx) => {
      // As the file itself had it, so that there is nothing to build or to escape.
      await trx.executeQuery(CompiledQuery.raw(text))
      await trx.deleteFrom('sync_dropped_index').where('name', '=', name).execute()
    })
  }
}

function restoreInChild(file: string, signal: AbortSignal): Promise<null> {
  const script = programFile(import.meta.url, 'index-child')
  return askChild<IndexJob, null>(script, { file: resolve(file) }, { folder: dirname(resolve(file)), signal })
}

/**
 * Drops indexes before very many leads are inserted, and restores them afterwards. Building a whole index at
 * once costs a fraction of updating it row by row. The definitions are kept in the database, so that they
 * survive if the process is killed.
 */

import { dirname, resolve } from 'node:path'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Tables } from '../tables/tables.ts'
import type { IndexJob } from './index-child.ts'
import { fileOf } from './place.ts'
import { isPostgres } from './postgres.ts'
import type { Store, Trx } from './store.ts'
import { askChild, programFile } from './subprocess.ts'

/**
 * The largest number of leads for which this process restores the indexes. For more leads a child process
 * restores them, because a statement that builds a large index blocks the daemon and cannot be interrupted.
 */
const LEADS_IN_PLACE_MAX = 50_000

/**
 * Drops the indexes of `lead`, except unique indexes in PostgreSQL, and in PostgreSQL also the foreign keys that
 * refer to `lead`, because they slow down each insert.
 * @param last a statement to run after the indexes are restored
 * @throws LeadsheetError store_busy where other PostgreSQL connections read leads for long
 */
export async function dropIndexes(trx: Trx, last: string): Promise<void> {
  const dropped = isPostgres(trx) ? await listPostgres(trx) : await listSqlite(trx)
  for (const { name, made, drop } of dropped) {
    await trx.insertInto('sync_dropped_index').values({ name, sql: made }).execute()
    // Because the statement comes from the database itself, nothing in it needs escaping.
    await trx.executeQuery(CompiledQuery.raw(drop))
  }
  await trx.insertInto('sync_dropped_index').values({ name: LAST, sql: last }).execute()
}

/** The name of the statement that runs after all indexes are restored. No index has this name. */
const LAST = ''

interface Dropped {
  readonly name: string
  /** The statement that creates the dropped object again. */
  readonly made: string
  readonly drop: string
}

async function listSqlite(trx: Trx): Promise<Dropped[]> {
  const { rows } = await sql<Dropped>`
    SELECT name, sql AS made, 'DROP ' || type || ' ' || format('"%w"', name) AS "drop" FROM sqlite_schema
    WHERE sql IS NOT NULL AND type = 'index' AND tbl_name = 'lead'`.execute(trx)
  return rows
}

/**
 * The longest wait for other connections that read leads. PostgreSQL looks for a deadlock only after a longer
 * wait, so in a deadlock this transaction fails, and never another one.
 */
const LOCK_WITHIN = '500ms'

async function listPostgres(trx: Trx): Promise<Dropped[]> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_WITHIN)}`.execute(trx)
  await sql`LOCK TABLE lead, lead_raw, lead_fingerprint`.execute(trx)
  const { rows } = await sql<Dropped>`
    SELECT conname AS name, format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname,
      pg_get_constraintdef(oid)) AS made, format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS "drop"
    FROM pg_constraint WHERE contype = 'f' AND confrelid = 'lead'::regclass
      AND conrelid IN ('lead_raw'::regclass, 'lead_fingerprint'::regclass)
    UNION ALL SELECT relname, pg_get_indexdef(indexrelid), format('DROP INDEX %I', relname)
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    WHERE indrelid = 'lead'::regclass AND NOT indisunique`.execute(trx)
  return rows
}

/**
 * Tells whether indexes are missing. They are missing during the first load, and after a first load that was
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
  const isInFile = store.place.kind === 'sqlite' && store.place.file !== ':memory:'
  const { rows } = await sql<{ no: number | null }>`SELECT max(no) AS no FROM lead`.execute(store.db)
  const isLarge = isInFile && (rows[0]?.no ?? 0) > LEADS_IN_PLACE_MAX
  // Ignores a failure of the child process, because `makeIndexes` then tries again and throws a clear error.
  if (isLarge) await restoreInChild(fileOf(store), signal).catch(() => signal.throwIfAborted())
  await makeIndexes(store.db)
}

/** Restores each index in a transaction of its own, so that other processes can write between two indexes. */
async function makeIndexes(db: Kysely<Tables>): Promise<void> {
  const dropped = await db.selectFrom('sync_dropped_index').selectAll().orderBy('name', 'desc').execute()
  for (const { name, sql: text } of dropped) {
    await db.transaction().execute(async (trx) => {
      // Because the statement comes from the database itself, nothing in it needs escaping.
      await trx.executeQuery(CompiledQuery.raw(text))
      await trx.deleteFrom('sync_dropped_index').where('name', '=', name).execute()
    })
  }
}

function restoreInChild(file: string, signal: AbortSignal): Promise<null> {
  const script = programFile(import.meta.url, 'index-child')
  return askChild<IndexJob, null>(script, { file: resolve(file) }, { folder: dirname(resolve(file)), signal })
}

/**
 * Copies a store to another database, table by table, and then compares the rows of both. The target is written
 * in one transaction: until everything is copied and compared, and after a kill, it stays as empty as it was.
 * The source is only read, and no process can write to it meanwhile.
 */
import { createHash, type Hash } from 'node:crypto'
import { dirname } from 'node:path'
import { sql } from 'kysely'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'
import { tidyAfterWrites } from '../db/dialect.ts'
import { DATA_MODE } from '../db/file-system.ts'
import { nameOf, type StorePlace } from '../db/place.ts'
import { isPostgres } from '../db/postgres.ts'
import { insertCopies } from '../db/rows.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { openDatabase, retryWhileBusy } from '../open.ts'
import { listHeldLeases } from '../schedule/lease.ts'
import { type CopiedTable, countRows, listCopiedTables, readChunks } from './copied-tables.ts'

/** A daemon counts as running if its last heartbeat is not older than this. */
const ALIVE_MS = 3 * 60_000

/** A daemon's start or a look at the store fills these tables. They may have rows in an empty target. */
const OF_LOOKING: readonly string[] = ['daemon_uptime', 'config_load', 'stage', 'pipeline']

interface Copying {
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Called with the number of rows that were copied or compared, of all tables. */
  readonly onProgress: (done: number, total: number, table: string) => void
}

export interface TableCopy {
  readonly name: string
  readonly rows: number
  /** The SHA-256 hash of all rows in the order of the key, as hex. Generated columns are left out. */
  readonly sha256: string
}

/**
 * Copies a store.
 * @throws LeadsheetError job_busy if a process uses the source; store_taken if the target has data;
 * store_corrupt if the copy differs from the source; any error of opening the target; the reason of an aborted
 * signal
 */
export async function copyStore(source: Store, to: StorePlace, copying: Copying): Promise<TableCopy[]> {
  if (to.kind === 'sqlite') makeFolders(dirname(to.file), DATA_MODE)
  const target = await retryWhileBusy(() => openDatabase(to))
  try {
    // This transaction takes the write lock but writes nothing, so that the source cannot change meanwhile.
    const copies = await source.db.transaction().execute(async (reading) => {
      await refuseWhileUsed(reading, source.place, copying.now())
      return target.transaction().execute((trx) => copyTables(reading, trx, to, copying))
    })
    await tidyAfterWrites(target)
    return copies
  } finally {
    await target.destroy()
  }
}

/** Refuses a source in use, because the daemon would go on with it, and mail everything a second time. */
async function refuseWhileUsed(db: Db, place: StorePlace, now: Date): Promise<void> {
  const holder = (await listHeldLeases(db, now))[0] ?? (await findDaemon(db, now))
  if (holder === undefined) return
  throw new LeadsheetError(
    'job_busy',
    `A ${holder.name} is running on ${nameOf(place)}: process ${holder.pid} on ${holder.host}`,
    { hint: 'Stop it first; one that was killed counts as gone after three minutes. Nothing was changed.' },
  )
}

/** Finds a daemon by its heartbeat, because a daemon on a shared store has no lease while nothing is due. */
async function findDaemon(db: Db, now: Date) {
  if (!isPostgres(db)) return undefined
  const since = new Date(now.getTime() - ALIVE_MS).toISOString()
  const span = await db
    .selectFrom('daemon_uptime')
    .where('ended_at', 'is', null)
    .where('last_heartbeat_at', '>', since)
    .select(['pid', 'host'])
    .executeTakeFirst()
  return span && { name: 'daemon', ...span }
}

async function copyTables(reading: Trx, trx: Trx, to: StorePlace, copying: Copying): Promise<TableCopy[]> {
  for (const each of [reading, trx])
    if (isPostgres(each)) await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(each)
  const tables = await listCopiedTables()
  await emptyTarget(trx, to, tables)
  let total = 0
  for (const table of tables) total += 2 * (await countRows(reading, table))
  let done = 0
  const addRows = (rows: number, { name }: CopiedTable): void => {
    copying.signal.throwIfAborted()
    done += rows
    copying.onProgress(done, total, name)
  }
  const digests = new Map<CopiedTable, Digest>()
  for (const table of tables) {
    const insert = (rows: Parameters<typeof insertCopies>[2]) => insertCopies(trx, table.name, rows)
    digests.set(table, await readTable(reading, table, addRows, insert))
  }
  await copyInstallation(reading, trx)
  await continueNumbers(trx)
  const copies: TableCopy[] = []
  for (const [table, here] of digests) {
    const there = await readTable(trx, table, addRows)
    if (there.sha256 !== here.sha256) throw unlike(to, table, here, there)
    copies.push({ name: table.name, ...here })
  }
  return copies
}

/** Empties the tables that count as empty. @throws LeadsheetError store_taken if another table has rows */
async function emptyTarget(trx: Trx, to: StorePlace, tables: readonly CopiedTable[]): Promise<void> {
  for (const { name } of tables.toReversed()) {
    if (OF_LOOKING.includes(name)) await sql`DELETE FROM ${sql.table(name)}`.execute(trx)
    const { rows } = await sql`SELECT 1 AS one FROM ${sql.table(name)} LIMIT 1`.execute(trx)
    if (rows.length === 0) continue
    throw new LeadsheetError('store_taken', `${nameOf(to)} is in use already, with rows in ${name}`, {
      hint: 'Copy to a place that is empty: another file, database or schema (?schema=NAME); nothing was changed.',
    })
  }
}

type Digest = Omit<TableCopy, 'name'>

async function readTable(
  db: Db,
  table: CopiedTable,
  onRows: (rows: number, table: CopiedTable) => void,
  insert: (rows: Parameters<typeof insertCopies>[2]) => Promise<void> = async () => {},
): Promise<Digest> {
  const hash: Hash = createHash('sha256')
  let count = 0
  for await (const { rows, cells } of readChunks(db, table)) {
    for (const text of cells) hash.update(text).update('\n')
    await insert(rows)
    count += rows.length
    onRows(rows.length, table)
  }
  return { rows: count, sha256: hash.digest('hex') }
}

async function copyInstallation(reading: Trx, trx: Trx): Promise<void> {
  const installation = await reading.selectFrom('installation').selectAll().executeTakeFirstOrThrow()
  await trx.deleteFrom('installation').execute()
  await trx.insertInto('installation').values(installation).execute()
}

/** Makes PostgreSQL number new rows after the largest copied number. SQLite does this by itself. */
async function continueNumbers(trx: Trx): Promise<void> {
  if (!isPostgres(trx)) return
  const { rows } = await sql<{ table: string; column: string }>`
    SELECT relname AS "table", attname AS "column" FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r' AND attidentity <> ''`.execute(
    trx,
  )
  for (const { table, column } of rows) {
    await sql`SELECT setval(pg_get_serial_sequence(quote_ident(${table}), ${column}),
      coalesce(max(${sql.ref(column)}), 0) + 1, false) FROM ${sql.table(table)}`.execute(trx)
  }
}

function unlike(to: StorePlace, { name }: CopiedTable, here: Digest, there: Digest): LeadsheetError {
  const found = `${name} has ${here.rows} rows and its copy ${there.rows}, or they are not the same`
  return new LeadsheetError('store_corrupt', `${nameOf(to)} did not become the same: ${found}`, {
    hint: `Nothing was kept there. See whether the source is sound: ${shellCommand('db check')}.`,
  })
}

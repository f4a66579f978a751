/**
 * Copies a store to another database table by table, and then compares the two row by row. No other process
 * can open the target until the copy is complete. After an interrupted move, the target stays closed, and the
 * next move starts from the beginning. The source is only read, and no process can write to it during the
 * move.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import { tidyAfterWrites, writeUnflushed } from '../db/dialect.ts'
import { DATA_MODE } from '../db/file-system.ts'
import type { StorePlace } from '../db/place.ts'
import { nameOf } from '../db/place.ts'
import { isPostgres } from '../db/postgres.ts'
import { insertCopies } from '../db/rows.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { isStoreThere } from '../db/store-exists.ts'
import type { Violation } from '../invariants/invariants.ts'
import { findViolations } from '../invariants/invariants.ts'
import { openDatabase, retryWhileBusy } from '../open.ts'
import { findHolder } from '../schedule/lease.ts'
import type { CopiedTable, Heard, Progress, TableDigest } from './copied-tables.ts'
import { countRows, countSteps, isSame, listCopiedTables, readChunks, readDigest } from './copied-tables.ts'

/** A process counts as running if its last heartbeat is not older than this. */
const ALIVE_MS = 3 * 60_000

interface Moving extends Heard {
  readonly now: () => Date
}

export interface MovedTable extends TableDigest {
  readonly name: string
}

export interface Moved {
  /** The state of the target before the move. */
  readonly state: TargetState
  /** The copied tables, which have the same rows in both databases. */
  readonly tables: readonly MovedTable[]
  /** The rules of consistent data (invariants) that the target violates. The source violates them too. */
  readonly violations: readonly Violation[]
}

export interface MovePlan {
  readonly state: TargetState
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
}

/**
 * Plans a move without writing anything.
 * @throws LeadsheetError job_busy, store_taken
 */
export async function planMove(source: Store, to: StorePlace, now: Date): Promise<MovePlan> {
  await refuseWhileUsed(source.db, source.place, now)
  const state = (await isStoreThere(to)) ? await readState(to, source.installationId) : 'empty'
  const tables = await listCopiedTables()
  const counts: { name: string; rows: number }[] = []
  for (const table of tables) counts.push({ name: table.name, rows: await countRows(source.db, table) })
  return { state, tables: counts }
}

async function readState(to: StorePlace, sourceId: string): Promise<TargetState> {
  const target = await openTarget(to)
  try {
    return await readTargetState(target, to, sourceId)
  } finally {
    await target.destroy()
  }
}

/**
 * Moves a store.
 * @throws LeadsheetError job_busy if a process uses the source; store_taken; store_unfinished if the copy
 * differs from the source; any error of opening the target; the reason of an aborted signal
 */
export async function moveStore(source: Store, to: StorePlace, moving: Moving): Promise<Moved> {
  if (to.kind === 'sqlite') await mkdir(dirname(to.file), { recursive: true, mode: DATA_MODE })
  const target = await openTarget(to)
  try {
    // This transaction takes the write lock but writes nothing, so that the source cannot change while it is
    // read.
    return await source.db.transaction().execute(async (reading) => {
      if (isPostgres(reading)) await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(reading)
      await refuseWhileUsed(reading, source.place, moving.now())
      const state = await readTargetState(target, to, source.installationId)
      const tables = await listCopiedTables()
      if (state !== 'whole') await copyStore(reading, target, source.place, tables, moving)
      const compared = await compareTables(reading, target, to, tables, state, moving)
      const violations = await findViolations(target, moving.now().toISOString(), 'all')
      if (state !== 'whole') await target.transaction().execute(markWhole)
      await tidyAfterWrites(target)
      return { state, tables: compared, violations }
    })
  } finally {
    await target.destroy()
  }
}

function openTarget(to: StorePlace): Promise<Db> {
  return retryWhileBusy(() => openDatabase(to))
}

/** Refuses a source in use, because whatever a process writes there during the move would be lost. */
async function refuseWhileUsed(db: Db, place: StorePlace, now: Date): Promise<void> {
  const holder = (await findHolder(db, now)) ?? (await findWorker(db, now))
  if (holder === undefined) return
  throw new LeadsheetError(
    'job_busy',
    `A ${holder.name} is running on ${nameOf(place)}: process ${holder.pid} on ${holder.host}`,
    { hint: 'Stop it first; one that was killed counts as gone after three minutes. Nothing was changed.' },
  )
}

/** Finds a daemon by its heartbeat, because a daemon on a shared store has no lease while nothing is due. */
async function findWorker(
  db: Db,
  now: Date,
): Promise<{ name: string; pid: number; host: string } | undefined> {
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

async function copyStore(
  reading: Trx,
  target: Db,
  from: StorePlace,
  tables: readonly CopiedTable[],
  moving: Moving,
): Promise<void> {
  const installation = await reading
    .selectFrom('installation')
    .select(['id', 'created_at'])
    .executeTakeFirstOrThrow()
  await target.transaction().execute(async (trx) => {
    await emptyTables(trx, tables)
    await markBegun(trx, installation, nameOf(from))
  })
  const progress = await countSteps('copy', reading, tables, moving)
  for (const table of tables.filter(({ isCounted }) => !isCounted)) {
    await copyTable(reading, target, table, progress)
  }
  await target.transaction().execute(async (trx) => {
    const counted = tables.filter(({ isCounted }) => isCounted)
    await emptyTables(trx, counted)
    for (const table of counted) await copyTable(reading, trx, table, progress)
    await continueNumbers(trx)
  })
}

async function copyTable(reading: Trx, target: Db, table: CopiedTable, progress: Progress): Promise<void> {
  let done = 0
  for await (const { rows } of readChunks(reading, table)) {
    const insert = (trx: Db): Promise<void> => insertCopies(trx, table.name, rows)
    await (target.isTransaction ? insert(target) : writeUnflushed(target, insert))
    done += rows.length
    progress.tell(table, done)
  }
  progress.end(done)
}

async function compareTables(
  reading: Trx,
  target: Db,
  to: StorePlace,
  tables: readonly CopiedTable[],
  state: TargetState,
  moving: Moving,
): Promise<MovedTable[]> {
  const progress = await countSteps('compare', reading, tables, moving)
  const compared: MovedTable[] = []
  for (const table of tables) {
    const here = await readDigest(reading, table, (rows) => progress.tell(table, rows))
    progress.end(here.rows)
    const there = await readDigest(target, table, (rows) => progress.tell(table, rows))
    progress.end(there.rows)
    if (!isSame(here, there)) throw unlike(to, table, here, there, state)
    compared.push({ name: table.name, ...there })
  }
  return compared
}

function unlike(
  to: StorePlace,
  { name }: CopiedTable,
  here: TableDigest,
  there: TableDigest,
  state: TargetState,
): LeadsheetError {
  const found = `${name} has ${here.rows} rows where it is moved from and ${there.rows} there, or not the same ones`
  return state === 'whole'
    ? new LeadsheetError(
        'store_taken',
        `${nameOf(to)} has been moved to before, and is in use since: ${found}`,
        {
          hint: 'Go on with the one there; nothing was changed.',
        },
      )
    : new LeadsheetError('store_unfinished', `${nameOf(to)} did not become the same: ${found}`, {
        hint: 'The store that it is moved from is as it was. Look for what else writes there, and run the command again.',
      })
}

/**
 * The state of the target. `begun`: a move was interrupted, and no other process can open the target.
 * `whole`: a move has ended, and the target may already be in use.
 */
type TargetState = 'empty' | 'begun' | 'whole'

/**
 * Tables that get rows when a daemon starts or a person looks at the store. A target with rows in these
 * tables alone still counts as empty.
 */
const OF_LOOKING: readonly string[] = ['daemon_uptime', 'stage', 'pipeline']

/**
 * Reads the state of the target.
 * @throws LeadsheetError store_taken if the target has data of another installation
 */
async function readTargetState(db: Db, place: StorePlace, sourceId: string): Promise<TargetState> {
  const found = await db.selectFrom('installation').selectAll().executeTakeFirst()
  if (found?.id === sourceId) return found.moving_from === null ? 'whole' : 'begun'
  for (const { name } of await listCopiedTables()) {
    if (OF_LOOKING.includes(name)) continue
    const { rows } = await sql`SELECT 1 AS one FROM ${sql.table(name)} LIMIT 1`.execute(db)
    if (rows.length > 0) throw taken(place, name)
  }
  return 'empty'
}

function taken(place: StorePlace, table: string): LeadsheetError {
  return new LeadsheetError(
    'store_taken',
    `${nameOf(place)} is another installation, with rows in ${table}`,
    {
      hint: 'Move to a place that is empty: another file, database or schema (?schema=NAME); nothing was changed.',
    },
  )
}

/** Changes the state of the target to `begun`. From now on no other process can open the target. */
async function markBegun(
  trx: Trx,
  installation: { readonly id: string; readonly created_at: string },
  from: string,
): Promise<void> {
  await trx.deleteFrom('installation').execute()
  await trx
    .insertInto('installation')
    .values({ ...installation, moving_from: from })
    .execute()
}

async function markWhole(trx: Trx): Promise<void> {
  await trx.updateTable('installation').set({ moving_from: null }).execute()
}

async function emptyTables(trx: Trx, tables: readonly CopiedTable[]): Promise<void> {
  if (isPostgres(trx)) {
    // Because the tables refer to one another, they are truncated together, with all tables that depend on
    // them.
    await sql`TRUNCATE ${sql.join(tables.map(({ name }) => sql.table(name)))} CASCADE`.execute(trx)
    return
  }
  for (const { name } of tables.toReversed()) await sql`DELETE FROM ${sql.table(name)}`.execute(trx)
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

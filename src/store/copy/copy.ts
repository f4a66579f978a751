/**
 * Moves a store to another database with all its history: copies it table by table, and compares it row by row. The
 * target cannot be opened until all of it is there; a move that is cut off leaves it so, and the next one starts over.
 * The source is only read, and nobody writes it meanwhile.
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sql } from 'kysely'
import { LeadsheetError } from '../../errors.ts'
import { settleWrites, writeUnflushed } from '../db/dialect.ts'
import { nameOf, type StorePlace } from '../db/place.ts'
import { isPostgres } from '../db/postgres.ts'
import { insertCopies } from '../db/rows.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { isStoreThere } from '../db/store-exists.ts'
import { findViolations, type Violation } from '../invariants/invariants.ts'
import { openDatabase, retryWhileBusy } from '../open.ts'
import { findHolder } from '../schedule/lease.ts'
import { type CopiedTable, listCopiedTables } from './copied-tables.ts'
import { countSteps, type Heard, type Progress } from './copy-progress.ts'
import { countRows, readChunks } from './copy-rows.ts'
import {
  continueNumbers,
  emptyTables,
  markBegun,
  markWhole,
  readTargetState,
  type TargetState,
} from './copy-target.ts'
import { isSame, readDigest, type TableDigest } from './digest.ts'

/** A process that has given a sign of life since is taken to run. */
const ALIVE_MS = 3 * 60_000

export interface Moving extends Heard {
  readonly now: () => Date
}

export interface MovedTable extends TableDigest {
  readonly name: string
}

export interface Moved {
  /** What was found there. */
  readonly state: TargetState
  /** Each was the same in both. */
  readonly tables: readonly MovedTable[]
  /** Rules of the store that do not hold there; they did not where it came from either. */
  readonly violations: readonly Violation[]
}

export interface MovePlan {
  readonly state: TargetState
  readonly tables: readonly { readonly name: string; readonly rows: number }[]
}

/**
 * What a move would do; nothing is written.
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
 * @throws LeadsheetError job_busy where something runs on the source; store_taken; store_unfinished where what came is
 * not what was sent; what opening the target throws; and the reason of the signal
 */
export async function moveStore(source: Store, to: StorePlace, moving: Moving): Promise<Moved> {
  if (to.kind === 'sqlite') await mkdir(dirname(to.file), { recursive: true })
  const target = await openTarget(to)
  try {
    // Its turn to write is held and not used: what is read is one state, and the last one.
    return await source.db.transaction().execute(async (reading) => {
      if (isPostgres(reading)) await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(reading)
      await refuseWhileUsed(reading, source.place, moving.now())
      const state = await readTargetState(target, to, source.installationId)
      const tables = await listCopiedTables()
      if (state !== 'whole') await copyStore(reading, target, source.place, tables, moving)
      const compared = await compareTables(reading, target, to, tables, state, moving)
      const violations = await findViolations(target, moving.now().toISOString(), 'all')
      if (state !== 'whole') await target.transaction().execute(markWhole)
      await settleWrites(target)
      return { state, tables: compared, violations }
    })
  } finally {
    await target.destroy()
  }
}

function openTarget(to: StorePlace): Promise<Db> {
  return retryWhileBusy(() => openDatabase(to))
}

/** Who works on it would go on there, and what comes of that be lost. */
async function refuseWhileUsed(db: Db, place: StorePlace, now: Date): Promise<void> {
  const holder = (await findHolder(db, now)) ?? (await findWorker(db, now))
  if (holder === undefined) return
  throw new LeadsheetError(
    'job_busy',
    `A ${holder.name} is running on ${nameOf(place)}: process ${holder.pid} on ${holder.host}`,
    { hint: 'Stop it first; one that was killed counts as gone after three minutes. Nothing was changed.' },
  )
}

/** Those that share a store hold no lease while nothing is due. */
async function findWorker(
  db: Db,
  now: Date,
): Promise<{ name: string; pid: number; host: string } | undefined> {
  if (!isPostgres(db)) return undefined
  const since = new Date(now.getTime() - ALIVE_MS).toISOString()
  const span = await db
    .selectFrom('daemon_span')
    .where('ended_at', 'is', null)
    .where('last_tick_at', '>', since)
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

/**
 * Replaces the store by a backup, and keeps the old file under another name. At every moment there is a file
 * with the name of the store. Otherwise a daemon could find no file, start with an empty store, and send
 * messages a second time.
 */
import { existsSync } from 'node:fs'
import { constants, copyFile, link, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import Database from 'better-sqlite3'
import { LeadsheetError } from '../../errors.ts'
import { makeFolders } from '../../folder.ts'
import { DATA_MODE } from '../db/file-system.ts'
import { openSqlite } from '../db/sqlite.ts'
import type { Store, Trx } from '../db/store.ts'
import { openStore } from '../open.ts'
import { UNCONFIRMED_MAX } from '../outbox/delivery.ts'
import { takePreferences } from '../reports/preference.ts'
import { listHeldLeases } from '../schedule/lease.ts'
import { fileSystemFailure, flush, readBackup } from './backup.ts'
import type { BackupContent } from './backup-check.ts'

/** The longest wait for another program to release the database that is to be replaced. */
const HOLD_WITHIN_MS = 2_000

/** The messages that may have been sent, and the schedules that may have run, after the backup was made. */
export interface Unknown {
  /**
   * The number of messages that are not sent according to the backup. Because they may have been sent after
   * the backup was made, a person has to decide about each.
   */
  readonly messages: number
  /** The names of the report schedules. Their scheduled runs up to now are skipped. */
  readonly schedules: readonly string[]
}

interface Restored {
  readonly content: BackupContent
  readonly unknown: Unknown
  readonly before: string | null
}

/**
 * Restores a backup. An error leaves the store unchanged.
 * @param file the store to replace; it need not exist
 * @throws LeadsheetError usage_invalid, store_corrupt, store_newer, store_busy, job_busy, data_unwritable
 */
export async function restoreBackup(
  backup: string,
  file: string,
  now: Date,
  signal: AbortSignal,
): Promise<Restored> {
  const content = await readBackup({ live: null, file: resolve(backup) }, signal)
  const staged = `${file}.restoring-${process.pid}`
  try {
    makeFolders(dirname(file), DATA_MODE)
    await copyFile(backup, staged)
    const unknown = await prepare(staged, backup, now)
    await flush(staged)
    signal.throwIfAborted()
    const before = existsSync(file) ? await putInPlace(staged, file, now) : null
    if (before === null) await rename(staged, file)
    await flush(dirname(file))
    return { content, unknown, before }
  } catch (thrown) {
    for (const side of ['', '-wal', '-shm']) await rm(`${staged}${side}`, { force: true })
    throw fileSystemFailure(file, thrown) ?? thrown
  }
}

/** Migrates the copy of the backup to the present schema, and makes sure that nothing is sent twice. */
async function prepare(staged: string, backup: string, now: Date): Promise<Unknown> {
  await using store = await openStore(staged, now)
  await takePreferences(store, dirname(staged))
  // Without `await`, the store would be closed before the work begins.
  return await repairAfterRestore(store, backup, now)
}

/**
 * Makes sure that a restored store sends nothing twice. Call this function before anything else works on the
 * store.
 * @param from the name of the backup, for texts that people read
 */
export async function repairAfterRestore(store: Store, from: string, now: Date): Promise<Unknown> {
  return store.write(async (trx) => {
    await trx.deleteFrom('lease').execute()
    const reason = `restored from ${from}: it may have been sent since that was made`
    return {
      messages: await markUnconfirmed(trx, now, reason),
      schedules: await skipReports(trx, now, reason),
    }
  })
}

/**
 * Marks each message that was not sent as unconfirmed, with the highest `unconfirmed_count`. Then leadsheet
 * does not send the message by itself, but shows it until a person decides.
 */
async function markUnconfirmed(trx: Trx, now: Date, response: string): Promise<number> {
  const moved = await trx
    .updateTable('delivery')
    .where('state', 'in', ['pending', 'sending', 'data', 'unconfirmed'])
    .set({
      state: 'unconfirmed',
      unconfirmed_count: UNCONFIRMED_MAX,
      state_at: now.toISOString(),
      next_attempt_at: null,
      reply_code: null,
      is_refusal: 0,
      response,
    })
    .executeTakeFirst()
  return Number(moved.numUpdatedRows)
}

/**
 * Skips the scheduled runs of reports up to now, and adds a skipped run for this moment to each schedule. The
 * schedule continues from there.
 */
async function skipReports(trx: Trx, now: Date, message: string): Promise<string[]> {
  const at = now.toISOString()
  const end = { state: 'skipped' as const, finished_at: at, message }
  await trx
    .updateTable('scheduled_run')
    .where('schedule', 'like', 'report:%')
    .where('state', 'in', ['pending', 'running', 'held'])
    .set(end)
    .execute()
  const schedules = await trx
    .selectFrom('scheduled_run')
    .where('schedule', 'like', 'report:%')
    .select('schedule')
    .distinct()
    .execute()
  for (const { schedule } of schedules) {
    await trx
      .insertInto('scheduled_run')
      .values({ schedule, due_at: at, noted_at: at, attempts: 0, ...end })
      .onConflict((conflict) => conflict.columns(['schedule', 'due_at']).doNothing())
      .execute()
  }
  return schedules.map(({ schedule }) => schedule)
}

async function putInPlace(staged: string, file: string, now: Date): Promise<string> {
  const before = `${file}.before-restore-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`
  const isDamaged = await refuseWhileUsed(file, now)
  const hold = isDamaged ? null : holdAlone(file)
  try {
    // Links the file to the new name, or copies it where the file system has no hard links.
    await link(file, before).catch(() => copyFile(file, before, constants.COPYFILE_EXCL))
    // Moves the write-ahead log of a damaged file together with the file. Otherwise SQLite would apply the
    // log to the new file.
    if (existsSync(`${file}-wal`)) await rename(`${file}-wal`, `${before}-wal`)
    await rm(`${file}-shm`, { force: true })
    await rename(staged, file)
  } finally {
    hold?.close()
  }
  return before
}

/**
 * Throws where the leases in a file show that another process uses the file. Returns true for a damaged file,
 * because its leases cannot be read.
 */
async function refuseWhileUsed(file: string, now: Date): Promise<boolean> {
  try {
    const db = openSqlite(file)
    try {
      const [holder] = await listHeldLeases(db, now)
      if (holder === undefined) return false
      throw new LeadsheetError(
        'job_busy',
        `A ${holder.name} is running on ${file}: process ${holder.pid} on ${holder.host}`,
        { hint: 'Stop it first; nothing was changed.' },
      )
    } finally {
      await db.destroy()
    }
  } catch (thrown) {
    if (thrown instanceof LeadsheetError && thrown.code === 'store_corrupt') return true
    throw thrown
  }
}

/**
 * Locks the file for this process alone, and removes its write-ahead log. Without the lock, another program
 * could keep the old file open. When that program ends, it would delete the log of the new file.
 */
function holdAlone(file: string): Database.Database {
  const database = new Database(file, { timeout: HOLD_WITHIN_MS })
  try {
    database.pragma('journal_mode = DELETE')
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database.close()
    if (!(cause instanceof Database.SqliteError) || !cause.code.startsWith('SQLITE_BUSY')) throw cause
    throw new LeadsheetError('store_busy', `${file} is open in another program`, {
      hint: 'Close it first (the daemon, sqlite3 or the like); nothing was changed.',
      cause,
    })
  }
}

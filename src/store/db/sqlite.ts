/** The operations that only SQLite needs. The driver is in `sqlite-driver.ts`. */
import { closeSync, existsSync, openSync, readSync, statSync, truncateSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect, type SqliteStatement, sql, type Transaction } from 'kysely'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Tables } from '../tables/tables.ts'
import { dialectOf } from './sqlite-driver.ts'

/** Short, because a wait inside SQLite stops the thread. The driver waits longer between attempts. */
const BUSY_TIMEOUT_MS = 5
/** Long, because a reader has nothing else to do. Closing locks the file for a moment. */
const READER_TIMEOUT_MS = 10_000
const MODE = 0o600
/**
 * The number of pages in the log (32 MB) after which a commit moves the log into the database. Changes of
 * leads write the same index pages again and again. If moves are rare, each of these pages is moved less
 * often.
 */
const CHECKPOINT_PAGES = 8000
const MEMORY = ':memory:'

export type Missing = 'create' | 'refuse'

/**
 * Opens or creates the file. The database has a write-ahead log, flushes every commit to the disk except in
 * {@link writeUnflushedSqlite}, and checks foreign keys.
 * @throws LeadsheetError data_unwritable, store_corrupt, store_busy, store_lost
 */
export function openSqlite(file: string, missing: Missing = 'create'): Kysely<Tables> {
  const database = openFile(file, missing)
  const opened = file === MEMORY ? null : identityOf(file)
  let watch: Watch | null = null
  const findLoss = () => (file === MEMORY ? null : lossOf(file, opened, watch))
  const endLog = (): void => {
    if (watch?.isOverwritten()) truncateSync(`${file}-wal`)
    else database.pragma('wal_checkpoint(TRUNCATE)')
  }
  const losses = { findLoss, endLog }
  const db = new Kysely<Tables>({ dialect: dialectOf(database, (cause) => fileFailure(file, cause), losses) })
  watchers.set(db, () => {
    watch ??= watchOf(file)
  })
  return db
}

/** Identifies a file on this machine whatever its name is; null where there is no file. */
function identityOf(file: string): string | null {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}

/**
 * Returns the error where the file, or a watched file beside it, was deleted, moved or replaced since it was
 * opened, or where the file was overwritten. SQLite would go on writing to the old file, which nobody reads
 * any more, or mix the contents of both.
 */
function lossOf(file: string, opened: string | null, watch: Watch | null): LeadsheetError | null {
  const files = [[file, opened] as const, ...(watch?.beside ?? [])]
  const lost = files.find(([path, identity]) => identityOf(path) !== identity)?.[0]
  if (lost === undefined && !watch?.isOverwritten()) return null
  const how =
    lost === undefined
      ? 'overwritten by another file'
      : identityOf(lost) === null
        ? 'deleted or moved away'
        : 'replaced by another file'
  const isPart = lost !== undefined && lost !== file
  const what = isPart ? `${lost}, a part of the database,` : `The database ${file}`
  // The contents of a lost part are moved into the database when it is closed, so nothing needs to be put back.
  const restore = isPart ? '' : `, put the file or a backup back (${shellCommand('db restore FILE')})`
  return new LeadsheetError('store_lost', `${what} was ${how} while it was open`, {
    hint: `Nothing more is written. Stop what still runs on it${restore}, and start again.`,
  })
}

/** Watches the files of an open database from the outside, while a daemon runs on it. */
interface Watch {
  /** The paths of the log and of the shared memory, with their identities. */
  readonly beside: readonly (readonly [path: string, identity: string | null])[]
  /** Returns whether another database was copied over the file, which then still is the same file. */
  isOverwritten(): boolean
}

const watchers = new WeakMap<Kysely<Tables>, () => void>()

/** Later transactions check log, shared memory and file. Must follow a write, which makes these files. */
export function watchSqlite(db: Kysely<Tables>): void {
  watchers.get(db)?.()
}

/** The size of the header of an SQLite file, and the places of its write version and its change counter. */
const HEADER = { bytes: 100, writeVersion: 18, changes: 24 } as const

function watchOf(file: string): Watch | null {
  if (file === MEMORY) return null
  // The descriptor is never closed: closing it would drop the locks that SQLite has on the file.
  const descriptor = openSync(file, 'r')
  const header = Buffer.alloc(HEADER.bytes)
  const isRead = () => readSync(descriptor, header, { position: 0 }) === HEADER.bytes
  const version = isRead() ? header[HEADER.writeVersion] : undefined
  let changes = 0
  let isOverwritten = version === undefined
  return {
    beside: ['-wal', '-shm']
      .map((name) => [file + name, identityOf(file + name)] as const)
      .filter(([, identity]) => identity !== null),
    isOverwritten() {
      // A backup has another version, because it has no log, or it has had fewer changes.
      isOverwritten ||=
        !isRead() || header[HEADER.writeVersion] !== version || header.readUInt32BE(HEADER.changes) < changes
      changes = header.readUInt32BE(HEADER.changes)
      return isOverwritten
    },
  }
}

/** Opens a file read-only and creates none beside it, while another process may write. */
export function openReader(file: string): Kysely<Tables> {
  // Without a write-ahead log no process has the file open, so the file does not change. SQLite must be told
  // so, because it would create its shared files, or fail in a folder that is read-only.
  if (!existsSync(`${file}-wal`)) return openUnchanging(file)
  const database = new Database(file, { readonly: true, timeout: READER_TIMEOUT_MS })
  return new Kysely<Tables>({ dialect: dialectOf(database, (cause) => fileFailure(file, cause)) })
}

/** Opens a file that no process changes. Only Node's own SQLite takes the option for it, in a URL. */
function openUnchanging(file: string): Kysely<Tables> {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  const tell = <T>(work: () => T): T => {
    try {
      return work()
    } catch (cause) {
      throw fileFailure(file, cause) ?? cause
    }
  }
  const database = tell(() => new DatabaseSync(url, { readOnly: true }))
  const prepare = (text: string): SqliteStatement => {
    const statement = tell(() => database.prepare(text))
    const valuesOf = (given: readonly unknown[]) => given as SQLInputValue[]
    return {
      reader: statement.columns().length > 0,
      all: (given) => tell(() => statement.all(...valuesOf(given)).map(withBuffers)),
      run: (given) => tell(() => statement.run(...valuesOf(given))),
      iterate: (given) => statement.iterate(...valuesOf(given)).map(withBuffers),
    }
  }
  const dialect = new SqliteDialect({ database: { prepare, close: () => database.close() } })
  return new Kysely<Tables>({ dialect })
}

function withBuffers(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row))
    if (value instanceof Uint8Array) row[name] = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return row
}

function openFile(file: string, missing: Missing): Database.Database {
  let database: Database.Database | undefined
  try {
    if (file !== MEMORY && missing === 'create') createPrivate(file)
    else if (missing === 'refuse' && !hasBytes(file)) throw notThere(file)
    database = new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: missing === 'refuse' })
    // A file of another program stays unchanged to the byte. The migration then refuses the file.
    if (isOursOrNew(database)) database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    database.pragma('foreign_keys = ON')
    database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    database.pragma('journal_size_limit = 67108864')
    return database
  } catch (cause) {
    database?.close()
    if (cause instanceof LeadsheetError) throw cause
    throw fileFailure(file, cause) ?? unwritable(file, cause)
  }
}

/** False for no file, and for an empty one that a full disk or a broken copy left. */
export function hasBytes(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size > 0
}

export function notThere(file: string): LeadsheetError {
  return new LeadsheetError('report_no_data', `There is no database ${file} yet`, {
    hint: `${shellCommand('sync')} makes one; or name the folder of another one in data_dir (LEADSHEET_DATA_DIR).`,
  })
}

/** Only this user may read the file, because it holds recipients, messages and the key of links. */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', MODE))
  } catch {
    // Ignores that the file exists already. If the file could not be created, SQLite reports the error when
    // it opens the file.
  }
}

function isOursOrNew(database: Database.Database): boolean {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  return tables.length === 0 || tables.includes('kysely_migration')
}

/** Moves the log into the database, so that its file shrinks. Pages in use stay until the next call. */
export async function emptySqliteLog(db: Kysely<Tables>): Promise<void> {
  await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(db)
}

/**
 * Runs a transaction whose commit does not wait for the disk. Such commits still reach the disk in their
 * order. The connection is reserved until commits wait for the disk again, so that no other transaction runs
 * in between.
 */
export async function writeUnflushedSqlite<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`PRAGMA synchronous = NORMAL`.execute(connection)
    try {
      return await connection.transaction().execute(work)
    } finally {
      await sql`PRAGMA synchronous = FULL`.execute(connection)
    }
  })
}

/** Writes nothing. Node's own SQLite would release this process's locks by closing the file. */
export function isWriteLocked(file: string): boolean {
  try {
    const database = new Database(file, { fileMustExist: true, timeout: 0 })
    try {
      database.exec('BEGIN IMMEDIATE; ROLLBACK')
      return false
    } finally {
      database.close()
    }
  } catch (cause) {
    return codeOf(cause).startsWith('SQLITE_BUSY')
  }
}

/** Turns a problem of the file, folder or disk into an error with a hint; returns null for a bug. */
export function fileFailure(file: string, cause: unknown): LeadsheetError | null {
  const code = codeOf(cause)
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return new LeadsheetError(
      'store_corrupt',
      `${file} is damaged or not a leadsheet database: ${errorText(cause)}`,
      {
        hint: `Nothing was changed. Restore the last backup: ${shellCommand('db restore BACKUP')}. Without one, move ${file} away with its -wal and -shm and run ${shellCommand('sync --new')}, which reads all leads anew; history, reports and what was mailed are then lost.`,
        cause,
      },
    )
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return new LeadsheetError('store_busy', `${file} stays locked by another process`, {
      hint: 'Another program holds a write lock on it; close it or wait, then run the command again.',
      cause,
    })
  }
  return /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code) ? unwritable(file, cause) : null
}

/** The names of the result codes of SQLite that {@link fileFailure} knows. Node's own SQLite gives numbers. */
const CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  if ('errcode' in cause) return CODES[Number(cause.errcode) & 0xff] ?? ''
  return 'code' in cause ? String(cause.code) : ''
}

function unwritable(file: string, cause: unknown): LeadsheetError {
  return new LeadsheetError('data_unwritable', `${file} cannot be written: ${errorText(cause)}`, {
    hint: 'Check that data_dir (LEADSHEET_DATA_DIR) exists, is writable by this user and has space.',
    cause,
  })
}

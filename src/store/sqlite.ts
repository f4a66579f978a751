/**
 * What is peculiar to SQLite, all of it: opening a file, transactions that take the write lock at once,
 * and many rows in one statement. A second dialect replaces this file and the migrations.
 */
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Expression,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { errorText, LeadsheetError } from '../errors.ts'
import type { Tables } from './tables.ts'

/** Short, since a wait inside SQLite stops the whole process; longer waits are ours, between attempts. */
const BUSY_TIMEOUT_MS = 250
const BUSY_ATTEMPTS = 40
const BUSY_PAUSE_MS = 50

/**
 * Opens or creates the file: write-ahead log, every commit on disk, foreign keys checked.
 * @throws LeadsheetError data_unwritable, store_corrupt, store_busy
 */
export function openSqlite(file: string): Kysely<Tables> {
  const database = openFile(file)
  return new Kysely<Tables>({ dialect: dialectOf(database) })
}

function openFile(file: string): Database.Database {
  let database: Database.Database | undefined
  try {
    database = new Database(file, { timeout: BUSY_TIMEOUT_MS })
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    database.pragma('foreign_keys = ON')
    database.pragma('journal_size_limit = 67108864')
    return database
  } catch (cause) {
    database?.close()
    throw fileFailure(file, cause) ?? unwritable(file, cause)
  }
}

/** What a person can do something about: the file, its folder or its disk. Null for a mistake of ours. */
export function fileFailure(file: string, cause: unknown): LeadsheetError | null {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return new LeadsheetError(
      'store_corrupt',
      `${file} is damaged or not a leadsheet database: ${errorText(cause)}`,
      {
        hint: `Nothing was changed. Restore the last backup: leadsheet restore BACKUP. Without one, move ${file} away with its -wal and -shm and run leadsheet sync, which reads all leads anew; history, reports and what was mailed are then lost.`,
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

function unwritable(file: string, cause: unknown): LeadsheetError {
  return new LeadsheetError('data_unwritable', `${file} cannot be written: ${errorText(cause)}`, {
    hint: 'Check that data_dir (LEADSHEET_DATA_DIR) exists, is writable by this user and has space.',
    cause,
  })
}

function dialectOf(database: Database.Database): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new WriteLockDriver(database),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** SQLite changes its schema inside transactions like anything else; Kysely's own adapter does not say so. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/**
 * Takes the write lock when a transaction begins: one that reads first and writes later would fail at its
 * first write whenever another process wrote in between (SQLITE_BUSY_SNAPSHOT).
 */
class WriteLockDriver extends SqliteDriver {
  readonly #file: string

  constructor(database: Database.Database) {
    super({ database })
    this.#file = database.name
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    return {
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
      executeQuery: (query) =>
        connection.executeQuery<never>(query).catch((cause: unknown) => {
          throw fileFailure(this.#file, cause) ?? cause
        }),
    }
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'))
        return
      } catch (thrown) {
        const isBusy = thrown instanceof LeadsheetError && thrown.code === 'store_busy'
        if (!isBusy || attempt === BUSY_ATTEMPTS) throw thrown
        await delay(BUSY_PAUSE_MS)
      }
    }
  }
}

/** Rows for one statement, taken apart by SQLite itself: `{ name: value }` by column, all of the same columns. */
export type Rows<T extends keyof Tables> = readonly Readonly<
  Partial<Record<keyof Tables[T] & string, unknown>>
>[]

/**
 * Inserts many rows by one statement; whole numbers stay whole and text stays text, as JSON has them. Without their
 * names, which SQLite would have to compare.
 * @param conflict what to do where `key` is taken: overwrite the columns of `update` (all if absent, none if empty)
 */
export async function insertRows<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: Rows<T>,
  conflict?: { readonly key: readonly string[]; readonly update?: readonly string[] },
): Promise<void> {
  const first = rows[0]
  if (!first) return
  const columns = Object.keys(first)
  const { key = [], update = columns.filter((column) => !key.includes(column)) } = conflict ?? {}
  const values = sql.join(columns.map((_, index) => sql`value ->> ${sql.lit(index)}`))
  const listed = rows.map((row) => columns.map((column) => Reflect.get(row, column)))
  await sql`INSERT INTO ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    SELECT ${values} FROM jsonb_each(${JSON.stringify(listed)}) WHERE true ${conflict ? onConflict(key, update) : sql``}`.execute(
    db,
  )
}

function onConflict(key: readonly string[], update: readonly string[]): RawBuilder<unknown> {
  const taken = sql`ON CONFLICT (${sql.join(key.map((column) => sql.ref(column)))})`
  if (update.length === 0) return sql`${taken} DO NOTHING`
  const set = update.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`)
  return sql`${taken} DO UPDATE SET ${sql.join(set)}`
}

/** Deletes the rows that have the key of one of these. */
export async function deleteRows<T extends keyof Tables & string>(
  db: Kysely<Tables>,
  table: T,
  rows: Rows<T>,
  key: readonly string[],
): Promise<void> {
  if (rows.length === 0) return
  const columns = sql.join(key.map((column) => sql.ref(column)))
  await sql`DELETE FROM ${sql.table(table)} WHERE (${columns}) IN ${rowsOf(key, rows)}`.execute(db)
}

/** Some columns of rows as a subquery, for `where (x, y) in ...`. */
function rowsOf(columns: readonly string[], rows: readonly object[]): RawBuilder<unknown> {
  const values = columns.map((column) => sql`value ->> ${sql.lit(`$.${column}`)} AS ${sql.ref(column)}`)
  return sql`(SELECT ${sql.join(values)} FROM jsonb_each(${JSON.stringify(rows)}))`
}

/** A list of values as a subquery, for `where x in (...)` of any length. */
export function listOf<T extends string | number>(values: readonly T[]): Expression<T> {
  return sql<T>`(SELECT value FROM json_each(${JSON.stringify(values)}))`
}

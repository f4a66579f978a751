/**
 * The SQLite driver for Kysely. Each transaction takes the write lock when it begins, statements are prepared
 * once, and a batch runs one statement for each of many rows.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import type { DatabaseConnection, Dialect, QueryResult } from 'kysely'
import { CompiledQuery, SqliteAdapter, SqliteDriver, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { LeadsheetError } from '../../errors.ts'

/** The longest time to wait for the write lock of another process. */
const BUSY_WITHIN_MS = 12_000
/** The first pause between two attempts to get the lock. The pause doubles each time. */
const BUSY_PAUSE_MS = 1
const BUSY_PAUSE_MAX_MS = 16
/**
 * After a statement that took longer than this, the driver lets other work of the process run. SQLite blocks
 * the process while a statement runs.
 */
const LONG_MS = 5
const STATEMENTS_MAX = 300

/** A query that runs once for each list of values, and returns no rows. */
interface Batch extends CompiledQuery {
  readonly batch: Iterable<readonly unknown[]>
}

export function batchOf(query: CompiledQuery, batch: Batch['batch']): Batch {
  return { ...query, batch }
}

function isBatch(query: CompiledQuery): query is Batch {
  return 'batch' in query
}

/**
 * Creates the Kysely dialect for SQLite.
 * @param failureOf turns an error of SQLite into an error that an operator can act on; returns null for any
 * other error
 * @param losses what to do about a database whose file is lost; absent for one that is only read
 */
export function dialectOf(
  database: Database.Database,
  failureOf: (cause: unknown) => LeadsheetError | null,
  losses: Losses = { findLoss: () => null, endLog: () => undefined },
): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new WriteLockDriver(database, failureOf, losses),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

interface Losses {
  findLoss(): LeadsheetError | null
  /** Empties the log of a lost database before it is closed. */
  endLog(): void
}

/** Declares that SQLite can change its schema inside transactions. Kysely assumes that it cannot. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/**
 * Takes the write lock when a transaction begins. A transaction that reads first and writes later would fail
 * at its first write if another process wrote in between (SQLITE_BUSY_SNAPSHOT).
 */
class WriteLockDriver extends SqliteDriver {
  readonly #database: Database.Database
  readonly #prepare: (text: string) => Database.Statement<unknown[]>
  readonly #failureOf: (cause: unknown) => LeadsheetError | null
  readonly #findLoss: () => LeadsheetError | null

  constructor(
    database: Database.Database,
    failureOf: (cause: unknown) => LeadsheetError | null,
    { findLoss, endLog }: Losses,
  ) {
    const prepare = prepareOnce(database)
    const close = (): void => {
      // SQLite would leave the log of a file that has lost its name behind, and the next program would apply
      // the log to the file that has the name now.
      try {
        if (findLoss() !== null) endLog()
      } finally {
        database.close()
      }
    }
    super({ database: { prepare, close } })
    this.#findLoss = findLoss
    this.#database = database
    this.#prepare = prepare
    this.#failureOf = failureOf
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection()
    const execute = async (query: CompiledQuery): Promise<QueryResult<never>> => {
      const started = performance.now()
      const result = isBatch(query) ? this.#runBatch(query) : await connection.executeQuery<never>(query)
      if (performance.now() - started > LONG_MS) await new Promise(setImmediate)
      return result
    }
    return {
      streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
      executeQuery: (query) =>
        execute(query).catch((cause: unknown) => {
          throw this.#failureOf(cause) ?? cause
        }),
    }
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const loss = this.#findLoss()
    if (loss !== null) throw loss
    const until = performance.now() + BUSY_WITHIN_MS
    for (let pauseMs = BUSY_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, BUSY_PAUSE_MAX_MS)) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'))
        return
      } catch (thrown) {
        const isBusy = thrown instanceof LeadsheetError && thrown.code === 'store_busy'
        if (!isBusy || performance.now() >= until) throw thrown
        await delay(pauseMs)
      }
    }
  }

  /**
   * Skips the rollback where SQLite has already ended the transaction, for example on a full disk. A rollback
   * would then fail and hide the first error.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection)
  }

  #runBatch({ sql, batch }: Batch): QueryResult<never> {
    const statement = this.#prepare(sql)
    const run = (): void => {
      for (const values of batch) statement.run(values)
    }
    if (this.#database.inTransaction) run()
    else this.#database.transaction(run)()
    return { rows: [] }
  }
}

/**
 * Caches prepared statements, because preparing costs more than most statements take. A statement that is
 * still running is not reused.
 */
function prepareOnce(database: Database.Database): (text: string) => Database.Statement<unknown[]> {
  const statements = new Map<string, Database.Statement<unknown[]>>()
  return (text) => {
    const known = statements.get(text)
    if (known !== undefined && !known.busy) return known
    const statement = database.prepare<unknown[]>(text)
    if (statements.size >= STATEMENTS_MAX) statements.clear()
    statements.set(text, statement)
    return statement
  }
}

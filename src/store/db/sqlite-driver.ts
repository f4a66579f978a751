/**
 * How Kysely talks to SQLite here: with the write lock from the beginning of each transaction, statements that are
 * prepared once, and batches, which run one statement for each of many rows.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { LeadsheetError } from '../../errors.ts'

const BUSY_ATTEMPTS = 120
const BUSY_PAUSE_MS = 50
/** After a statement that took longer, whatever waits in the process gets its turn: SQLite runs in its only thread. */
const LONG_MS = 5
/** Past so many different statements, all are forgotten. */
const STATEMENTS_MAX = 300

/** A query that runs once for each list of values; it gives no rows. */
export interface Batch extends CompiledQuery {
  readonly batch: Iterable<readonly unknown[]>
}

export function batchOf(query: CompiledQuery, batch: Batch['batch']): Batch {
  return { ...query, batch }
}

function isBatch(query: CompiledQuery): query is Batch {
  return 'batch' in query
}

/** @param failureOf what a person can act on, of what SQLite throws; null for anything else */
export function dialectOf(
  database: Database.Database,
  failureOf: (cause: unknown) => LeadsheetError | null,
): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new WriteLockDriver(database, failureOf),
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
  readonly #database: Database.Database
  readonly #prepare: (text: string) => Database.Statement<unknown[]>
  readonly #failureOf: (cause: unknown) => LeadsheetError | null

  constructor(database: Database.Database, failureOf: (cause: unknown) => LeadsheetError | null) {
    const prepare = prepareOnce(database)
    super({ database: { prepare, close: () => database.close() } })
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

  /** SQLite has ended it itself where the disk was full, and would only say so in place of the reason. */
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

/** Preparing costs more than most statements take. One that is under way is not used a second time. */
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

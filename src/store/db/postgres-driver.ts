/**
 * The PostgreSQL driver for Kysely. Writing transactions run one after another, as in SQLite, so that they
 * need no other locks. If a transaction does not wait for the answer to a query, the query is sent together
 * with the next one. The driver waits for a server that is restarting, and turns failures into errors with a
 * hint.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  AbortedTransactionError,
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { connectFailure, postgresFailure } from './postgres-failure.ts'

/** The longest time to retry a connection. A server usually restarts faster. */
const CONNECT_WITHIN_MS = 30_000
const CONNECT_PAUSE_MS = 250

/** The longest wait for the write lock. A longer wait would probably never end. */
const WRITE_LOCK_TIMEOUT = '60s'

/**
 * The query that takes the write lock of a schema until the transaction ends. The query also limits the wait
 * for the lock, and makes the commit wait for the disk whatever the server's settings are.
 */
const ACQUIRE_WRITE_LOCK = prepared(
  CompiledQuery.raw(`SELECT set_config('lock_timeout', '${WRITE_LOCK_TIMEOUT}', true),
    set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),
    pg_advisory_xact_lock(hashtextextended('leadsheet ' || current_schema(), 0))`),
)

/** The maximum number of queries that a connection keeps prepared. Each takes memory of the server. */
const PREPARED_MAX = 100

/**
 * The maximum size of the values of a query that waits for the next query. A larger query is sent at once, so
 * that the server can begin with it.
 */
const WAITING_MAX_BYTES = 64 * 1024

/** Lets `isPostgres` recognize a PostgreSQL database, because no other adapter has this class. */
export class PostgresStoreAdapter extends PostgresAdapter {}

/**
 * Creates the Kysely dialect for PostgreSQL.
 * @param pool a pool whose clients take a query before the previous query has ended (the option `pipeline`)
 * @param name the name of the store, for messages
 */
export function postgresDialect(pool: pg.Pool, name: string): Dialect {
  return {
    createAdapter: () => new PostgresStoreAdapter(),
    createDriver: () => new PostgresStoreDriver(pool, name),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/**
 * Marks a query that runs very often, so that each connection prepares it once. PostgreSQL plans the query
 * for the sizes that the tables have when it is prepared. Therefore the query must be a write, or must read
 * only a small table.
 */
export function prepared<Query extends CompiledQuery>(query: Query): Query & { readonly isPrepared: true } {
  return { ...query, isPrepared: true }
}

/** Checks the result of a query. If the check throws an error, the transaction fails. */
export type Check<Row> = (result: QueryResult<Row>) => void

interface LaterQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly check: Check<Row> | null
}

/**
 * Marks a query that a transaction sends together with its next query. If the marked query fails, the next
 * query throws the error. Outside a transaction the marked query is sent at once.
 */
export function later<Row>(query: CompiledQuery<Row>, check: Check<Row> | null = null): LaterQuery<Row> {
  return { ...query, check }
}

function isLater(query: CompiledQuery): query is LaterQuery {
  return 'check' in query
}

class PostgresStoreDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #name: string

  constructor(pool: pg.Pool, name: string) {
    this.#pool = pool
    this.#name = name
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PipelinedConnection> {
    const until = performance.now() + CONNECT_WITHIN_MS
    for (;;) {
      try {
        return new PipelinedConnection(await this.#pool.connect(), this.#name)
      } catch (cause) {
        const failure = connectFailure(this.#name, cause)
        if (failure.code !== 'store_unreachable' || performance.now() >= until) throw failure
        await delay(CONNECT_PAUSE_MS)
      }
    }
  }

  async beginTransaction(connection: PipelinedConnection, settings: TransactionSettings): Promise<void> {
    await connection.begin(settings)
  }

  async commitTransaction(connection: PipelinedConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: PipelinedConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(connection: PipelinedConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

interface Sent {
  readonly result: Promise<pg.QueryResult>
  readonly check: LaterQuery['check']
}

class PipelinedConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #name: string
  #isInTransaction = false
  #isBroken = false
  /** The queries that wait to be sent together with the next query. */
  #waiting: LaterQuery[] = []
  /** The queries that were sent, and whose results were not yet awaited and checked. */
  #sent: Sent[] = []

  constructor(client: pg.PoolClient, name: string) {
    this.#client = client
    this.#name = name
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (!isLater(query) || !this.#isInTransaction) return resultOf<Row>(await this.#run(query))
    this.#waiting.push(query)
    if (sizeOf(query) > WAITING_MAX_BYTES) {
      // Waits for earlier queries, because several large queries at once would fill the memory.
      await this.#awaitSent()
      this.#sendWith(() => {})
    }
    return { rows: [] }
  }

  streamQuery(): never {
    throw new Error('PostgreSQL: found a query for one row at a time, expected one for all rows')
  }

  /** Begins a transaction. Takes the write lock, unless the transaction only reads. */
  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    const isolation = isolationLevel === undefined ? '' : ` ISOLATION LEVEL ${isolationLevel}`
    const begin = CompiledQuery.raw(`BEGIN${isolation} ${accessMode ?? ''}`)
    this.#isInTransaction = true
    try {
      if (accessMode !== 'read only') this.#waiting.push(later(begin))
      await this.#run(accessMode === 'read only' ? begin : ACQUIRE_WRITE_LOCK)
    } catch (thrown) {
      await this.rollback()
      throw thrown
    }
  }

  async commit(): Promise<void> {
    // Runs the checks before the commit is sent, because a check may refuse the transaction.
    if ([...this.#waiting, ...this.#sent].some(({ check }) => check !== null)) {
      this.#sendWith(() => {})
      await this.#awaitSent()
    }
    const { command } = await this.#run(CompiledQuery.raw('COMMIT')).finally(() => {
      this.#isInTransaction = false
    })
    // PostgreSQL answers COMMIT with ROLLBACK if an earlier query of the transaction has failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    // A commit that failed has already ended the transaction.
    if (!this.#isInTransaction) return
    this.#waiting = []
    await Promise.allSettled(this.#sent.map(({ result }) => result))
    this.#sent = []
    try {
      await this.#run(CompiledQuery.raw('ROLLBACK'))
      this.#isInTransaction = false
    } catch (thrown) {
      this.#isBroken = true
      throw thrown
    }
  }

  release(): void {
    this.#client.release(this.#isBroken)
  }

  /** Sends a query together with the waiting queries, and returns its result. */
  async #run(query: CompiledQuery): Promise<pg.QueryResult> {
    const result = this.#sendWith(() => this.#submit(isLater(query) ? query : later(query)))
    await this.#awaitSent()
    return result
  }

  /** Sends the waiting queries in one packet, together with the queries that `submit` sends. */
  #sendWith<T>(submit: () => T): T {
    const { stream } = this.#client.connection
    stream.cork()
    try {
      for (const query of this.#waiting) this.#submit(query)
      this.#waiting = []
      return submit()
    } finally {
      stream.uncork()
    }
  }

  #submit(query: LaterQuery): Promise<pg.QueryResult> {
    const result = this.#client.query(configOf(query))
    // Ignores a failure here, because `#awaitSent` throws it.
    result.catch(() => {})
    this.#sent.push({ result, check: query.check })
    return result
  }

  /** Waits for the queries that were sent, and checks their results. */
  async #awaitSent(): Promise<void> {
    const sent = this.#sent
    this.#sent = []
    // Waits for all sent queries, even where one has failed, before the next query may be sent.
    await Promise.allSettled(sent.map(({ result }) => result))
    try {
      for (const { result, check } of sent) {
        const found = resultOf(await result)
        check?.(found)
      }
    } catch (cause) {
      const failure = postgresFailure(this.#name, cause)
      // Marks the connection as broken. Otherwise the pool could reuse it before the pool notices that it has
      // ended.
      if (failure?.code === 'store_unreachable') this.#isBroken = true
      throw failure ?? cause
    }
  }
}

function resultOf<Row>({ command, rowCount, rows }: pg.QueryResult): QueryResult<Row> {
  const isWrite = /^(INSERT|UPDATE|DELETE)$/.test(command)
  return { rows, ...(isWrite ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}) }
}

function configOf(query: CompiledQuery): pg.QueryConfig {
  const config = { text: query.sql, values: query.parameters.map(storable) }
  const name = 'isPrepared' in query ? nameOf(query.sql) : undefined
  return name === undefined ? config : { ...config, name }
}

/** The names of the prepared queries by their SQL. */
const names = new Map<string, string>()

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= PREPARED_MAX) return known
  const name = `leadsheet ${names.size}`
  names.set(text, name)
  return name
}

/** Returns the approximate size of a query's values in bytes. */
function sizeOf({ parameters }: CompiledQuery): number {
  return parameters.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 0),
    0,
  )
}

/** Makes a text storable in PostgreSQL: U+FFFD replaces each NUL and each lone surrogate. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

function storable(value: unknown): unknown {
  return typeof value === 'string' ? storableText(value) : value
}

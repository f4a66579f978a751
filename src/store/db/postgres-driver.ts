/**
 * The PostgreSQL driver for Kysely. Writing transactions run one after another, as in SQLite, so that they
 * need no other locks. Queries of a transaction that need no answer at once are sent together with the next
 * one. The driver waits for a server that is restarting, and turns failures into errors with a hint.
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
 * The query that limits the wait for the write lock, makes the commit wait for the disk whatever the server's
 * settings, and takes the write lock of the schema until the transaction ends.
 */
const ACQUIRE_WRITE_LOCK = prepared(
  CompiledQuery.raw(`SELECT set_config('lock_timeout', '${WRITE_LOCK_TIMEOUT}', true),
    set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),
    pg_advisory_xact_lock(hashtextextended('leadsheet ' || current_schema(), 0))`),
)

/** The most queries that a connection keeps prepared. Each of them takes memory of the server. */
const PREPARED_MAX = 100

/** A query with more values does not wait for the next one, so that the server begins with it. */
const WAITING_MAX_BYTES = 64 * 1024

/** Lets `isPostgres` recognize the database, because no other adapter has this class. */
export class PostgresStoreAdapter extends PostgresAdapter {}

/**
 * Creates the dialect.
 * @param pool its clients have to take a query before the last one has ended (`pipeline`)
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
 * Makes a query that each connection prepares once, because it runs very often. PostgreSQL plans it for tables of
 * their size at that time, so it may only write, or read a small table.
 */
export function prepared<Query extends CompiledQuery>(query: Query): Query & { readonly isPrepared: true } {
  return { ...query, isPrepared: true }
}

/** Looks at the result of a query. An error that it throws fails the transaction. */
export type Check<Row> = (result: QueryResult<Row>) => void

interface LaterQuery<Row = unknown> extends CompiledQuery<Row> {
  readonly check: Check<Row> | null
}

/**
 * Makes a query that a transaction sends together with its next query. If it fails, that query fails. Outside
 * a transaction it is sent at once.
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
  /** The queries that are sent with the next one. */
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
      // Only one large query is on its way, so that they do not fill the memory.
      await this.#awaitSent()
      this.#sendWith(() => {})
    }
    return { rows: [] }
  }

  streamQuery(): never {
    throw new Error('PostgreSQL: found a query for one row at a time, expected one for all rows')
  }

  /** Begins a transaction. It takes the write lock, unless it only reads. */
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
    // A check may refuse the transaction, so the commit is sent after it.
    if ([...this.#waiting, ...this.#sent].some(({ check }) => check !== null)) {
      this.#sendWith(() => {})
      await this.#awaitSent()
    }
    const { command } = await this.#run(CompiledQuery.raw('COMMIT')).finally(() => {
      this.#isInTransaction = false
    })
    // PostgreSQL answers a commit so if an earlier query has failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollback(): Promise<void> {
    // A commit that failed has rolled back.
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

  /** Runs a query together with those that wait. */
  async #run(query: CompiledQuery): Promise<pg.QueryResult> {
    const result = this.#sendWith(() => this.#submit(isLater(query) ? query : later(query)))
    await this.#awaitSent()
    return result
  }

  /** Sends the queries that wait, and what `submit` adds to them, in one packet. */
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
    // A failure is thrown when the result is looked at.
    result.catch(() => {})
    this.#sent.push({ result, check: query.check })
    return result
  }

  /** Waits for the queries that were sent. */
  async #awaitSent(): Promise<void> {
    const sent = this.#sent
    this.#sent = []
    // The next query may be sent only after all of them have ended, even where one has failed.
    await Promise.allSettled(sent.map(({ result }) => result))
    try {
      for (const { result, check } of sent) {
        const found = resultOf(await result)
        check?.(found)
      }
    } catch (cause) {
      const failure = postgresFailure(this.#name, cause)
      // The connection is marked, because the pool may notice its end only after giving it to the next query.
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

/** The names of the prepared queries. */
const names = new Map<string, string>()

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= PREPARED_MAX) return known
  const name = `leadsheet ${names.size}`
  names.set(text, name)
  return name
}

/** Returns about how many bytes the values of a query have. */
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

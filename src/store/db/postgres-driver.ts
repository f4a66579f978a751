/**
 * The PostgreSQL driver for Kysely. Writing transactions run one after another, as in SQLite, so that they
 * need no other locks. The driver waits for a server that is restarting, and turns failures into errors with
 * a hint.
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
const ACQUIRE_WRITE_LOCK = `SELECT set_config('lock_timeout', '${WRITE_LOCK_TIMEOUT}', true),
  set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),
  pg_advisory_xact_lock(hashtextextended('leadsheet ' || current_schema(), 0))`

/** Lets `isPostgres` recognize a PostgreSQL database, because no other adapter has this class. */
export class PostgresStoreAdapter extends PostgresAdapter {}

/**
 * Creates the Kysely dialect for PostgreSQL.
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

class PostgresStoreDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #name: string

  constructor(pool: pg.Pool, name: string) {
    this.#pool = pool
    this.#name = name
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const until = performance.now() + CONNECT_WITHIN_MS
    for (;;) {
      try {
        return new PostgresConnection(await this.#pool.connect(), this.#name)
      } catch (cause) {
        const failure = connectFailure(this.#name, cause)
        if (failure.code !== 'store_unreachable' || performance.now() >= until) throw failure
        await delay(CONNECT_PAUSE_MS)
      }
    }
  }

  async beginTransaction(connection: PostgresConnection, settings: TransactionSettings): Promise<void> {
    const { isolationLevel, accessMode } = settings
    const isolation = isolationLevel === undefined ? '' : ` ISOLATION LEVEL ${isolationLevel}`
    const lock = accessMode === 'read only' ? '' : ACQUIRE_WRITE_LOCK
    try {
      await connection.run(CompiledQuery.raw(`BEGIN${isolation} ${accessMode ?? ''}; ${lock}`))
    } catch (thrown) {
      // The connection may have ended, and then only the first error says why.
      await this.rollbackTransaction(connection).catch(() => undefined)
      throw thrown
    }
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    const { command } = await connection.run(CompiledQuery.raw('COMMIT'))
    // PostgreSQL answers COMMIT with ROLLBACK if an earlier query of the transaction has failed.
    if (command === 'ROLLBACK') throw new AbortedTransactionError()
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    try {
      await connection.run(CompiledQuery.raw('ROLLBACK'))
    } catch (thrown) {
      connection.isBroken = true
      throw thrown
    }
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #name: string
  /** The pool closes a broken connection, because it may have ended, or may still be in a transaction. */
  isBroken = false

  constructor(client: pg.PoolClient, name: string) {
    this.#client = client
    this.#name = name
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows } = await this.run(query)
    const isWrite = /^(INSERT|UPDATE|DELETE)$/.test(command)
    return { rows, ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  streamQuery(): never {
    throw new Error('PostgreSQL: found a query for one row at a time, expected one for all rows')
  }

  async run({ sql, parameters }: CompiledQuery): Promise<pg.QueryResult> {
    try {
      return await this.#client.query(sql, parameters.map(storable))
    } catch (cause) {
      const failure = postgresFailure(this.#name, cause)
      // Otherwise the pool could reuse the connection before the pool notices that it has ended.
      if (failure?.code === 'store_unreachable') this.isBroken = true
      throw failure ?? cause
    }
  }

  release(): void {
    this.#client.release(this.isBroken)
  }
}

function storable(value: unknown): unknown {
  return typeof value === 'string' ? storableText(value) : value
}

/** Makes a text storable in PostgreSQL: U+FFFD replaces each NUL and each lone surrogate. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

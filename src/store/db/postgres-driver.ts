/**
 * The PostgreSQL driver for Kysely. Writing transactions run one after another, as in SQLite, so that they
 * need no other locks. The driver waits for a server that is restarting, and turns failures into errors with
 * a hint.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { errorText, LeadsheetError } from '../../errors.ts'

/** The longest time to retry a connection. A server usually restarts faster. */
const CONNECT_WITHIN_MS = 30_000
const CONNECT_PAUSE_MS = 250

export const POOLER_HINT =
  'Connect to PostgreSQL itself: poolers such as PgBouncer keep no settings of a session.'

/** The longest wait for the write lock. A longer wait would probably never end. */
const TURN_TIMEOUT = '60s'

/**
 * The SQL that limits the wait for the write lock, and makes the commit wait for the disk whatever the
 * server's settings.
 */
const SETTINGS_OF_TURN = `SELECT set_config('lock_timeout', '${TURN_TIMEOUT}', true), set_config('synchronous_commit',
  replace(current_setting('synchronous_commit'), 'off', 'on'), true)`

/** Takes the write lock of the schema until the transaction ends. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('leadsheet ' || current_schema(), 0))"

/** Lets `isPostgres` recognize the database, because no other adapter has this class. */
export class PostgresStoreAdapter extends PostgresAdapter {}

/**
 * Creates the dialect.
 * @param name the name of the store, for messages
 */
export function postgresDialect(pool: pg.Pool, name: string): Dialect {
  return {
    createAdapter: () => new PostgresStoreAdapter(),
    createDriver: () => new TurnDriver(pool, name),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class TurnDriver extends PostgresDriver {
  readonly #name: string

  constructor(pool: pg.Pool, name: string) {
    super({ pool })
    this.#name = name
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const until = performance.now() + CONNECT_WITHIN_MS
    for (;;) {
      try {
        return this.#tellingFailures(await super.acquireConnection())
      } catch (cause) {
        const failure = connectFailure(this.#name, cause)
        if (failure.code !== 'store_unreachable' || performance.now() >= until) throw failure
        await delay(CONNECT_PAUSE_MS)
      }
    }
  }

  /** Takes the write lock, unless the transaction only reads. */
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    await super.beginTransaction(connection, settings)
    if (settings.accessMode === 'read only') return
    await connection.executeQuery(CompiledQuery.raw(`${SETTINGS_OF_TURN}; ${LOCK}`))
  }

  /**
   * Changes how a connection runs queries: replaces the characters of parameters that PostgreSQL cannot
   * store, and turns failures into errors with a hint. The connection object itself is changed, because the
   * driver compares connections by identity. A connection of the pool that was already changed stays as it
   * is.
   */
  #tellingFailures(connection: DatabaseConnection): DatabaseConnection {
    if (Object.hasOwn(connection, 'executeQuery')) return connection
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = async <Row>(...[query, ...rest]: Parameters<typeof execute>) => {
      try {
        return await execute<Row>({ ...query, parameters: query.parameters.map(storable) }, ...rest)
      } catch (cause) {
        throw postgresFailure(this.#name, cause) ?? cause
      }
    }
    return connection
  }
}

/** Makes a text storable in PostgreSQL: U+FFFD replaces each NUL and each lone surrogate. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

function storable(value: unknown): unknown {
  return typeof value === 'string' ? storableText(value) : value
}

/**
 * Returns the error for a failed connection. The cause may also be in the address of the store: a wrong
 * password or certificate, or a missing file.
 */
export function connectFailure(name: string, cause: unknown): LeadsheetError {
  const failure = postgresFailure(name, cause)
  if (failure !== null) return failure
  // The driver reports a missing password in the words of its protocol.
  if (/client password must be/.test(errorText(cause))) {
    return new LeadsheetError('store_refused', `${name} asks for a password, and there is none`, {
      hint: 'Write it into the address of the store, percent-encoded, or have it in PGPASSWORD or ~/.pgpass.',
      cause,
    })
  }
  return new LeadsheetError('store_refused', `${name} cannot be connected to: ${errorText(cause)}`, {
    hint: 'Check the address of the store: its password, and sslmode and sslrootcert where the server has TLS.',
    cause,
  })
}

/** Returns an error that an operator can act on; null for a bug. */
export function postgresFailure(name: string, cause: unknown): LeadsheetError | null {
  if (cause instanceof LeadsheetError) return cause
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const text = errorText(cause)
  if (/unsupported startup parameter/.test(text)) {
    return new LeadsheetError('store_refused', `${name} does not take how we connect: ${text}`, {
      hint: POOLER_HINT,
      cause,
    })
  }
  if (isUnreachable(code, text)) {
    return new LeadsheetError('store_unreachable', `${name} cannot be reached: ${text}`, {
      hint: 'Check that PostgreSQL runs there and lets this machine in; what was committed is kept, and the work goes on when it is back.',
      cause,
    })
  }
  if (/^(28|3D000|42501|3F000)/.test(code)) {
    return new LeadsheetError('store_refused', `${name} does not let us in: ${text}`, {
      hint: 'Check user, password and database in the address of the store, and that the user may create its schema.',
      cause,
    })
  }
  if (code === '25006') {
    return new LeadsheetError('store_refused', `${name} can only be read now: ${text}`, {
      hint: 'It may have become a standby: have the address of the store lead to the server that takes writes.',
      cause,
    })
  }
  if (/^(40001|40P01|55P03)/.test(code)) {
    return new LeadsheetError('store_busy', `${name} stays locked by others: ${text}`, {
      hint: 'Another process holds a lock for long; `SELECT * FROM pg_stat_activity` names it.',
      cause,
    })
  }
  if (/^(53|58)/.test(code)) {
    return new LeadsheetError('data_unwritable', `${name} cannot be written: ${text}`, {
      hint: 'Look at the disk and the memory of the PostgreSQL server.',
      cause,
    })
  }
  return null
}

/** Recognizes errors of the network, of a server that starts or stops, and of a closed connection. */
function isUnreachable(code: string, text: string): boolean {
  return (
    /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN)$/.test(
      code,
    ) ||
    /^(08|57P0|53300|25P03)/.test(code) ||
    /Connection terminated|connection timeout|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/i.test(
      text,
    )
  )
}

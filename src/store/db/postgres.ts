/** The operations that only PostgreSQL needs. The folder `postgres/` has more of them. */
import type { Transaction } from 'kysely'
import { CompiledQuery, Kysely, sql } from 'kysely'
import type pg from 'pg'
import { LeadsheetError } from '../../errors.ts'
import { loadPackage } from '../../packages.ts'
import type { Tables } from '../tables/tables.ts'
import type { StorePlace } from './place.ts'
import { PostgresStoreAdapter, postgresDialect } from './postgres-driver.ts'
import { connectFailure, postgresFailure } from './postgres-failure.ts'
import type { Db } from './store.ts'

export type PostgresPlace = Extract<StorePlace, { kind: 'postgres' }>

/** The maximum number of connections of a process: several that read at once, and one that may write. */
const CONNECTIONS_MAX = 6
const CONNECT_TIMEOUT_MS = 10_000
/** The system checks a connection after this idle time, and otherwise only after two hours. */
const KEEP_ALIVE_AFTER_MS = 30_000

/** The schema need not exist yet. With `read`, the server refuses writes except to temporary tables. */
export function openPostgres(place: PostgresPlace, access: 'read' | 'write' = 'write'): Kysely<Tables> {
  const { Pool } = loadPackage('pg')
  const pool = new Pool({
    ...connectionTo(place),
    max: CONNECTIONS_MAX,
    types: { getTypeParser: parserOf },
  })
  // Ignores errors of idle connections, because the pool replaces these connections. Where a connection in
  // use has an error, its next statement fails.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    // A statement, and not an option of the connection, so that `reset_val` keeps the setting of the server. If it
    // fails, the connection is broken, and so the next statement fails too.
    if (access === 'read') client.query('SET default_transaction_read_only = on').catch(() => {})
  })
  return new Kysely<Tables>({ dialect: postgresDialect(pool, place.name) })
}

function connectionTo(place: PostgresPlace): pg.ClientConfig {
  return {
    connectionString: place.url,
    options: sessionOf(place),
    application_name: 'leadsheet',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  }
}

/** A transaction ends after a minute without statements, so that a crashed machine blocks no writer. */
function sessionOf({ schema }: PostgresPlace): string {
  const settings = {
    search_path: schema,
    standard_conforming_strings: 'on',
    timezone: 'UTC',
    client_min_messages: 'warning',
    idle_in_transaction_session_timeout: '60s',
    tcp_keepalives_idle: '30',
    tcp_keepalives_interval: '10',
    tcp_keepalives_count: '3',
    jit: 'off',
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** Returns the parser of a PostgreSQL type. As in SQLite, sums become numbers, and booleans become 1 or 0. */
function parserOf(type: number): (text: string) => unknown {
  const known = parsers.get(type)
  if (known !== undefined) return known
  const { builtins, getTypeParser } = loadPackage('pg').types
  const isNumber = type === builtins.INT8 || type === builtins.NUMERIC
  const isBoolean = type === builtins.BOOL
  const parser = isNumber ? Number : isBoolean ? (text: string) => Number(text === 't') : getTypeParser(type)
  parsers.set(type, parser)
  return parser
}

const parsers = new Map<number, (text: string) => unknown>()

export function isPostgres(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresStoreAdapter
}

export async function countUnknownTables(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT relname AS name FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r' AND reltuples < 0`.execute(
    db,
  )
  for (const { name } of rows) await sql`ANALYZE ${sql.table(name)}`.execute(db)
}

const UNFLUSHED = CompiledQuery.raw('SET LOCAL synchronous_commit = off')

/** The commit does not wait for the disk. Commits keep their order, so a crash loses only the last ones. */
export async function writeUnflushedPostgres<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await trx.executeQuery(UNFLUSHED)
    return work(trx)
  })
}

/** The time limit of {@link quickRead}, which should not wait long for a server that is down. */
const TIMEOUT_MS = 5_000

/**
 * Opens a short connection to read from a schema, without creating the schema.
 * @param table the table that has to exist
 * @returns the result of `look`; undefined where the table does not exist
 * @throws LeadsheetError store_unreachable, store_refused
 */
export async function quickRead<T>(
  place: PostgresPlace,
  table: string,
  look: (client: pg.Client) => Promise<T>,
): Promise<T | undefined> {
  const { Client } = loadPackage('pg')
  const client = new Client({
    ...connectionTo(place),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  })
  // Ignores errors of the connection here, because they also make its query fail.
  client.on('error', () => {})
  try {
    await client.connect().catch((cause: unknown) => {
      throw connectFailure(place.name, cause)
    })
    const { rows } = await client.query('SELECT FROM pg_class WHERE oid = to_regclass($1)', [table])
    return rows.length === 0 ? undefined : await look(client)
  } catch (cause) {
    throw postgresFailure(place.name, cause) ?? cause
  } finally {
    await client.end()
  }
}

/** The facts of a PostgreSQL server that checks look at. A truth value is 1 or 0. */
interface ServerFacts {
  readonly version: string
  readonly major: number
  readonly encoding: string
  /** The clock of the server, in milliseconds since 1970. */
  readonly nowMs: number
  /** 1 if the server refuses writes because it follows another server. */
  readonly isStandby: number
  /** 1 if a setting of the server, the database or the user makes transactions read-only. */
  readonly isReadOnly: number
  readonly connections: number
  readonly connectionsMax: number
}

export async function readServerFacts(db: Db): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    SELECT current_setting('server_version') AS version,
      CAST(current_setting('server_version_num') AS bigint) / 10000 AS major,
      current_setting('server_encoding') AS encoding,
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS double precision) AS "nowMs",
      pg_is_in_recovery() AS "isStandby",
      (SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_read_only') = 'on' AS "isReadOnly",
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
      CAST(current_setting('max_connections') AS bigint)
        - CAST(current_setting('superuser_reserved_connections') AS bigint) AS "connectionsMax"`.execute(db)
  const [facts] = rows
  if (facts === undefined) throw new Error('a SELECT without FROM has one row')
  return facts
}

export async function readSchemaSize(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'm')`.execute(db)
  return rows[0]?.bytes ?? 0
}

/*
 * Detects that the PostgreSQL server has lost recent commits. A crash loses commits that were not flushed,
 * and a standby that takes over lacks commits that it had not received. In both cases PostgreSQL empties
 * unlogged tables. So an unlogged table holds a random marker. A process that remembers what it has written
 * checks that the marker is still the same.
 */

/** The SQL that creates the table `crash_marker`, in PostgreSQL only, because SQLite has no server. */
export const CRASH_MARKER: readonly string[] = [
  `CREATE UNLOGGED TABLE IF NOT EXISTS crash_marker (
    one bigint PRIMARY KEY CHECK (one = 1),
    marker text COLLATE "C" NOT NULL
  )`,
]

const SELECT_MARKER = CompiledQuery.raw('SELECT marker FROM crash_marker')

/** Must run before data is read that the process remembers. {@link checkNoCrash} must run before its use. */
export async function readCrashMarker(db: Kysely<Tables>): Promise<string> {
  if (!isPostgres(db)) return ''
  const { rows } = await db.executeQuery<{ marker: string }>(SELECT_MARKER)
  if (rows[0] !== undefined) return rows[0].marker
  const { rows: begun } = await sql<{ marker: string }>`
    INSERT INTO crash_marker VALUES (1, gen_random_uuid()) ON CONFLICT (one) DO UPDATE SET one = 1
    RETURNING marker`.execute(db)
  return begun[0]?.marker ?? ''
}

/**
 * Checks that nothing was lost since `marker`.
 * @throws LeadsheetError store_unreachable
 */
export async function checkNoCrash(db: Kysely<Tables>, marker: string): Promise<void> {
  if (!isPostgres(db)) return
  const { rows } = await db.executeQuery<{ marker: string }>(SELECT_MARKER)
  if (rows[0]?.marker === marker) return
  throw new LeadsheetError(
    'store_unreachable',
    'PostgreSQL has crashed and may have lost what was written last',
    { hint: 'Nothing is to be done: what was lost is read again.' },
  )
}

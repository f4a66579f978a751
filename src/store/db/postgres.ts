/**
 * What is peculiar to PostgreSQL, with the folder `postgres/`: opening a schema, transactions that take turns, and
 * statements about many rows.
 */
import { Kysely, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { Tables } from '../tables/tables.ts'
import type { StorePlace } from './place.ts'
import { PostgresStoreAdapter, postgresDialect } from './postgres-driver.ts'

export type PostgresPlace = Extract<StorePlace, { kind: 'postgres' }>

/** Of a process: a few that read beside each other, and the one whose turn it is to write. */
const CONNECTIONS_MAX = 6
const CONNECT_TIMEOUT_MS = 10_000
/** Else a machine asks after two hours of silence whether the other is there. */
const KEEP_ALIVE_AFTER_MS = 30_000

const { builtins } = pg.types
/** Counts and sums come as numbers, and whether something is so as 1 or 0, as from SQLite. */
const NUMBERS: ReadonlyMap<number, (text: string) => number> = new Map<number, (text: string) => number>([
  [builtins.INT8, Number],
  [builtins.NUMERIC, Number],
  [builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
])

/** Opens the schema, which need not be there yet; connects with the first statement. */
export function openPostgres(place: PostgresPlace): Kysely<Tables> {
  const pool = new pg.Pool({
    ...connectionTo(place),
    max: CONNECTIONS_MAX,
    types: { getTypeParser: parserOf },
  })
  // One that breaks while nobody uses it is replaced by the next; of any other its next statement tells.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return new Kysely<Tables>({ dialect: postgresDialect(pool, place.name) })
}

export function connectionTo(place: PostgresPlace): pg.ClientConfig {
  return {
    connectionString: place.url,
    options: sessionOf(place),
    application_name: 'leadsheet',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  }
}

/**
 * What each connection begins with. One that is lost in the midst of a transaction, since its machine is, gives its
 * turn back after a minute.
 */
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

function parserOf(type: number): (text: string) => unknown {
  return NUMBERS.get(type) ?? pg.types.getTypeParser(type)
}

/** Whether statements are for PostgreSQL; else they are for SQLite. */
export function isPostgres(db: Kysely<Tables>): boolean {
  return db.getExecutor().adapter instanceof PostgresStoreAdapter
}

/** Those that nobody has counted since they were made. */
export async function countUnknownTables(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ name: string }>`SELECT relname AS name FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r' AND reltuples < 0`.execute(
    db,
  )
  for (const { name } of rows) await sql`ANALYZE ${sql.table(name)}`.execute(db)
}

/**
 * A transaction whose commit does not wait for the disk. Commits reach it in their order, so that what a crash of the
 * server takes away are the last ones.
 */
export async function writeUnflushedPostgres<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await sql`SET LOCAL synchronous_commit = off`.execute(trx)
    return work(trx)
  })
}

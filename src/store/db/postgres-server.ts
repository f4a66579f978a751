/** What a PostgreSQL server says of itself, as far as a store hangs on it. */
import { sql } from 'kysely'
import type { Db } from './store.ts'

export interface ServerState {
  /** Takes no writes: it follows another server. */
  readonly isStandby: boolean
  /** Takes none from this user, or in this database. */
  readonly isReadOnly: boolean
  /** Of all who connect to it. */
  readonly connections: { readonly used: number; readonly most: number }
}

export async function readServerState(db: Db): Promise<ServerState> {
  const { rows } = await sql<{ standby: number; read_only: number; used: number; most: number }>`
    SELECT pg_is_in_recovery() AS standby,
      current_setting('default_transaction_read_only') = 'on' AS read_only,
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
      CAST(current_setting('max_connections') AS bigint)
        - CAST(current_setting('superuser_reserved_connections') AS bigint) AS most`.execute(db)
  const { standby = 0, read_only = 0, used = 0, most = 0 } = rows[0] ?? {}
  return { isStandby: standby === 1, isReadOnly: read_only === 1, connections: { used, most } }
}

export interface ServerFacts {
  /** `15.14` */
  readonly version: string
  /** 15 */
  readonly major: number
  /** `UTF8` */
  readonly encoding: string
  /** Whether it may make tables in the schema, as a new version of leadsheet does. */
  readonly mayCreate: boolean
  readonly now: Date
}

export async function readServerFacts(db: Db): Promise<ServerFacts> {
  const { rows } = await sql<{
    version: string
    number: string
    encoding: string
    may_create: number
    now_ms: number
  }>`
    SELECT current_setting('server_version') AS version, current_setting('server_version_num') AS number,
      current_setting('server_encoding') AS encoding,
      has_schema_privilege(current_schema(), 'CREATE') AS may_create,
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS double precision) AS now_ms`.execute(db)
  const row = rows[0]
  if (row === undefined) throw new Error('a SELECT without FROM has one row')
  return {
    ...{ version: row.version, major: Math.floor(Number(row.number) / 10_000), encoding: row.encoding },
    ...{ mayCreate: row.may_create === 1, now: new Date(row.now_ms) },
  }
}

/** Bytes of all tables of the schema, with their indexes. */
export async function readSchemaSize(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'm')`.execute(db)
  return rows[0]?.bytes ?? 0
}

/** A short look into a schema, by whoever does not want it made, nor to wait for a server that is away. */
import pg from 'pg'
import { connectionTo, type PostgresPlace } from './postgres.ts'
import { connectFailure, postgresFailure } from './postgres-driver.ts'

const TIMEOUT_MS = 5_000

/**
 * @param table without which there is nothing to be seen
 * @returns undefined where there is no such table yet
 * @throws LeadsheetError store_unreachable, store_refused
 */
export async function glance<T>(
  place: PostgresPlace,
  table: string,
  look: (client: pg.Client) => Promise<T>,
): Promise<T | undefined> {
  const client = new pg.Client({
    ...connectionTo(place),
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  })
  // What breaks the connection fails what is asked on it, too.
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

/** Databases of a real PostgreSQL server. Each test gets its own, which is dropped afterwards. */
import { Client } from 'pg'
import { inject, onTestFinished } from 'vitest'
import { missingPostgres } from './postgres/postgres-programs.ts'
import {
  createDatabase,
  databaseUrl,
  dropDatabase,
  renameDatabase,
  withClient,
} from './postgres/postgres-server.ts'
import { isSkippedButInCi } from './process/programs.ts'

/**
 * False if PostgreSQL is not installed. For `describe.skipIf(!hasPostgres)`. On a build server this is an
 * error, because nobody would notice the skip.
 */
export const hasPostgres = !isSkippedButInCi('the store in PostgreSQL', missingPostgres())

/**
 * @param template the URL of a database to copy, from {@link preparedDatabase}
 * @returns its URL, such as `postgres://user:password@127.0.0.1:port/name`. Without a template it is empty
 */
export async function newDatabase(template?: string): Promise<string> {
  admin ??= connectAdmin()
  const client = await admin
  const url = await createDatabase(client, template)
  onTestFinished(() => dropDatabase(client, url))
  return url
}

/**
 * Returns a database to copy. The first caller with this name in a run prepares it, and all others wait and
 * get the same one.
 * @param prepare fills a database that is empty or a copy, and leaves no connection open
 * @returns its URL. The database stays until the run ends
 */
export function preparedDatabase(
  name: string,
  prepare: (url: string) => Promise<void>,
  template?: string,
): Promise<string> {
  const known = prepared.get(name)
  if (known !== undefined) return known
  const preparing = prepareOnce(name, prepare, template)
  prepared.set(name, preparing)
  preparing.catch(() => prepared.delete(name))
  return preparing
}

const prepared = new Map<string, Promise<string>>()

async function prepareOnce(
  name: string,
  prepare: (url: string) => Promise<void>,
  template?: string,
): Promise<string> {
  return withClient(await fetchAdminUrl(), async (client) => {
    // The lock is held until this session ends.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
    const { rows } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rows.length === 0) {
      const url = await createDatabase(client, template)
      await prepare(url)
      // A database gets the name only when it is complete.
      await renameDatabase(client, url, name)
    }
    return databaseUrl(client, name)
  })
}

/** The connection that all tests of a worker share, because connecting takes as long as making a database. */
let admin: Promise<Client> | null = null

async function connectAdmin(): Promise<Client> {
  const client = new Client(await fetchAdminUrl())
  await client.connect()
  return client
}

/** Returns the URL of the server's superuser, for statements that the owner of the databases may not run. */
export async function fetchAdminUrl(): Promise<string> {
  const response = await fetch(inject('postgresDoor'))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

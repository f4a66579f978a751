/** Databases of a real PostgreSQL for a test, each of its own, gone afterwards. */
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

/** For `describe.skipIf(!hasPostgres)`. On a build server, where nobody would notice, its absence is a failure. */
export const hasPostgres = !isSkippedButInCi('the store in PostgreSQL', missingPostgres())

export interface DatabaseOptions {
  /** The URL of a database to copy, as {@link preparedDatabase} gives it. */
  readonly template?: string
}

/** @returns its URL, `postgres://user:password@127.0.0.1:port/name`; empty unless it is a copy */
export async function newDatabase({ template }: DatabaseOptions = {}): Promise<string> {
  admin ??= connectAdmin()
  const client = await admin
  const url = await createDatabase(client, template)
  onTestFinished(() => dropDatabase(client, url))
  return url
}

/**
 * A database to copy: whoever of a run asks first for this name prepares it, and all others wait and get the same.
 * @param prepare fills an empty one, and leaves no connection open
 * @returns its URL; it stays until the run ends
 */
export function preparedDatabase(name: string, prepare: (url: string) => Promise<void>): Promise<string> {
  const known = prepared.get(name)
  if (known !== undefined) return known
  const preparing = prepareOnce(name, prepare)
  prepared.set(name, preparing)
  preparing.catch(() => prepared.delete(name))
  return preparing
}

const prepared = new Map<string, Promise<string>>()

async function prepareOnce(name: string, prepare: (url: string) => Promise<void>): Promise<string> {
  return withClient(await fetchAdminUrl(), async (client) => {
    // Held until this session ends.
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name])
    const { rows } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
    if (rows.length === 0) {
      const url = await createDatabase(client)
      await prepare(url)
      // Only what is whole has the name.
      await renameDatabase(client, url, name)
    }
    return databaseUrl(client, name)
  })
}

/** One for all tests of a worker: to connect costs as much as to make a database. */
let admin: Promise<Client> | null = null

async function connectAdmin(): Promise<Client> {
  const client = new Client(await fetchAdminUrl())
  await client.connect()
  return client
}

/** Of the server's superuser, for what the user may not who has the databases. */
export async function fetchAdminUrl(): Promise<string> {
  const response = await fetch(inject('postgresDoor'))
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

/** A PostgreSQL of one test, that may stop it, crash it and start it again; what it has committed outlives that. */
import { onTestFinished } from 'vitest'
import { createDatabase, openPostgresServer, type PostgresServer, withClient } from './postgres-server.ts'

export interface OwnPostgres extends Pick<PostgresServer, 'start' | 'stop'> {
  /** Of an empty database; the same after each start. */
  readonly url: string
}

/** Runs, and is gone when the test is over. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const server = await openPostgresServer(true)
  onTestFinished(() => server[Symbol.asyncDispose]())
  const url = await withClient(server.adminUrl, (admin) => createDatabase(admin))
  return { url, start: server.start, stop: server.stop }
}

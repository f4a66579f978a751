/**
 * A PostgreSQL server for one test, which can stop it, crash it and start it again. Committed data survive
 * this.
 */
import { onTestFinished } from 'vitest'
import { createDatabase, openPostgresServer, type PostgresServer, withClient } from './postgres-server.ts'

export interface OwnPostgres extends Pick<PostgresServer, 'start' | 'stop'> {
  /** The URL of an empty database. It is the same after each start. */
  readonly url: string
  /** Kills one process of the server. The server then ends all others and recovers by itself in a moment. */
  killProcess(): Promise<void>
}

/** Starts a server. It is removed at the end of the test. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const server = await openPostgresServer(true)
  onTestFinished(() => server[Symbol.asyncDispose]())
  const url = await withClient(server.adminUrl, (admin) => createDatabase(admin))
  return {
    url,
    start: server.start,
    stop: server.stop,
    async killProcess() {
      const pid = await withClient(server.adminUrl, async (admin) => {
        const { rows } = await admin.query(
          "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
        )
        return Number(rows[0]?.pid)
      })
      process.kill(pid, 'SIGKILL')
      await untilBack(server.adminUrl)
    },
  }
}

/** Waits until the server is back. Connections still succeed until it has noticed the killed process. */
async function untilBack(url: string): Promise<void> {
  for (let isAway = false; ; ) {
    try {
      await withClient(url, (admin) => admin.query('SELECT pg_sleep(0.2)'))
      if (isAway) return
    } catch {
      isAway = true
    }
  }
}

/** A PostgreSQL of one test, that may stop it, crash it and start it again; what it has committed outlives that. */
import { onTestFinished } from 'vitest'
import { createDatabase, openPostgresServer, type PostgresServer, withClient } from './postgres-server.ts'

export interface OwnPostgres extends Pick<PostgresServer, 'start' | 'stop'> {
  /** Of an empty database; the same after each start. */
  readonly url: string
  /** Kills one of its processes, upon which the server ends all others and is back by itself in a moment. */
  killProcess(): Promise<void>
}

/** Runs, and is gone when the test is over. */
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

/** Before the server has noticed it still lets in. */
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

/** Reading that may take long: PostgreSQL does it while we do other things, and lets go of it when it is told to. */
import { sql } from 'kysely'
import type { Db } from './store.ts'

/**
 * @param read is given the one connection on which it has to read
 * @throws what `read` throws, also where a statement took longer than `timeoutMs`, and the reason of the signal
 */
export async function readInTime<T>(
  db: Db,
  read: (one: Db) => Promise<T>,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<T> {
  signal.throwIfAborted()
  return db.connection().execute(async (one) => {
    const { rows } = await sql<{ pid: number }>`
      SELECT pg_backend_pid() AS pid, set_config('statement_timeout', ${String(timeoutMs)}, false)`.execute(
      one,
    )
    let canceled: Promise<unknown> | null = null
    const cancel = (): void => {
      canceled = sql`SELECT pg_cancel_backend(CAST(${rows[0]?.pid} AS integer))`.execute(db).catch(() => null)
    }
    signal.addEventListener('abort', cancel)
    try {
      return await read(one)
    } catch (thrown) {
      signal.throwIfAborted()
      throw thrown
    } finally {
      signal.removeEventListener('abort', cancel)
      // Or it would end what comes next on this connection.
      await canceled
      await sql`RESET statement_timeout`.execute(one)
    }
  })
}

/**
 * The thread that makes the indexes of a large table, on a handle of its own. Its argument is the file. It does what
 * `makeIndexes` does, bare, since a thread has to load anew all that it uses.
 */
import { workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

const BUSY_TIMEOUT_MS = 30_000
/** Enough to sort a million rows in a few parts. */
const CACHE_KIB = 16_000

const database = new Database(String(workerData), { timeout: BUSY_TIMEOUT_MS })
try {
  database.pragma('synchronous = FULL')
  database.pragma(`cache_size = -${CACHE_KIB}`)
  const made = database.prepare('DELETE FROM sync_dropped_index WHERE name = ?')
  const dropped = database.prepare<[], { name: string; sql: string }>(
    'SELECT name, sql FROM sync_dropped_index',
  )
  for (const { name, sql } of dropped.all()) {
    database
      .transaction(() => {
        database.exec(sql)
        made.run(name)
      })
      .immediate()
  }
} finally {
  database.close()
}

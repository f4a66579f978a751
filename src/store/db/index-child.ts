/** The child process that restores the dropped indexes of a large table, each in a transaction of its own. */
import Database from 'better-sqlite3'
import { answerParent } from './subprocess.ts'

export interface IndexJob {
  readonly file: string
}

const BUSY_TIMEOUT_MS = 30_000
/** The size of SQLite's cache. With this size, SQLite sorts a million rows in a few parts. */
const CACHE_KIB = 16_000

answerParent(({ file }: IndexJob): null => {
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true })
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
  return null
})

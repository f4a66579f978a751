/** The thread that makes indexes of a large table, on a handle of its own. Its argument is the file. */
import { workerData } from 'node:worker_threads'
import { makeIndexes } from './dropped-index.ts'
import { openSqlite } from './sqlite.ts'

const db = openSqlite(String(workerData))
try {
  await makeIndexes(db)
} finally {
  await db.destroy()
}

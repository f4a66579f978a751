/**
 * The thread that moves the write-ahead log of an SQLite file into the database. Such a move (a checkpoint)
 * writes to scattered places and waits for the disk, so in the main thread it would hold up every request.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { leaveCheckpoints } from './sqlite.ts'
import type { Store } from './store.ts'
import { programFile } from './subprocess.ts'

const LOOK_MS = 100
/** The thread moves pages when at least this number of pages in the log is not yet in the database. */
const PAGES_MIN = 1000
/**
 * When the log has this number of pages, writers have to wait until it is empty. Otherwise the log would grow
 * for as long as events arrive without a pause.
 */
const PAGES_MAX = 16_000
/** The longest wait for running queries to end. Nobody can write during this wait. */
const BUSY_TIMEOUT_MS = 20
/** The minimum time between two attempts to empty the log. */
const AGAIN_MS = 1000

/**
 * Starts a thread that makes the checkpoints of an SQLite store. After the thread has ended, the store makes
 * the checkpoints itself.
 * @param onFailure called if the thread ends with an error. Nothing is lost then, but a request to the
 * dashboard may have to wait for a checkpoint
 */
export async function startCheckpoints(
  { place, db }: Store,
  onFailure: (reason: unknown) => void,
): Promise<AsyncDisposable> {
  if (place.kind === 'postgres') return { [Symbol.asyncDispose]: async () => {} }
  const script = programFile(import.meta.url, 'checkpoint-thread')
  const thread = new Worker(script, { workerData: { checkpointsOf: place.file } })
  const ended = new Promise((resolve) => thread.once('exit', resolve))
  thread.once('error', (reason) => {
    leaveCheckpoints(db, false).finally(() => onFailure(reason))
  })
  await leaveCheckpoints(db, true)
  return {
    async [Symbol.asyncDispose]() {
      await leaveCheckpoints(db, false)
      thread.postMessage('end')
      await ended
    },
  }
}

let emptyFromMs = 0

function moveLog(database: Database.Database): void {
  const { pages, moved } = checkpoint(database, 'NOOP')
  if (pages - moved >= PAGES_MIN) checkpoint(database, 'PASSIVE')
  if (pages < PAGES_MAX || performance.now() < emptyFromMs) return
  checkpoint(database, 'TRUNCATE')
  emptyFromMs = performance.now() + AGAIN_MS
}

/** Runs a checkpoint. Returns the number of pages in the log, and how many of them are in the database. */
function checkpoint(database: Database.Database, mode: 'NOOP' | 'PASSIVE' | 'TRUNCATE') {
  const [row] = database.pragma(`wal_checkpoint(${mode})`) as { log: number; checkpointed: number }[]
  return { pages: row?.log ?? 0, moved: row?.checkpointed ?? 0 }
}

const file: unknown = isMainThread ? undefined : workerData?.checkpointsOf
if (typeof file === 'string') {
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS, fileMustExist: true })
  const look = setInterval(() => {
    try {
      moveLog(database)
    } catch (thrown) {
      if (!(thrown instanceof Database.SqliteError)) throw thrown
      // Ignores a busy file or a full disk and tries again later. The next writer reports the full disk.
    }
  }, LOOK_MS)
  parentPort?.once('message', () => {
    clearInterval(look)
    database.close()
  })
}

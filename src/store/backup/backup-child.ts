/** The child process that copies a store into a backup, or checks a backup. */
import Database from 'better-sqlite3'
import { fileFailure } from '../db/sqlite.ts'
import { answerParent } from '../db/subprocess.ts'
import { type BackupContent, checkBackup } from './backup-check.ts'

export interface BackupJob {
  /** The file of the store to copy into `file`; null to check a `file` that exists already. */
  readonly live: string | null
  readonly file: string
}

/** The longest wait for a lock. A process locks the store for a moment while it closes the store. */
const BUSY_TIMEOUT_MS = 10_000

answerParent(({ live, file }: BackupJob): BackupContent => {
  if (live !== null) copy(live, file)
  return checkBackup(file)
})

/** Copies the store as it is at one moment, while others may write. The copy has no write-ahead log. */
function copy(live: string, file: string): void {
  let database: Database.Database | undefined
  try {
    database = new Database(live, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
    database.prepare('VACUUM INTO ?').run(file)
  } catch (thrown) {
    const isOfStore = thrown instanceof Database.SqliteError && /CORRUPT|NOTADB/.test(thrown.code)
    throw fileFailure(isOfStore ? live : file, thrown) ?? thrown
  } finally {
    database?.close()
  }
}

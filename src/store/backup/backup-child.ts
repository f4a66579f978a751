/** The process that copies a store into a backup, and checks one. */
import Database from 'better-sqlite3'
import { fileFailure } from '../db/sqlite.ts'
import { answerParent } from '../db/subprocess.ts'
import { type BackupContent, checkBackup } from './backup-check.ts'

export interface BackupJob {
  /** The store to copy; null where the file is there and only to be checked. */
  readonly live: string | null
  readonly file: string
}

/** Another process may be about to close the store, which locks out even readers for a moment. */
const BUSY_TIMEOUT_MS = 10_000

answerParent(({ live, file }: BackupJob): BackupContent => {
  if (live !== null) copy(live, file)
  return checkBackup(file)
})

/** One moment of the store, whatever is written meanwhile; without free pages, and without a file beside it. */
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

/** Checks that a file is a complete leadsheet database, and reads what it contains. */
import Database from 'better-sqlite3'
import type { Instant } from '../../domain/model.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { fileFailure } from '../db/sqlite.ts'

export interface BackupContent {
  readonly schema: string
  /** The id of the last sync that read all leads; null where no sync did. */
  readonly runId: string | null
  /** The time up to which all changes of leads are in the file; null where no sync read all leads. */
  readonly leadsAsOf: Instant | null
  readonly rows: Readonly<Record<string, number>>
}

/**
 * Runs in a child process, because it takes long.
 * @throws LeadsheetError store_corrupt
 */
export function checkBackup(file: string): BackupContent {
  let database: Database.Database | undefined
  try {
    database = new Database(file, { readonly: true, fileMustExist: true })
    refuseDamaged(database, file)
    return readContent(database, file)
  } catch (thrown) {
    const failure = fileFailure(file, thrown)
    if (failure?.code !== 'store_corrupt') throw failure ?? thrown
    throw new LeadsheetError('store_corrupt', failure.message, {
      hint: `Name a file that ${shellCommand('db backup')} has made; nothing was changed.`,
      cause: thrown,
    })
  } finally {
    database?.close()
  }
}

function refuseDamaged(database: Database.Database, file: string): void {
  const faults = database
    .prepare<[], string>('PRAGMA integrity_check')
    .pluck()
    .all()
    .filter((line) => line !== 'ok')
  // A backup that was made during the first load of leads lacks some indexes. The check of references needs
  // these indexes, so it is skipped for such a backup.
  const orphans = hasIndexesAside(database)
    ? []
    : database.prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check').all()
  faults.push(...orphans.map(({ table, parent }) => `a row of ${table} points to none of ${parent}`))
  const [first] = faults
  if (first === undefined) return
  throw new LeadsheetError('store_corrupt', `${file} is damaged: ${first}`, {
    hint: 'Use another backup; nothing was changed.',
  })
}

function hasIndexesAside(database: Database.Database): boolean {
  const isKept = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sync_dropped_index'").get()
  return isKept !== undefined && database.prepare('SELECT 1 FROM sync_dropped_index').get() !== undefined
}

function readContent(database: Database.Database, file: string): BackupContent {
  const tables = database
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         OR name = 'lead_version' ORDER BY name`,
    )
    .pluck()
    .all()
  if (!tables.includes('kysely_migration') || !tables.includes('sync_run')) {
    throw new LeadsheetError('store_corrupt', `${file} is a SQLite database, but no backup of leadsheet's`, {
      hint: `A backup is made by ${shellCommand('db backup')}; the snapshot is none, since it lacks what is private.`,
    })
  }
  const count = (table: string): number =>
    database.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get() ?? 0
  const whole = database
    .prepare<[], { id: string; leads_as_of: string }>(
      'SELECT id, leads_as_of FROM sync_run WHERE leads_as_of IS NOT NULL ORDER BY rowid DESC LIMIT 1',
    )
    .get()
  const schema = database.prepare<[], string>('SELECT max(name) FROM kysely_migration').pluck().get()
  return {
    schema: schema ?? '',
    runId: whole?.id ?? null,
    leadsAsOf: whole?.leads_as_of ?? null,
    rows: Object.fromEntries(
      tables.filter((name) => !name.startsWith('kysely_')).map((name) => [name, count(name)]),
    ),
  }
}

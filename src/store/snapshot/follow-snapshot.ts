/**
 * Makes a snapshot from the one before it: copies that file and brings the copy up to date. Every published row
 * of the store is compared with the row of the copy, so that no mark or log has to be trusted. Comparing costs
 * a small part of what writing and indexing all rows costs.
 */
import { chmodSync, constants, copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { quoted } from '../db/rows.ts'
import { PUBLISHED } from '../schema/published.ts'
import type { PublishedTable, SnapshotJob } from './build-snapshot.ts'
import {
  dayOf,
  describeTable,
  fillOthers,
  flush,
  listExpectedSchema,
  listSchema,
  openUnfinished,
} from './build-snapshot.ts'
import { followTexts, keepTexts } from './search.ts'

/** The mode of the copy while it is written. */
const WRITABLE = 0o600
/** With more changes than this share of all rows, and than these rows, a whole build is as fast. */
const CHANGED_SHARE = 0.1
const CHANGED_ROWS = 1000
/** The largest part of the copy that is read through the memory instead of by calls. */
const MAPPED_BYTES = 2 ** 36
/**
 * The tables with personal data. Once a row of them is gone, the snapshot is built whole, because the index of
 * words forgets nothing before it is built again.
 */
const FORGOTTEN: readonly string[] = ['lead', 'lead_raw', 'lead_detail', 'activity', 'quarantined_record']

/**
 * Makes a snapshot from an earlier one.
 * @param base the file of the earlier snapshot, which stays as it is
 * @returns false if it has to be built whole, and then the target is of no use: for the first snapshot of a day,
 *   of a schema or of a version, after many changes, and if the earlier file is damaged
 */
export function followSnapshot(job: SnapshotJob, base: string): boolean {
  let database: Database.Database | undefined
  try {
    copyFileSync(base, job.target, constants.COPYFILE_FICLONE)
    chmodSync(job.target, WRITABLE)
    database = openUnfinished(job)
    if (!isFollowable(database, job) || !follow(database, job)) return false
  } catch (thrown) {
    // The whole build tells what is wrong if the fault is not in the earlier file.
    if (thrown instanceof Database.SqliteError || (thrown instanceof Error && 'syscall' in thrown))
      return false
    throw thrown
  } finally {
    database?.close()
  }
  flush(job.target)
  return true
}

function isFollowable(database: Database.Database, job: SnapshotJob): boolean {
  if (database.pragma('user_version', { simple: true }) !== dayOf(job)) return false
  const expected = listExpectedSchema(job.live)
  const found = listSchema(database)
  if (found.length !== expected.length || found.some((sql, index) => sql !== expected[index])) return false
  return (
    database
      .prepare(
        `SELECT 1 FROM snapshot_info
         WHERE leadsheet_version = ? AND schema = (SELECT max(name) FROM live.kysely_migration)`,
      )
      .get(job.version) !== undefined
  )
}

/** Brings the file up to date; false if there is too much to do. */
function follow(database: Database.Database, job: SnapshotJob): boolean {
  database.pragma(`mmap_size = ${MAPPED_BYTES}`)
  database.pragma('temp_store = MEMORY')
  // Overwrites deleted rows, so that what the store has pruned is in no freed part of the file.
  database.pragma('secure_delete = ON')
  database.exec('BEGIN')
  const changes = new Map<string, PublishedTable>()
  let [rows, changed] = [0, 0]
  for (const name of listTables(database)) {
    const table = describeTable(database, name)
    const found = findChanges(database, name, table)
    if (found.gone > 0 && FORGOTTEN.includes(name)) return false
    rows += found.rows
    changed += found.changed + found.gone
    if (found.changed + found.gone > 0) changes.set(name, table)
  }
  if (changed > Math.max(CHANGED_ROWS, rows * CHANGED_SHARE)) return false
  keepTexts(
    database,
    `SELECT "k0" FROM temp.${changesOf('lead')}
     UNION SELECT lead.no FROM temp.${changesOf('activity')} JOIN live.lead ON lead.id = "k0"`,
  )
  for (const [name, table] of changes) replaceRows(database, name, table)
  followTexts(database)
  fillOthers(database, job)
  database.exec('COMMIT')
  database.exec('DETACH live')
  return [...changes.keys()].every((table) => hasWholeIndexes(database, table))
}

function listTables(database: Database.Database): string[] {
  const tables = database
    .prepare<[], string>(`SELECT name FROM live.sqlite_schema WHERE type = 'table' ORDER BY rowid`)
    .pluck()
    .all()
  return tables.filter((name) => PUBLISHED[name] !== undefined)
}

function changesOf(table: string): string {
  return quoted(`changed ${table}`)
}

interface Changes {
  /** The number of rows in the store. */
  readonly rows: number
  /** The number of rows that are new or different. */
  readonly changed: number
  readonly gone: number
}

/** Finds the rows of a table that are not the same in both files, and keeps their keys in a temporary table. */
function findChanges(
  database: Database.Database,
  name: string,
  { key, columns, mixed }: PublishedTable,
): Changes {
  const stored = `live.${quoted(name)}`
  const copied = `main.${quoted(name)}`
  const keys = key.map((column, index) => `stored.${quoted(column)} AS "k${index}"`).join()
  const isSameRow = key.map((column) => `copied.${quoted(column)} = stored.${quoted(column)}`).join(' AND ')
  const isNew = `copied.${quoted(key[0] ?? '')} IS NULL`
  const differs = [
    isNew,
    ...columns.map((column) => `stored.${quoted(column)} IS NOT copied.${quoted(column)}`),
    // The numbers 1 and 1.0 compare as equal, but analysts see different values.
    ...mixed.map((column) => `typeof(stored.${quoted(column)}) <> typeof(copied.${quoted(column)})`),
  ]
  database.exec(`
    CREATE TEMP TABLE ${changesOf(name)} AS SELECT ${keys}, ${isNew} AS is_new
    FROM ${stored} AS stored LEFT JOIN ${copied} AS copied ON ${isSameRow} WHERE ${differs.join(' OR ')}`)
  const count = (sql: string): number => database.prepare<[], number>(sql).pluck().get() ?? 0
  const rows = count(`SELECT count(*) FROM ${stored}`)
  const changed = count(`SELECT count(*) FROM temp.${changesOf(name)}`)
  const added = count(`SELECT count(*) FROM temp.${changesOf(name)} WHERE is_new`)
  // All rows of the store are in the copy now, or are new. Any further rows of the copy are gone in the store.
  const gone = count(`SELECT count(*) FROM ${copied}`) + added - rows
  if (gone > 0) {
    database.exec(`
      INSERT INTO temp.${changesOf(name)} SELECT ${keys}, 0 FROM ${copied} AS stored
      LEFT JOIN ${stored} AS copied ON ${isSameRow} WHERE ${isNew}`)
  }
  return { rows, changed, gone }
}

/**
 * Tells whether each index of a table has as many rows as the table. The comparison has read every row, and the
 * whole build of the day has checked the structure of the file.
 */
function hasWholeIndexes(database: Database.Database, table: string): boolean {
  const count = (index: string): unknown =>
    database
      .prepare(`SELECT count(*) FROM ${quoted(table)} ${index}`)
      .pluck()
      .get()
  return database
    .prepare<[string], string>(
      `SELECT name FROM pragma_index_list(?, 'main') WHERE NOT partial AND origin <> 'pk'`,
    )
    .pluck()
    .all(table)
    .every((name) => count(`INDEXED BY ${quoted(name)}`) === count('NOT INDEXED'))
}

/** Takes the rows with the kept keys from the store. */
function replaceRows(database: Database.Database, name: string, { key, columns }: PublishedTable): void {
  const keys = key.map(quoted).join()
  const kept = `(SELECT ${key.map((_, index) => `"k${index}"`).join()} FROM temp.${changesOf(name)})`
  const list = [...new Set([...key, ...columns])].map(quoted).join()
  database.exec(`
    DELETE FROM main.${quoted(name)} WHERE (${keys}) IN ${kept};
    INSERT INTO main.${quoted(name)} (${list})
    SELECT ${list} FROM live.${quoted(name)} WHERE (${keys}) IN ${kept} ORDER BY ${keys}`)
}

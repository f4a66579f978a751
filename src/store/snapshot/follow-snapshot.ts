/**
 * Makes a snapshot from the previous snapshot: copies the previous file and brings the copy up to date. Finds
 * the changes by comparing every published row of the store with the row of the copy, so that nothing has to
 * record the changes. Comparing all rows is much faster than writing and indexing all rows.
 */
import { chmodSync, closeSync, constants, copyFileSync, openSync, readSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import Database from 'better-sqlite3'
import { quoted } from '../schema/describe.ts'
import { PUBLISHED } from '../schema/published.ts'
import type { PublishedTable, SnapshotJob } from './build-snapshot.ts'
import {
  dayOf,
  describeTable,
  fillInfo,
  listExpectedSchema,
  listSchema,
  openUnfinished,
  renewFigures,
} from './build-snapshot.ts'
import { type Counts, countRows, fillDictionary, readCounts } from './dictionary.ts'
import { followTexts, keepTexts } from './search.ts'

/** The mode of the copy while it is written. */
const WRITABLE = 0o600
/** The size of the pieces in which a file is copied. */
const PIECE_BYTES = 2 ** 18
/** The maximum share of changed rows. If more rows have changed, a complete build is as fast. */
const CHANGED_SHARE = 0.1
/** The number of changed rows up to which `CHANGED_SHARE` does not matter. */
const CHANGED_ROWS = 1000
/** The maximum number of bytes of the copy that SQLite maps into memory instead of reading them. */
const MAPPED_BYTES = 2 ** 36
/**
 * The tables with personal data. If a row of one of these tables was deleted, the snapshot is built
 * completely, because the full-text index keeps words of deleted rows.
 */
const FORGOTTEN: readonly string[] = ['lead', 'lead_raw', 'lead_detail', 'activity', 'quarantined_record']

/**
 * Makes a snapshot from an earlier one.
 * @param base the file of the earlier snapshot, which stays as it is
 * @returns false if a complete build is needed; the target is useless then. A complete build is needed for
 * the first snapshot of a day, of a schema or of a version, after many changes, after the deletion of
 * personal data, and if the earlier file is damaged
 */
export async function followSnapshot(job: SnapshotJob, base: string): Promise<boolean> {
  let file: FileHandle | undefined
  let database: Database.Database | undefined
  try {
    copyFile(base, job.target)
    file = await open(job.target)
    // Writes the copy to the disk while the rows are compared. The changes that follow are small.
    const copied = file.sync()
    database = openUnfinished(job)
    const isDone = isFollowable(database, job) && (await follow(database, job))
    await copied
    if (isDone) await file.sync()
    return isDone
  } catch (thrown) {
    // Returns false, so that the snapshot is built completely. If the fault is not in the earlier file, it
    // occurs again then and is reported.
    if (thrown instanceof Database.SqliteError || (thrown instanceof Error && 'syscall' in thrown))
      return false
    throw thrown
  } finally {
    database?.close()
    await file?.close()
  }
}

/**
 * Copies a file. If the file system can, both files share their blocks until one of them changes. Otherwise
 * the file is copied in large pieces, which was a fifth faster than copyFile.
 */
function copyFile(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE)
    chmodSync(to, WRITABLE)
    return
  } catch {
    // Most file systems cannot share blocks. Any other error occurs again below and is thrown there.
  }
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  const [source, target] = [openSync(from, 'r'), openSync(to, 'w', WRITABLE)]
  try {
    for (let read = readSync(source, piece); read > 0; read = readSync(source, piece))
      for (let written = 0; written < read; ) written += writeSync(target, piece, written, read - written)
  } finally {
    closeSync(source)
    closeSync(target)
  }
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

/** Brings the copy up to date. Returns false if a complete build is needed. */
async function follow(database: Database.Database, job: SnapshotJob): Promise<boolean> {
  database.pragma(`mmap_size = ${MAPPED_BYTES}`)
  database.pragma('temp_store = MEMORY')
  // Overwrites deleted rows, so that no free part of the file still has data that the store has deleted.
  database.pragma('secure_delete = ON')
  database.exec('BEGIN')
  const changes = new Map<string, PublishedTable>()
  let [rows, changed] = [0, 0]
  const tables = listTables(database)
  for (const name of tables) {
    const table = describeTable(database, name)
    const found = findChanges(database, name, table)
    if (found.deleted > 0 && FORGOTTEN.includes(name)) return false
    rows += found.rows
    changed += found.changed + found.deleted
    if (found.changed + found.deleted > 0) changes.set(name, table)
  }
  if (changed > Math.max(CHANGED_ROWS, rows * CHANGED_SHARE)) return false
  keepTexts(
    database,
    `SELECT "k0" FROM temp.${changesOf('lead')}
     UNION SELECT lead.no FROM temp.${changesOf('activity')} JOIN live.lead ON lead.id = "k0"`,
  )
  const counts = readCounts(database)
  for (const [name, table] of changes) counts.set(name, replaceRows(database, name, table, counts.get(name)))
  followTexts(database)
  const dayBefore = readDay(database)
  fillInfo(database, job)
  // The snapshot has the figures of the last issues, or of the day before if there is no issue.
  if (changes.has('report_issue') || changes.has('pipeline') || readDay(database) !== dayBefore)
    await renewFigures(database)
  fillDictionary(database, job.sourcePaths, new Map([...counts].filter(([name]) => tables.includes(name))))
  database.exec('COMMIT')
  database.exec('DETACH live')
  return [...changes.keys()].every((name) => hasWholeIndexes(database, name, counts.get(name)?.rows ?? 0))
}

/** Reads the day up to which the leads of the file are known. */
function readDay(database: Database.Database): unknown {
  return database.prepare('SELECT substr(leads_as_of, 1, 10) FROM main.snapshot_info').pluck().get()
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
  readonly deleted: number
}

/**
 * Finds the rows of a table that differ between the store and the copy. Writes the keys of these rows to a
 * temporary table. There, `is_kept` is 1 for a row that is in both, and otherwise 0.
 */
function findChanges(database: Database.Database, name: string, table: PublishedTable): Changes {
  const stored = `live.${quoted(name)}`
  const copied = `main.${quoted(name)}`
  const keys = table.key.map((column, index) => `stored.${quoted(column)} AS "k${index}"`).join()
  const isSameRow = table.key
    .map((column) => `copied.${quoted(column)} = stored.${quoted(column)}`)
    .join(' AND ')
  const isNew = `copied.${quoted(table.key[0] ?? '')} IS NULL`
  const differs = table.columns.map((column) => differsIn(table, column))
  database.exec(`
    CREATE TEMP TABLE ${changesOf(name)} AS SELECT ${keys}, NOT ${isNew} AS is_kept
    FROM ${stored} AS stored LEFT JOIN ${copied} AS copied ON ${isSameRow}
    WHERE ${[isNew, ...differs].join(' OR ')}`)
  const count = (sql: string): number => database.prepare<[], number>(sql).pluck().get() ?? 0
  const rows = count(`SELECT count(*) FROM ${stored}`)
  const changed = count(`SELECT count(*) FROM temp.${changesOf(name)}`)
  const added = count(`SELECT count(*) FROM temp.${changesOf(name)} WHERE NOT is_kept`)
  // After the new rows are added, the copy has all rows of the store. Any further rows are to be deleted.
  const deleted = count(`SELECT count(*) FROM ${copied}`) + added - rows
  if (deleted > 0) {
    database.exec(`
      INSERT INTO temp.${changesOf(name)} SELECT ${keys}, 0 FROM ${copied} AS stored
      LEFT JOIN ${stored} AS copied ON ${isSameRow} WHERE ${isNew}`)
  }
  return { rows, changed, deleted }
}

/** Returns SQL that is true if a column differs between `stored` and `copied`. */
function differsIn({ mixed }: PublishedTable, column: string): string {
  const [stored, copied] = [`stored.${quoted(column)}`, `copied.${quoted(column)}`]
  // The numbers 1 and 1.0 compare as equal, but analysts see different values.
  const isOther = mixed.includes(column) ? ` OR typeof(${stored}) <> typeof(${copied})` : ''
  return `${stored} IS NOT ${copied}${isOther}`
}

/**
 * Tells whether each index of a table has as many rows as the table. No more checks are needed: the
 * comparison has read every row, and the complete build of the day has checked the structure of the file.
 */
function hasWholeIndexes(database: Database.Database, table: string, rows: number): boolean {
  return database
    .prepare<[string], string>(
      `SELECT name FROM pragma_index_list(?, 'main') WHERE NOT partial AND origin <> 'pk'`,
    )
    .pluck()
    .all(table)
    .every((index) => {
      const count = `SELECT count(*) FROM ${quoted(table)} INDEXED BY ${quoted(index)}`
      return database.prepare(count).pluck().get() === rows
    })
}

/**
 * Replaces the changed rows of the copy by the rows of the store. Rows that are in both are updated. The
 * update writes only the columns in which at least one of these rows differs, so that indexes on other
 * columns need no change.
 * @returns the counts of the table after the change
 */
function replaceRows(
  database: Database.Database,
  name: string,
  table: PublishedTable,
  counts: Counts | undefined,
): Counts {
  const [stored, copied, changes] = [
    `live.${quoted(name)}`,
    `main.${quoted(name)}`,
    `temp.${changesOf(name)}`,
  ]
  const columns = [...(counts?.nulls.keys() ?? [])]
  const keys = table.key.map(quoted).join()
  const changed = `SELECT ${table.key.map((_, index) => `"k${index}"`).join()} FROM ${changes}`
  const isIn = (side: string): string =>
    table.key.map((column, index) => `${side}.${quoted(column)} = "k${index}"`).join(' AND ')
  const found = `${changes} JOIN ${stored} AS stored ON ${isIn('stored')}`

  const before = countRows(database, `${copied} WHERE (${keys}) IN (${changed})`, columns)
  const differing = database
    .prepare<[], number[]>(
      `SELECT ${table.columns.map((column) => `max(${differsIn(table, column)})`).join()}
       FROM ${found} JOIN ${copied} AS copied ON ${isIn('copied')}`,
    )
    .raw()
    .get()
  const written = table.columns.filter((_, index) => differing?.[index] === 1)
  // Two rows may have exchanged unique values. Such rows are deleted and inserted again, not updated.
  if (written.some((column) => isUnique(database, name, column)))
    database.exec(`UPDATE ${changes} SET is_kept = 0`)
  const anew = `(${keys}) IN (${changed} WHERE NOT is_kept)`
  const list = [...new Set([...table.key, ...table.columns])].map(quoted).join()
  database.exec(`
    DELETE FROM ${copied} WHERE ${anew};
    INSERT INTO ${copied} (${list}) SELECT ${list} FROM ${stored} WHERE ${anew} ORDER BY ${keys}`)
  if (written.length > 0) {
    database.exec(`
      UPDATE ${copied} AS copied SET ${written.map((column) => `${quoted(column)} = stored.${quoted(column)}`).join()}
      FROM ${found} WHERE is_kept AND ${isIn('copied')}`)
  }
  const after = countRows(database, `${copied} WHERE (${keys}) IN (${changed})`, columns)
  const sum = (of: (each: Counts) => number): number => of(counts ?? before) - of(before) + of(after)
  return {
    rows: sum(({ rows }) => rows),
    nulls: new Map(columns.map((column) => [column, sum(({ nulls }) => nulls.get(column) ?? 0)])),
  }
}

/** Tells whether a column is in a unique index other than the primary key. */
function isUnique(database: Database.Database, table: string, column: string): boolean {
  return (
    database
      .prepare(
        `SELECT 1 FROM pragma_index_list(?, 'main') AS list JOIN pragma_index_info(list.name, 'main') AS info
         WHERE list."unique" AND (info.name = ? OR info.name IS NULL)`,
      )
      .get(table, column) !== undefined
  )
}

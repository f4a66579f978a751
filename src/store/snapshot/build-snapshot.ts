/**
 * Builds a snapshot: copies the published parts of the store into a new file, from one consistent read of the
 * database. Then adds the dictionary to the file. The work blocks its process, so it runs in a child process.
 */
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { quoted } from '../schema/describe.ts'
import { PUBLISHED } from '../schema/published.ts'
import { leadNowSql, VIEWS } from '../schema/views.ts'
import { writeDictionary } from './dictionary.ts'
import { makeFieldTable } from './field-table.ts'

export interface SnapshotJob {
  readonly live: string
  /** The file to create; it must not exist. */
  readonly target: string
  /** The time of the snapshot, in UTC. */
  readonly madeAt: string
  /** The time in milliseconds that the caller has taken so far; by default 0. */
  readonly elapsedMs?: number
  readonly version: string
  /** The path of each column in the upstream's records, such as `lead.company_name` -> `company.name`. */
  readonly sourcePaths: Readonly<Record<string, string>>
}

const CACHE_KIB = 65_536
/** The number of rows of each index that ANALYZE reads: enough to tell a good index from a bad one. */
const ANALYSIS_ROWS = 1000
/** The longest wait for a lock. A process that closes the store locks it for a moment. */
const BUSY_TIMEOUT_MS = 10_000

/**
 * Builds the file. Only published rows are copied, so that a private row is never in the file, not even in a
 * freed page. If a table is published completely, its rows are copied as they are stored, which is fast.
 * @throws SqliteError
 */
export function buildSnapshot(job: SnapshotJob): void {
  const startedMs = performance.now()
  const database = openUnfinished(job)
  try {
    // Makes SQLite overwrite the old place of a row that moves to another page. A later deletion of the row
    // overwrites only the new place.
    database.pragma('secure_delete = FAST')
    database.exec('BEGIN')
    copyTables(database)
    copyViews(database, makeFieldTable(database))
    writeInfo(database, job)
    writeDictionary(database, job.sourcePaths)
    database.exec('COMMIT')
    database.exec('DETACH live')
    database.pragma(`analysis_limit = ${ANALYSIS_ROWS}`)
    database.exec('ANALYZE')
    // Says in the file how many milliseconds the snapshot took, where no analyst has to read it.
    database.pragma(`user_version = ${Math.round((job.elapsedMs ?? 0) + performance.now() - startedMs)}`)
  } finally {
    database.close()
  }
}

/** Opens the file that is being made, with the store attached as `live`. */
function openUnfinished({ live, target }: SnapshotJob): Database.Database {
  const database = new Database(target, { timeout: BUSY_TIMEOUT_MS })
  // Because an unfinished file is deleted, no journal is needed.
  database.pragma('journal_mode = OFF')
  database.pragma('synchronous = OFF')
  database.pragma('foreign_keys = OFF')
  database.pragma(`cache_size = -${CACHE_KIB}`)
  // Because ATTACH would make an empty file.
  if (!existsSync(live)) throw new Error(`there is no database ${live}`)
  database.prepare('ATTACH ? AS live').run(live)
  return database
}

interface SchemaRow {
  readonly name: string
  readonly tbl_name: string
  readonly sql: string
}

function readSchema(database: Database.Database, type: 'table' | 'index' | 'view'): SchemaRow[] {
  return database
    .prepare<[string], SchemaRow>(
      `SELECT name, tbl_name, sql FROM live.sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY rowid`,
    )
    .all(type)
}

function copyTables(database: Database.Database): void {
  const indexes = readSchema(database, 'index')
  for (const { name, sql } of readSchema(database, 'table')) {
    const withheld = PUBLISHED[name]
    if (withheld === undefined) continue
    database.exec(sql)
    for (const column of withheld) database.exec(`ALTER TABLE ${quoted(name)} DROP COLUMN ${quoted(column)}`)
    for (const index of indexes.filter((each) => each.tbl_name === name)) database.exec(index.sql)
    copyRows(database, name, withheld.length === 0)
  }
}

/** `SELECT *` copies rows and indexes as they are stored. SQLite computes generated columns itself. */
function copyRows(database: Database.Database, table: string, isWhole: boolean): void {
  const columns = database
    .prepare<[string], { name: string; hidden: number }>(
      `SELECT name, hidden FROM pragma_table_xinfo(?, 'main')`,
    )
    .all(table)
  const isGenerated = columns.some(({ hidden }) => hidden > 0)
  const stored = columns.filter(({ hidden }) => hidden === 0).map(({ name }) => quoted(name))
  const [into, list] = isWhole && !isGenerated ? ['', '*'] : [`(${stored.join()})`, stored.join()]
  database.exec(`INSERT INTO main.${quoted(table)} ${into} SELECT ${list} FROM live.${quoted(table)}`)
}

/** @param fields the declared fields, which `lead_now` shows */
function copyViews(database: Database.Database, fields: readonly string[]): void {
  for (const { name, sql } of readSchema(database, 'view'))
    if (name in VIEWS) database.exec(name === 'lead_now' ? leadNowSql(fields) : sql)
}

function writeInfo(database: Database.Database, { madeAt, version }: SnapshotJob): void {
  database.exec(`
    CREATE TABLE snapshot_info ( -- one row per file: which data this snapshot has, and when it was made
      made_at TEXT NOT NULL, -- UTC, by our clock: when the file was made
      run_id TEXT REFERENCES sync_run (id), -- sync_run.id of the last sync that read the leads to the end
      leads_as_of TEXT, -- UTC: all changes of leads before this time are included; later ones may be
      schema TEXT NOT NULL, -- name of the last migration of its tables
      leadsheet_version TEXT NOT NULL -- version of leadsheet that made the file
    ) STRICT`)
  database
    .prepare(
      `INSERT INTO snapshot_info
       SELECT ?, whole.id, whole.leads_as_of, (SELECT max(name) FROM live.kysely_migration), ?
       FROM (SELECT 1) LEFT JOIN
         (SELECT id, leads_as_of FROM sync_run WHERE leads_as_of IS NOT NULL ORDER BY rowid DESC LIMIT 1) AS whole`,
    )
    .run(madeAt, version)
}

/**
 * Builds a snapshot: copies the published parts of the store into a new file, from one consistent read of the
 * database. Then adds the dictionary and the full-text search to the file and checks it. The work blocks its
 * process, so it runs in a child process.
 */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import type { CopiedRow, CopiedTable } from '../copy/copied-tables.ts'
import { listCopiedTables, readChunks } from '../copy/copied-tables.ts'
import { insertCopies, quoted } from '../db/rows.ts'
import { openSqlite } from '../db/sqlite.ts'
import type { Db, Trx } from '../db/store.ts'
import { migrate } from '../schema/migrate.ts'
import { OWN, PUBLISHED } from '../schema/published.ts'
import { fillDictionary } from './dictionary.ts'
import { addFigures } from './figure-sql.ts'

export interface SnapshotJob {
  /** The file of the store. */
  readonly live: string
  /** The file to create; it must not exist. */
  readonly target: string
  /** The time of the snapshot, in UTC. */
  readonly madeAt: string
  /** The version of this leadsheet. */
  readonly version: string
  /** The path in the upstream's records of each column, such as `lead.company_name` -> `company.name`. */
  readonly sourcePaths: Readonly<Record<string, string>>
}

const CACHE_KIB = 65_536
/** The number of rows of each index that ANALYZE reads: enough to tell a good index from a bad one. */
const ANALYSIS_ROWS = 1000
/** The longest wait for a lock. Another process that closes the store locks out readers for a moment. */
const BUSY_TIMEOUT_MS = 10_000

/**
 * Builds the file. Only published rows are copied, so that a private row is never in the file, not even in a
 * freed page. Whole tables are copied as they are stored, as fast as by VACUUM INTO.
 * @throws SqliteError, and Error where the finished file fails its checks
 */
export function buildSnapshot(job: SnapshotJob): void {
  const database = new Database(job.target, { timeout: BUSY_TIMEOUT_MS })
  try {
    // Because an unfinished file is deleted, no journal is needed.
    database.pragma('journal_mode = OFF')
    database.pragma('synchronous = OFF')
    database.pragma('foreign_keys = OFF')
    database.pragma(`cache_size = -${CACHE_KIB}`)
    database.prepare('ATTACH ? AS live').run(job.live)
    database.exec('BEGIN')
    copyTables(database)
    addIndexes(database)
    copyViews(database)
    addInfo(database, job)
    addFigures(database)
    addSearch(database)
    fillDictionary(database, job.sourcePaths)
    database.exec('COMMIT')
    database.exec('DETACH live')
    database.pragma(`analysis_limit = ${ANALYSIS_ROWS}`)
    database.exec('ANALYZE')
    check(database)
  } finally {
    database.close()
  }
  flush(job.target)
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

/**
 * Copies the rows of a table. With `SELECT *` between tables of the same definition, SQLite copies rows and
 * indexes as they are stored.
 */
function copyRows(database: Database.Database, table: string, isWhole: boolean): void {
  const columns = database
    .prepare<[string], { name: string; hidden: number }>(`SELECT name, hidden FROM pragma_table_xinfo(?)`)
    .all(table)
  if (isWhole && columns.every(({ hidden }) => hidden === 0)) {
    database.exec(`INSERT INTO main.${quoted(table)} SELECT * FROM live.${quoted(table)}`)
    return
  }
  // Leaves out generated columns, because SQLite computes them itself.
  const list = columns.filter(({ hidden }) => hidden === 0).map(({ name }) => quoted(name))
  database.exec(
    `INSERT INTO main.${quoted(table)} (${list.join()}) SELECT ${list.join()} FROM live.${quoted(table)}`,
  )
}

/**
 * Adds indexes for the queries of analysts. The store itself lacks them, because leadsheet does not search it
 * this way.
 */
function addIndexes(database: Database.Database): void {
  database.exec(`
    CREATE INDEX lead_by_domain ON lead (company_domain);
    CREATE INDEX lead_by_update ON lead (updated_at);
  `)
}

/** Copies the views of analysts that read nothing private. */
function copyViews(database: Database.Database): void {
  let views = readSchema(database, 'view').filter(({ name }) => !OWN.includes(name))
  for (const { sql } of views) database.exec(sql)
  // Checks all views again after each drop, because a view may read another view that was dropped.
  for (;;) {
    const broken = views.filter(({ name }) => !canRead(database, name))
    if (broken.length === 0) return
    for (const { name } of broken) database.exec(`DROP VIEW ${quoted(name)}`)
    views = views.filter((view) => !broken.includes(view))
  }
}

function canRead(database: Database.Database, view: string): boolean {
  try {
    database.prepare(`SELECT * FROM ${quoted(view)}`)
    return true
  } catch {
    return false
  }
}

function addInfo(database: Database.Database, { madeAt, version }: SnapshotJob): void {
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

function check(database: Database.Database): void {
  const faults = [
    ...database
      .prepare<[], string>('PRAGMA quick_check')
      .pluck()
      .all()
      .filter((line) => line !== 'ok'),
    ...database
      .prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check')
      .all()
      .map(({ table, parent }) => `a row of ${table} points to none of ${parent}`),
  ]
  if (faults.length > 0)
    throw new Error(`the snapshot does not pass its checks: ${faults.slice(0, 3).join('; ')}`)
}

function flush(file: string): void {
  const descriptor = openSync(file, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Adds full-text search over leads, which only the snapshot has. The index `lead_fts` holds only words, and
 * reads the texts from the view `lead_text`. Analysts search the view `lead_search` by `WHERE words MATCH
 * 'solar'`.
 */
function addSearch(database: Database.Database): void {
  database.exec(LEAD_TEXT)
  database.exec(LEAD_FTS)
  database.exec(LEAD_SEARCH)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('rebuild')`)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('optimize')`)
}

const LEAD_TEXT = `CREATE VIEW lead_text AS
  -- one row per lead: the texts that lead_search searches
  -- no: lead.no
  -- company: name, domain, industry and one-liner of the company
  -- place: city, region and country
  -- contact: name and title of the contact
  -- activity: summaries of the activity of the lead, oldest first; null if there are none
  SELECT no,
    coalesce(company_name, '') || coalesce(' · ' || company_domain, '') || coalesce(' · ' || company_industry, '')
      || coalesce(' · ' || company_subindustry, '') || coalesce(' · ' || company_one_liner, '') AS company,
    coalesce(company_city || ', ', '') || coalesce(company_region || ', ', '') || coalesce(company_country, '')
      AS place,
    coalesce(contact_name, '') || coalesce(', ' || contact_title, '') AS contact,
    (SELECT group_concat(summary, ' · ') FROM
      (SELECT summary FROM activity WHERE activity.lead_id = lead.id ORDER BY at)) AS activity
  FROM lead`

const LEAD_FTS = `CREATE VIRTUAL TABLE lead_fts USING fts5 (company, place, contact, activity,
  content = 'lead_text', content_rowid = 'no', tokenize = 'unicode61 remove_diacritics 2')`

const LEAD_SEARCH = `CREATE VIEW lead_search AS
  -- one row per lead that a full-text search finds, as in: SELECT company_name, found FROM lead_search WHERE words MATCH 'solar berlin' ORDER BY rank
  -- words: the search, with MATCH: a b, both words; a OR b; solar*, a beginning; "solar panels", a phrase;
  -- company: solar, only that column of lead_text
  -- rank: how well the lead matches; the lowest is the best
  -- found: the text that matches, with the words in [ ]
  SELECT lead_fts.lead_fts AS words, lead_fts.rank AS rank, snippet(lead_fts, -1, '[', ']', '…', 12) AS found,
    lead_now.*
  FROM lead_fts JOIN lead_now ON lead_now.no = lead_fts.rowid`

/**
 * Copies the published parts of a PostgreSQL store into an SQLite file from which a snapshot can be built.
 * The copy is from one consistent read of the database. The file never has a private row or column.
 * @param file must not exist; an unfinished file is useless
 * @throws LeadsheetError store_*, data_unwritable; the reason of an aborted signal
 */
export async function copyPublished(db: Db, file: string, signal: AbortSignal): Promise<void> {
  const target = openSqlite(file)
  try {
    await makeReady(target, file)
    await db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (reading) => {
        await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(reading)
        for (const table of await listCopiedTables())
          if (PUBLISHED[table.name] !== undefined) await copyTable(reading, target, table, signal)
      })
  } finally {
    await target.destroy()
  }
}

/**
 * Prepares the file for copied rows. Checks and triggers are off, because the rows come unchanged and in
 * their order. Nothing is written to the disk to undo a failure.
 */
async function makeReady(target: Db, file: string): Promise<void> {
  await migrate(target, file)
  await sql`PRAGMA foreign_keys = OFF`.execute(target)
  await sql`PRAGMA synchronous = OFF`.execute(target)
  await sql`PRAGMA journal_mode = MEMORY`.execute(target)
  const { rows } = await sql<{ name: string }>`SELECT name FROM sqlite_schema WHERE type = 'trigger'`.execute(
    target,
  )
  for (const { name } of rows) await sql`DROP TRIGGER ${sql.ref(name)}`.execute(target)
}

async function copyTable(reading: Trx, target: Db, table: CopiedTable, signal: AbortSignal): Promise<void> {
  const withheld = PUBLISHED[table.name] ?? []
  const columns = table.columns.filter(({ name }) => !withheld.includes(name))
  // Gives withheld columns an empty text, because the table has these columns.
  const empty: CopiedRow = Object.fromEntries(withheld.map((name) => [name, '']))
  for await (const { rows } of readChunks(reading, { ...table, columns })) {
    signal.throwIfAborted()
    await insertCopies(
      target,
      table.name,
      withheld.length === 0 ? rows : rows.map((row) => ({ ...row, ...empty })),
    )
  }
}

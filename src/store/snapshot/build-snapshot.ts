/**
 * Builds a snapshot: what is published of the store, copied at one moment into a file of its own, described and
 * searchable, and checked. It takes the whole process for as long as it lasts, so it runs in a child.
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
  /** The file to make; it must not exist. */
  readonly target: string
  /** UTC: what the snapshot says of its making. */
  readonly madeAt: string
  /** Of this leadsheet. */
  readonly version: string
  /** `lead.company_name` -> `company.name`: where the upstream has what a column holds. */
  readonly sourcePaths: Readonly<Record<string, string>>
}

const CACHE_KIB = 65_536
/** Of each index; enough to tell a good one from a bad one. */
const ANALYSIS_ROWS = 1000
/** Another process may be about to close the store, which locks out even readers for a moment. */
const BUSY_TIMEOUT_MS = 10_000

/**
 * Rows are copied by positive list: a private row is never in the file, not even in a page that was freed. Whole
 * tables go over as they are stored, without a look into their rows: as fast as by VACUUM INTO.
 * @throws SqliteError, and Error where the finished file does not pass its checks
 */
export function buildSnapshot(job: SnapshotJob): void {
  const database = new Database(job.target, { timeout: BUSY_TIMEOUT_MS })
  try {
    // A build that is cut short is thrown away whole, so nothing is kept to undo it with.
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

/** Between tables of the same definition SQLite copies rows and indexes as they are stored, if all columns are asked for. */
function copyRows(database: Database.Database, table: string, isWhole: boolean): void {
  const columns = database
    .prepare<[string], { name: string; hidden: number }>(`SELECT name, hidden FROM pragma_table_xinfo(?)`)
    .all(table)
  if (isWhole && columns.every(({ hidden }) => hidden === 0)) {
    database.exec(`INSERT INTO main.${quoted(table)} SELECT * FROM live.${quoted(table)}`)
    return
  }
  // Generated columns compute themselves.
  const list = columns.filter(({ hidden }) => hidden === 0).map(({ name }) => quoted(name))
  database.exec(
    `INSERT INTO main.${quoted(table)} (${list.join()}) SELECT ${list.join()} FROM live.${quoted(table)}`,
  )
}

/** For what people ask of a file that is never written: by these the store itself is not searched. */
function addIndexes(database: Database.Database): void {
  database.exec(`
    CREATE INDEX lead_by_domain ON lead (company_domain);
    CREATE INDEX lead_by_update ON lead (updated_at);
  `)
}

/** An analyst's own views come along where they read nothing private. */
function copyViews(database: Database.Database): void {
  let views = readSchema(database, 'view').filter(({ name }) => !OWN.includes(name))
  for (const { sql } of views) database.exec(sql)
  // Once more after each drop: a view may have read one that is gone now.
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
    CREATE TABLE snapshot_info ( -- one row: which moment of which copy this file shows
      made_at TEXT NOT NULL, -- UTC, by our clock: when the file was made
      run_id TEXT REFERENCES sync_run (id), -- sync_run.id of the last sync that read the leads to their end
      leads_as_of TEXT, -- UTC: every lead that changed upstream before this instant is in here as it was then or later
      schema TEXT NOT NULL, -- the last change to the tables that the file has
      leadsheet_version TEXT NOT NULL -- of the program that made the file
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

/*
 * Full-text search over leads, in the snapshot only: the index `lead_fts` holds words alone and reads the texts
 * from the view `lead_text`; the view `lead_search` joins what is found to `lead_now`.
 */

/** Analysts search by `WHERE words MATCH 'solar'`, which the view hands on to the index. */
export function addSearch(database: Database.Database): void {
  database.exec(LEAD_TEXT)
  database.exec(LEAD_FTS)
  database.exec(LEAD_SEARCH)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('rebuild')`)
  database.exec(`INSERT INTO lead_fts (lead_fts) VALUES ('optimize')`)
}

const LEAD_TEXT = `CREATE VIEW lead_text AS
  -- one row a lead: the texts that lead_search looks into
  -- no: lead.no
  -- company: name, domain, industry and what the company says of itself
  -- place: city, region and country
  -- contact: name and title of the contact
  -- activity: summaries of what was done with the lead, oldest first; null where none is known
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
  -- leads by words, as in: SELECT company_name, found FROM lead_search WHERE words MATCH 'solar berlin' ORDER BY rank
  -- words: what to search for, by MATCH: words are all to be found, OR between them takes either, solar* is how
  -- words begin, "solar panels" a phrase, company: solar one column of lead_text
  -- rank: how well the lead fits; the least is the best
  -- found: where it was found, the words in [ ]
  SELECT lead_fts.lead_fts AS words, lead_fts.rank AS rank, snippet(lead_fts, -1, '[', ']', '…', 12) AS found,
    lead_now.*
  FROM lead_fts JOIN lead_now ON lead_now.no = lead_fts.rowid`

/*
 * What is published of a store in PostgreSQL, as it was at one moment, in a file that a snapshot is built from as from
 * a store in a file. No private row or column ever comes into it.
 */

/**
 * @param file must not exist; one that is cut short is of no use
 * @throws LeadsheetError store_*, data_unwritable, and the reason of the signal
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

/** Rows come as they are and in their order, and of what would undo them nothing goes to the disk. */
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
  // The table does not do without them.
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

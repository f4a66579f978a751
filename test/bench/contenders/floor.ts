/**
 * Writes what a floor writes: the rows and indexes of leadsheet, as a sync of the first page leaves them. A floor has no
 * mapping by a profile, no checks and nothing to resume: it writes into a fresh file without a journal, in one
 * transaction, with the indexes last. A kill loses it all.
 */
import Database from 'better-sqlite3'
import { LEAD_FIELDS } from '../../../src/domain/lead-fields.ts'
import { COUNT_ALL_DAYS } from '../../../src/store/leads/lead-day.ts'
import { openStore } from '../../../src/store/open.ts'
import { wirePath } from '../../../src/upstream/profile/reference-profile.ts'
import { file, url } from '../step.ts'
import { syncLeads } from './sync.ts'

const PAGE_SIZE = 500

/** The source of a column's value: a path in the record, or a value made beside it. */
export type From =
  | { readonly path: readonly string[] }
  | { readonly made: 'number' | 'record' | 'instant' | 'hash' }
  | { readonly constant: string | number }

type Value = string | number | null

/** A column that has values, with their source. */
interface Column {
  readonly name: string
  readonly from: From
}

const COLUMNS: Readonly<Record<string, From>> = {
  ...Object.fromEntries(LEAD_FIELDS.map(({ column }) => [column, { path: wirePath(column).split('.') }])),
  no: { made: 'number' },
  lead_no: { made: 'number' },
  derived_version: { made: 'number' },
  lead_id: { path: ['id'] },
  raw: { made: 'record' },
  fingerprint: { made: 'hash' },
  valid_from: { path: ['status_changed_at'] },
  changed_at: { path: ['updated_at'] },
  first_seen_at: { made: 'instant' },
  observed_at: { made: 'instant' },
}

export async function openFloor() {
  const tables = await readTables()
  await (await openStore(file, new Date())).close()
  const db = new Database(file)
  const indexes = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
    )
    .all()
  for (const pragma of [
    'journal_mode = OFF',
    'synchronous = OFF',
    'foreign_keys = OFF',
    'cache_size = -65536',
  ])
    db.pragma(pragma)
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)
  db.exec('BEGIN')
  /** Ends the transaction, counts the leads as leadsheet does, and builds the indexes. */
  const finish = (): void => {
    db.exec('COMMIT')
    for (const { sql } of indexes) db.exec(sql)
    db.exec(COUNT_ALL_DAYS)
    db.close()
  }
  return { db, tables, finish }
}

/** Syncs the first page with leadsheet itself. Returns the tables with a row for each lead, and their columns. */
async function readTables() {
  const sample = `${file}-few`
  await using store = await openStore(sample, new Date())
  const { leads } = await syncLeads(store, `${url}/few-v1`)
  const db = new Database(sample, { readonly: true })
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .pluck()
    .all()
  const count = (name: string) => Number(db.prepare(`SELECT count(*) FROM ${name}`).pluck().get())
  const tables = names
    .filter((name) => count(name) === leads.seen)
    .map((name) => ({ name, columns: columnsOf(db, name) }))
  db.close()
  if (leads.seen > PAGE_SIZE || !tables.some(({ name }) => name === 'lead'))
    throw new Error(`the floor: found ${leads.seen} leads and no table with as many rows, expected lead`)
  return tables
}

/** Lists the columns of a table that have values. */
function columnsOf(db: Database.Database, table: string): Column[] {
  const names = db
    .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0')
    .pluck()
    .all(table)
  return names.flatMap((name) => {
    const values = db.prepare<[], Value>(`SELECT DISTINCT ${name} FROM ${table}`).pluck().all()
    const [constant = null, another] = values
    if (values.every((value) => value === null)) return []
    const from = COLUMNS[name]
    if (from !== undefined) return [{ name, from }]
    if (constant !== null && another === undefined) return [{ name, from: { constant } }]
    throw new Error(`the floor: found the column ${table}.${name}, expected one that COLUMNS knows`)
  })
}

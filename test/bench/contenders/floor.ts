/**
 * The floor of a first sync: SQLite parses each page once, and one statement a table inserts the rows of a page. It
 * writes the rows and indexes of leadsheet, as a sync of the first page leaves them. A floor has no mapping by a
 * profile, no checks and nothing to resume: it writes into a fresh file without a journal, in one transaction, with the
 * indexes last. A kill loses it all.
 */
import Database from 'better-sqlite3'
import { LEAD_FIELDS } from '../../../src/domain/lead-fields.ts'
import { COUNT_ALL_DAYS } from '../../../src/store/leads/lead-day.ts'
import { openStore } from '../../../src/store/open.ts'
import { wirePath } from '../../../src/upstream/profile/reference-profile.ts'
import { file, timeStep, url } from '../step.ts'
import { bytesOf } from './pages.ts'
import { syncLeads } from './sync.ts'

const PAGE_SIZE = 500
const NUMBER = ':before + key + 1'
const INSTANT = `'${new Date().toISOString()}'`
const at = (path: string) => `value ->> '$.${path}'`

/** The values of columns as SQL over the records of a page. */
const COLUMNS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LEAD_FIELDS.map(({ column }) => [column, at(wirePath(column))])),
  no: NUMBER,
  lead_no: NUMBER,
  derived_version: NUMBER,
  lead_id: at('id'),
  raw: 'json(value)',
  fingerprint: `substr(${at('id')}, 1, 16)`,
  valid_from: at('status_changed_at'),
  changed_at: at('updated_at'),
  first_seen_at: INSTANT,
  observed_at: INSTANT,
}

const tables = await readTables()
await (await openStore(file, new Date())).close()
const db = new Database(file)
const indexes = db
  .prepare<[], { name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
  )
  .all()
for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'foreign_keys = OFF', 'cache_size = -65536'])
  db.pragma(pragma)
for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)
const parse = db.prepare<[Buffer], Buffer>("SELECT jsonb_extract(CAST(? AS TEXT), '$.data')").pluck()
const inserts = tables.map(({ name, columns }) =>
  db.prepare<{ page: Buffer; before: number }>(
    `INSERT INTO ${name} (${columns.map(([column]) => column).join()})
     SELECT ${columns.map(([, value]) => value).join()} FROM jsonb_each(:page) WHERE :before >= 0`,
  ),
)
const count = db.prepare<[Buffer], number>('SELECT json_array_length(?)').pluck()

await timeStep('first', async () => {
  let before = 0
  db.exec('BEGIN')
  for await (const bytes of bytesOf(`${url}/v1`)) {
    const page = parse.get(bytes) ?? Buffer.alloc(0)
    for (const insert of inserts) insert.run({ page, before })
    before += count.get(page) ?? 0
  }
  db.exec('COMMIT')
  for (const { sql } of indexes) db.exec(sql)
  // Counts the leads as leadsheet does.
  db.exec(COUNT_ALL_DAYS)
  db.close()
})

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

/** Lists the columns of a table that have values, with their SQL. */
function columnsOf(db: Database.Database, table: string): (readonly [column: string, value: string])[] {
  const names = db
    .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0')
    .pluck()
    .all(table)
  return names.flatMap((name) => {
    const values = db
      .prepare<[], string | number | null>(`SELECT DISTINCT ${name} FROM ${table}`)
      .pluck()
      .all()
    const [constant = null, another] = values
    if (values.every((value) => value === null)) return []
    const value = COLUMNS[name]
    if (value !== undefined) return [[name, value] as const]
    if (constant !== null && another === undefined)
      return [[name, typeof constant === 'number' ? `${constant}` : `'${constant}'`] as const]
    throw new Error(`the floor: found the column ${table}.${name}, expected one that COLUMNS knows`)
  })
}

/**
 * Hashes the tables of a database, so that stores with the same knowledge have the same hashes, and lists its leads and
 * those of an upstream.
 */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import type { Store } from '../../../src/store/db/store.ts'
import type { Upstream } from '../../support/upstream.ts'

/** Tables about runs, kills and clocks, which hold no state of the upstream. */
const OF_RUNS = [
  'agent_sample',
  'delivery',
  'field_seen',
  'quarantined_record',
  'installation',
  'lease',
  'message',
  'message_file',
  'pipeline_stage_stat',
  'pipeline_stat',
  'report_issue',
  'scheduled_run',
  'sqlite_stat1',
  'sync_run',
  'sync_scan',
  'sync_scan_page',
  'sync_scan_older',
  'sync_scan_result',
  'sync_watermark',
  'upstream_address',
  'upstream_profile',
]

/** Columns that tell when or by which run a row was written. */
const OF_READING = [
  'asked_at',
  'observed_at',
  'first_seen_at',
  'last_seen_at',
  'run_id',
  'since',
  'fetched_at',
  'mapped_at',
]

/**
 * Returns a hash for each table, such as `{ lead: '4000 rows 3f2a…' }`. With `isExact`, all columns of all
 * tables count.
 */
export function hashTables(file: string, isExact = false): Record<string, string> {
  const database = new Database(file)
  try {
    const tables = database
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all()
      .filter((table) => isExact || (!table.startsWith('kysely_') && !OF_RUNS.includes(table)))
    return Object.fromEntries(tables.map((table) => [table, hashTable(database, table, isExact)]))
  } finally {
    database.close()
  }
}

function hashTable(database: Database.Database, table: string, isExact: boolean): string {
  const columns = database
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
    .pluck()
    .all(table)
    .filter((column) => isExact || !OF_READING.includes(column))
    .map((column) => {
      // The details of a changed lead are due from the time of its sync.
      if (table === 'detail_request' && column === 'due_at' && !isExact) return 'due_at IS NULL'
      // JSON cannot hold bytes, so they are written in hexadecimal.
      return `iif(typeof("${column}") = 'blob', hex("${column}"), "${column}")`
    })
    .join(', ')
  const rows = database
    .prepare<[], string>(`SELECT json_array(${columns}) FROM "${table}" ORDER BY 1`)
    .pluck()
    .all()
  const hash = createHash('sha256')
  for (const row of rows) hash.update(row)
  return `${rows.length} rows ${hash.digest('hex').slice(0, 12)}`
}

/** Returns the leads of a copy that are not deleted, as {@link listOf} does those of an upstream. */
export async function readCopy({ db }: Store): Promise<Line[]> {
  const rows = await db.selectFrom('lead').where('deleted_at', 'is', null).selectAll().orderBy('id').execute()
  return rows.map((row) => [row.id, row.status, row.score, row.updated_at])
}

type Line = readonly [id: string, status: string, score: number | null, updatedAt: string]

export function listOf({ leads }: Upstream): Line[] {
  const all = [...leads.values()].map(
    (lead): Line => [lead.id, lead.status, lead.score ?? null, new Date(lead.updated_at).toISOString()],
  )
  return all.sort(([a], [b]) => (a < b ? -1 : 1))
}

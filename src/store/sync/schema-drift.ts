/** Which fields the records of the upstream have, and what became of them. */

import { sql } from 'kysely'
import type { FieldDrift, FieldType, Instant } from '../../model.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'

/** What a sample of records showed of one field. */
export interface FieldSample {
  readonly types: ReadonlySet<FieldType>
  /** Records that have it, and those of them in which it is null. */
  readonly count: number
  readonly nulls: number
}

/** Below this probability that a field which is still sent was in no record of the sample, it has vanished. */
const CHANCE_MIN = 1e-6

/**
 * Merges a sample into the table. Returns what is new, what has vanished and what is of another type since the
 * last time, each once; nothing the first time.
 */
export async function saveFields(
  trx: Trx,
  sample: ReadonlyMap<string, FieldSample>,
  records: number,
  at: Instant,
): Promise<FieldDrift[]> {
  const rows = await trx.selectFrom('field_seen').selectAll().execute()
  const known = new Map(rows.map((row) => [row.path, { ...row, types: typesOf(row.types) }]))
  const drift: FieldDrift[] = []
  const merged = [...sample].map(([path, { types, count, nulls }]) => {
    const before = known.get(path)
    const added = [...types].filter((type) => !before?.types.includes(type)).sort()
    if (known.size > 0 && (before === undefined || before.missing_since !== null)) {
      drift.push({ change: 'new', path, types: [...types].sort() })
    } else if (before !== undefined && before.types.length > 0 && added.length > 0) {
      drift.push({ change: 'retyped', path, types: added })
    }
    return {
      path,
      types: JSON.stringify([...(before?.types ?? []), ...added].sort()),
      first_seen_at: before?.first_seen_at ?? at,
      last_seen_at: at,
      missing_since: null,
      records: (before?.records ?? 0) + records,
      count: (before?.count ?? 0) + count,
      nulls: (before?.nulls ?? 0) + nulls,
    }
  })
  const gone: string[] = []
  for (const [path, field] of known) {
    if (sample.has(path) || field.missing_since !== null) continue
    // One more, without it, so that a field met once in one record does not count as one that all have.
    if ((1 - field.count / (field.records + 1)) ** records > CHANCE_MIN) continue
    gone.push(path)
    drift.push({ change: 'vanished', path, types: field.types })
  }
  await insertRows(trx, 'field_seen', merged, {
    key: ['path'],
    update: Object.keys(merged[0] ?? {}).slice(1),
  })
  await trx.updateTable('field_seen').where('path', 'in', listOf(gone)).set({ missing_since: at }).execute()
  await trx
    .updateTable('field_seen')
    .where('path', 'not in', listOf([...sample.keys()]))
    .set((eb) => ({ records: eb('records', '+', records) }))
    .execute()
  return drift.sort((a, b) => (a.path < b.path ? -1 : 1))
}

function typesOf(json: string): FieldType[] {
  return JSON.parse(json)
}

/* Fields that scans found to have changed. */

export interface DatedDrift extends FieldDrift {
  /** When the scan ended. */
  readonly at: Instant
}

/** More syncs than a day has at the usual pace. */
const RUNS_MAX = 200

/** Of the scans of the last runs that ended since an instant, the newest first. */
export async function listDrift(db: Db, since: Instant): Promise<DatedDrift[]> {
  const { rows } = await sql<{ drift: string; at: Instant }>`
    SELECT drift, ended_at AS at FROM (SELECT id FROM sync_run ORDER BY rowid DESC LIMIT ${RUNS_MAX}) AS run
    JOIN sync_scan_result ON run_id = run.id WHERE drift <> '[]' AND ended_at >= ${since}
    ORDER BY ended_at DESC`.execute(db)
  return rows.flatMap(({ drift, at }) => {
    const fields: readonly FieldDrift[] = JSON.parse(drift)
    return fields.map((field) => ({ ...field, at }))
  })
}

export interface MissingField {
  readonly path: string
  readonly missingSince: Instant
}

/** Fields that records had and have no more. */
export async function listMissingFields(db: Db): Promise<MissingField[]> {
  const { rows } = await sql<MissingField>`
    SELECT path, missing_since AS "missingSince" FROM field_seen WHERE missing_since IS NOT NULL
    ORDER BY missing_since DESC, path`.execute(db)
  return rows
}

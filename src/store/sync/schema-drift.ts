/** The fields of the upstream's records, and how they have changed. */

import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import type { FieldDrift, FieldType } from '../../domain/sync.ts'
import { insertRows, listOf } from '../db/rows.ts'
import type { Db, Trx } from '../db/store.ts'

interface FieldSample {
  readonly types: ReadonlySet<FieldType>
  readonly count: number
  readonly nulls: number
}

/** A field has vanished if it is missing from all new records with at most this probability by chance. */
const CHANCE_MIN = 1e-6

/** Returns new, vanished and retyped fields since the last save. The first save has nothing to compare. */
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
    // Assumes one more record without the field, so that a field seen in a single record does not count as a
    // field that every record has.
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

interface DatedDrift extends FieldDrift {
  readonly at: Instant
}

/** The latest syncs that are searched for changes. Usually fewer syncs run in a day. */
const RUNS_MAX = 200

/** Lists the changes of fields that the last `RUNS_MAX` syncs have found since an instant, newest first. */
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

interface MissingField {
  readonly path: string
  readonly missingSince: Instant
}

/** Lists the fields that records had and no longer have. */
export async function listMissingFields(db: Db): Promise<MissingField[]> {
  const { rows } = await sql<MissingField>`
    SELECT path, missing_since AS "missingSince" FROM field_seen WHERE missing_since IS NOT NULL
    ORDER BY missing_since DESC, path`.execute(db)
  return rows
}

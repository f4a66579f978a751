/** Fields that scans found to have changed. */
import { sql } from 'kysely'
import type { FieldDrift, Instant } from '../../model.ts'
import type { Db } from '../db/store.ts'

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

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
    JOIN sync_scan_verdict ON run_id = run.id WHERE drift <> '[]' AND ended_at >= ${since}
    ORDER BY ended_at DESC`.execute(db)
  return rows.flatMap(({ drift, at }) => {
    const fields: readonly FieldDrift[] = JSON.parse(drift)
    return fields.map((field) => ({ ...field, at }))
  })
}

export interface GoneField {
  readonly path: string
  readonly goneSince: Instant
}

/** Fields that records had and have no more. */
export async function listGoneFields(db: Db): Promise<GoneField[]> {
  const { rows } = await sql<GoneField>`
    SELECT path, gone_since AS "goneSince" FROM field_seen WHERE gone_since IS NOT NULL
    ORDER BY gone_since DESC, path`.execute(db)
  return rows
}

/** What has happened in the store that a snapshot does not show yet. */
import { sql } from 'kysely'
import type { Db } from '../db/store.ts'
import type { SnapshotInfo } from './snapshot.ts'

export interface SnapshotNews {
  /** The last migration of the store. */
  readonly schema: string
  /** The last sync that read the leads to their end, shown or not; null before the first. */
  readonly wholeRunId: string | null
  /** Leads that syncs since the one shown have brought, changed or removed, and events since it was made. */
  readonly changes: number
  /** Leads whose details they have read. */
  readonly details: number
  /** Reports that were made since. */
  readonly issues: number
}

/** @param info null counts everything as news */
export async function readSnapshotNews(db: Db, info: SnapshotInfo | null): Promise<SnapshotNews> {
  const madeAt = info?.madeAt ?? ''
  const { rows } = await sql<SnapshotNews>`
    SELECT (SELECT max(name) FROM kysely_migration) AS schema,
      (SELECT id FROM sync_run WHERE leads_as_of IS NOT NULL ORDER BY rowid DESC LIMIT 1) AS "wholeRunId",
      coalesce(sum(leads_inserted + leads_updated + leads_removed), 0)
        + (SELECT count(*) FROM event WHERE done_at > ${madeAt} AND outcome IN ('inserted', 'updated', 'removed')
          AND received_at > coalesce(strftime('%Y-%m-%dT%H:%M:%fZ', nullif(${madeAt}, ''), '-1 day'), '')) AS changes,
      coalesce(sum(details_read) FILTER (WHERE finished_at > ${madeAt}), 0) AS details,
      (SELECT count(*) FROM report_issue WHERE rendered_at > ${madeAt}) AS issues
    FROM sync_run
    WHERE rowid > coalesce((SELECT rowid FROM sync_run WHERE id = ${info?.runId ?? null}), 0)`.execute(db)
  const [news] = rows
  if (!news) throw new TypeError('a sum has one row')
  return news
}

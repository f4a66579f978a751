/**
 * Counts what the dashboard shows of pipelines and agents. Because this takes seconds with many leads and
 * would block the daemon, a child process counts an SQLite store. PostgreSQL counts in its own server.
 */
import { dirname } from 'node:path'
import { sql } from 'kysely'
import { cancellableQuery } from '../db/postgres.ts'
import type { Db, Store } from '../db/store.ts'
import { askChild, programFile } from '../db/subprocess.ts'
import type { OverviewJob } from './overview-child.ts'
import { type Overview, type OverviewRequest, readOverview } from './pipeline-overview.ts'

const CHILD = programFile(import.meta.url, 'overview-child')
/** Because other programs use the PostgreSQL server too, the query may not take longer than this. */
const TIMEOUT_MS = 5 * 60_000

/**
 * Counts the overview.
 * @throws any error of the store, and the reason of an aborted signal
 */
export async function countOverview(
  { db, place }: Pick<Store, 'db' | 'place'>,
  request: OverviewRequest,
  signal: AbortSignal,
): Promise<Overview> {
  if (place.kind === 'postgres')
    return cancellableQuery(db, (one) => readOverview(one, request), { signal, timeoutMs: TIMEOUT_MS })
  const { file } = place
  return askChild<OverviewJob, Overview>(CHILD, { file, request }, { folder: dirname(file), signal })
}

/**
 * Returns a text that changes when a sync ends or old rows are pruned. While the text is the same, the
 * overview is the same too.
 */
export async function readOverviewMark(db: Db): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    SELECT (SELECT coalesce(max(rowid), 0) FROM sync_run WHERE outcome IS NOT NULL)
      || ' ' || (SELECT coalesce(sum("rows"), 0) FROM pruned) AS mark`.execute(db)
  return rows[0]?.mark ?? ''
}

/**
 * What the window shows of pipelines and agents, counted by a process of its own: with many leads it takes seconds,
 * in which the daemon would do nothing else.
 */
import { dirname } from 'node:path'
import { sql } from 'kysely'
import { askChild } from './ask-child.ts'
import type { Overview, OverviewRequest } from './figures/overview.ts'
import type { Db } from './open.ts'
import type { OverviewJob } from './overview-child.ts'
import { programFile } from './program-file.ts'

const CHILD = programFile(import.meta.url, 'overview-child')

/**
 * @param file of the store
 * @throws what any use of the store throws, and the reason of the signal
 */
export async function countOverview(
  file: string,
  request: OverviewRequest,
  signal: AbortSignal,
): Promise<Overview> {
  return askChild<OverviewJob, Overview>(CHILD, { file, request }, { folder: dirname(file), signal })
}

/** Differs once a sync has ended, or the past was pruned: only then may an overview differ. */
export async function readOverviewMark(db: Db): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    SELECT (SELECT coalesce(max(rowid), 0) FROM sync_run WHERE outcome IS NOT NULL)
      || ' ' || (SELECT coalesce(sum("rows"), 0) FROM pruned) AS mark`.execute(db)
  return rows[0]?.mark ?? ''
}

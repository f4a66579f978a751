/**
 * Versions of leads that had ended long ago go, with the moves that only they told of. What a lead was at any instant
 * from the limit on stays as it is: one that spans the limit stays, and so does the present one.
 */
import { sql } from 'kysely'
import type { Instant } from '../../model.ts'
import { deleteRows } from '../db/rows.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { refreshStageMoves } from '../leads/stage-move.ts'
import type { LeadVersionTable } from '../tables/history-tables.ts'
import type { PruneCounts, PruneOptions } from './downsample.ts'
import { addPruned } from './retention-log.ts'

/** Few enough for a transaction that nobody notices: the moves of their leads are drawn anew. */
const CHUNK_ROWS = 100

type Version = Pick<LeadVersionTable, 'lead_id' | 'valid_from' | 'valid_to'>

/** @param before UTC */
export async function pruneVersions(
  store: Store,
  before: Instant,
  options: PruneOptions,
): Promise<PruneCounts> {
  const counts = { read: 0, gone: 0 }
  let after: Version | null = null
  for (;;) {
    const chunk: Version[] = await readChunk(store.db, after, before)
    const ended = chunk.filter((version) => version.valid_to !== null && version.valid_to <= before)
    if (!options.isDry && ended.length > 0)
      await store.write((trx) => deleteVersions(trx, ended, before, options.now))
    counts.read += chunk.length
    counts.gone += ended.length
    after = chunk.at(-1) ?? null
    await options.pause()
    if (chunk.length < CHUNK_ROWS) return counts
  }
}

/** In the order of `lead_version_by_time`. */
async function readChunk(db: Db, after: Version | null, before: Instant): Promise<Version[]> {
  const { rows } = await sql<Version>`
    SELECT lead_id, valid_from, valid_to FROM lead_version
    WHERE (valid_from, lead_id) > (${after?.valid_from ?? ''}, ${after?.lead_id ?? ''}) AND valid_from < ${before}
    ORDER BY valid_from, lead_id LIMIT ${CHUNK_ROWS}`.execute(db)
  return rows
}

async function deleteVersions(
  trx: Trx,
  versions: readonly Version[],
  before: Instant,
  now: Instant,
): Promise<void> {
  await deleteRows(trx, 'lead_version', versions, ['lead_id', 'valid_from'])
  await refreshStageMoves(trx, [...new Set(versions.map((version) => version.lead_id))])
  await addPruned(trx, { table_name: 'lead_version', rule: 'ended', before, rows: versions.length }, now)
}

/**
 * Deletes old rows. A sample is what was known of an agent or a pipeline at one time. Of old samples, the
 * first of each hour stays. Of still older samples, only the first of each day stays. A sample with a new
 * status and the last sample always stay. Versions of leads that ended long ago are deleted.
 */
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { deleteRows, listOf } from '../db/rows.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { withLeadDays } from '../leads/lead-day.ts'
import { refreshStageMoves } from '../leads/stage-move.ts'
import type { LeadVersionTable, PrunedTable } from '../tables/lead-tables.ts'

/** The maximum number of rows in one transaction, so that each transaction is short. */
const CHUNK_ROWS = 500

const SERIES = {
  agent_sample: { key: 'agent_id', owner: 'agent', status: sql<string>`status`, part: null },
  // The statistics of a pipeline have no status.
  pipeline_stat: {
    key: 'pipeline_id',
    owner: 'pipeline',
    status: sql<string>`''`,
    part: 'pipeline_stage_stat',
  },
} as const
export type Series = keyof typeof SERIES

/**
 * The limits of downsampling, each in UTC at the beginning of a day. Of the samples before `hourlyBefore`,
 * one for each hour stays. Of the samples before `dailyBefore`, only one for each day stays. `dailyBefore` is
 * not later than `hourlyBefore`.
 */
interface DownsamplePlan {
  readonly hourlyBefore: Instant
  readonly dailyBefore: Instant
}

export interface PruneOptions {
  readonly now: Instant
  /** Tells whether rows are only counted and none is deleted. */
  readonly isDry: boolean
  /** The function that is called between two chunks. A chunk takes a few milliseconds. */
  readonly pause: () => Promise<void>
}

export interface PruneCounts {
  /** The number of rows older than the limit. */
  readonly read: number
  /** The number of these rows that were deleted. If `isDry`, the number that would be deleted. */
  readonly deleted: number
}

export async function downsampleRows(
  store: Store,
  series: Series,
  plan: DownsamplePlan,
  options: PruneOptions,
): Promise<PruneCounts> {
  const counts = { read: 0, deleted: 0 }
  for (const id of await listOwners(store.db, series)) {
    const last = await findLast(store.db, series, id)
    let before: Sample | null = null
    for (;;) {
      const chunk: Sample[] = await readChunk(store.db, series, id, before?.at ?? '', plan)
      const surplus = surplusOf(chunk, before, plan).filter((at) => at !== last)
      if (!options.isDry && surplus.length > 0)
        await store.write((trx) => deleteSamples(trx, series, id, surplus, plan, options.now))
      counts.read += chunk.length
      counts.deleted += surplus.length
      before = chunk.at(-1) ?? null
      await options.pause()
      if (chunk.length < CHUNK_ROWS) break
    }
  }
  return counts
}

interface Sample {
  readonly at: Instant
  readonly status: string
}

/**
 * Lists the times of the samples that can be deleted.
 * @param samples the samples of one agent or pipeline, in order of time
 * @param before the last sample before `samples`; null where there is none
 */
function surplusOf(samples: readonly Sample[], before: Sample | null, plan: DownsamplePlan): Instant[] {
  return samples
    .filter(({ at, status }, index) => {
      const previous = samples[index - 1] ?? before
      return previous !== null && previous.status === status && spanOf(previous.at, plan) === spanOf(at, plan)
    })
    .map(({ at }) => at)
}

/** Returns the day or the hour of a sample, such as `2026-11-21T06`. One sample of each day or hour stays. */
function spanOf(at: Instant, { dailyBefore }: DownsamplePlan): string {
  return at < dailyBefore ? at.slice(0, '2026-11-21'.length) : at.slice(0, '2026-11-21T06'.length)
}

async function listOwners(db: Db, series: Series): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM ${sql.table(SERIES[series].owner)} ORDER BY id`.execute(db)
  return rows.map(({ id }) => id)
}

async function findLast(db: Db, series: Series, id: string): Promise<Instant | null> {
  const { rows } = await sql<{ at: Instant | null }>`
    SELECT max(observed_at) AS at FROM ${sql.table(series)} WHERE ${sql.ref(SERIES[series].key)} = ${id}`.execute(
    db,
  )
  return rows[0]?.at ?? null
}

async function readChunk(
  db: Db,
  series: Series,
  id: string,
  after: Instant,
  { hourlyBefore }: DownsamplePlan,
): Promise<Sample[]> {
  const { key, status } = SERIES[series]
  const { rows } = await sql<Sample>`
    SELECT observed_at AS at, ${status} AS status FROM ${sql.table(series)}
    WHERE ${sql.ref(key)} = ${id} AND observed_at > ${after} AND observed_at < ${hourlyBefore}
    ORDER BY observed_at LIMIT ${CHUNK_ROWS}`.execute(db)
  return rows
}

async function deleteSamples(
  trx: Trx,
  series: Series,
  id: string,
  instants: readonly Instant[],
  { hourlyBefore, dailyBefore }: DownsamplePlan,
  now: Instant,
): Promise<void> {
  const { key, part } = SERIES[series]
  for (const table of part === null ? [series] : [part, series]) {
    await sql`DELETE FROM ${sql.table(table)}
      WHERE ${sql.ref(key)} = ${id} AND observed_at IN ${listOf(instants)}`.execute(trx)
  }
  const daily = instants.filter((at) => at < dailyBefore).length
  const hourly = instants.length - daily
  await addPruned(trx, { table_name: series, rule: 'daily', before: dailyBefore, rows: daily }, now)
  await addPruned(trx, { table_name: series, rule: 'hourly', before: hourlyBefore, rows: hourly }, now)
}

/**
 * The maximum number of versions in one transaction. A transaction with more versions would take long,
 * because the moves of their leads are derived again.
 */
const VERSIONS_A_CHUNK = 100

type Version = Pick<LeadVersionTable, 'lead_id' | 'valid_from' | 'valid_to'>

/**
 * Deletes the versions of leads that ended before an instant, and the moves that are known only from these
 * versions. Versions that ended later and present versions stay, so that the history since then is unchanged.
 * @param before the instant, in UTC
 */
export async function pruneVersions(
  store: Store,
  before: Instant,
  options: PruneOptions,
): Promise<PruneCounts> {
  // A version that is derived from the row of a lead is the lead's present version, so it stays.
  const counts = { read: await countDerived(store.db, before), deleted: 0 }
  let after: Version | null = null
  for (;;) {
    const chunk: Version[] = await readVersionChunk(store.db, after, before)
    const ended = chunk.filter((version) => version.valid_to !== null && version.valid_to <= before)
    if (!options.isDry && ended.length > 0)
      await store.write((trx) => deleteVersions(trx, ended, before, options.now))
    counts.read += chunk.length
    counts.deleted += ended.length
    after = chunk.at(-1) ?? null
    await options.pause()
    if (chunk.length < VERSIONS_A_CHUNK) return counts
  }
}

async function countDerived(db: Db, before: Instant): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM lead
    WHERE derived_version IS NOT NULL AND status_changed_at < ${before}`.execute(db)
  return rows[0]?.n ?? 0
}

/** Reads stored versions in the order of the index `lead_history_by_start`. */
async function readVersionChunk(db: Db, after: Version | null, before: Instant): Promise<Version[]> {
  const { rows } = await sql<Version>`
    SELECT lead_id, valid_from, valid_to FROM lead_history
    WHERE (valid_from, lead_id) > (${after?.valid_from ?? ''}, ${after?.lead_id ?? ''}) AND valid_from < ${before}
    ORDER BY valid_from, lead_id LIMIT ${VERSIONS_A_CHUNK}`.execute(db)
  return rows
}

async function deleteVersions(
  trx: Trx,
  versions: readonly Version[],
  before: Instant,
  now: Instant,
): Promise<void> {
  const leadIds = [...new Set(versions.map((version) => version.lead_id))]
  await withLeadDays(trx, leadIds, () => deleteRows(trx, 'lead_history', versions, ['lead_id', 'valid_from']))
  await refreshStageMoves(trx, leadIds)
  await addPruned(trx, { table_name: 'lead_version', rule: 'ended', before, rows: versions.length }, now)
}

/**
 * Saves how many rows were pruned, by which rule and up to when. Call this function in the transaction that
 * deletes the rows, so that no row is deleted without a record.
 */
async function addPruned(trx: Trx, pruned: Omit<PrunedTable, 'pruned_at'>, at: Instant): Promise<void> {
  if (pruned.rows === 0) return
  await trx
    .insertInto('pruned')
    .values({ ...pruned, pruned_at: at })
    .onConflict((conflict) =>
      conflict.columns(['table_name', 'rule']).doUpdateSet({
        // Keeps the later limit. A longer retention makes the limit earlier, but the rows that were pruned up
        // to the old limit stay pruned.
        before: sql<string>`max(pruned.before, excluded.before)`,
        pruned_at: at,
        rows: sql<number>`pruned.rows + excluded.rows`,
      }),
    )
    .execute()
}

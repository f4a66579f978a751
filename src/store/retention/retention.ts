/**
 * Deletes old rows, in short transactions. A sample is what was known of an agent or a
 * pipeline at one time: of the old samples of a day, the first stays, each with a new status, and the very
 * last. Events go as a whole.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { DAY_MS } from '../../time.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

/** The maximum number of events in one transaction, so that each transaction is short. */
const EVENTS_A_CHUNK = 500

/** The series of samples. The statistics of a pipeline have no status, so its id stands for one. */
const SERIES = {
  agent_sample: { key: 'agent_id', owner: 'agent', status: 'status', part: null },
  pipeline_stat: {
    key: 'pipeline_id',
    owner: 'pipeline',
    status: 'pipeline_id',
    part: 'pipeline_stage_stat',
  },
} as const
export type Series = keyof typeof SERIES

interface PruneOptions {
  /** For samples, the beginning of a UTC day. */
  readonly before: Instant
  readonly now: Instant
  readonly pause: () => Promise<void>
}

/** Returns the number of samples that were deleted. Days before the last limit are not read again. */
export async function pruneSamples(store: Store, series: Series, options: PruneOptions): Promise<number> {
  let deleted = 0
  let from = await findFirstDay(store.db, series)
  while (from !== null && from < options.before) {
    const [day, to] = [from, new Date(Date.parse(from) + DAY_MS).toISOString()]
    deleted += await store.write(async (trx) => {
      const rows = await deleteSamples(trx, series, surplusOf(series, day, to))
      await notePruned(trx, { table_name: series, before: to, pruned_at: options.now, rows })
      return rows
    })
    await options.pause()
    from = to
  }
  return deleted
}

async function findFirstDay(db: Db, series: Series): Promise<Instant | null> {
  const { key, owner } = SERIES[series]
  const { rows } = await sql<{ at: Instant | null }>`SELECT coalesce(
      (SELECT before FROM pruned WHERE table_name = ${series}),
      (SELECT min((SELECT min(observed_at) FROM ${sql.table(series)} WHERE ${sql.ref(key)} = owner.id))
        FROM ${sql.table(owner)} AS owner)) AS at`.execute(db)
  const at = rows[0]?.at ?? null
  return at === null ? null : new Date(Math.floor(Date.parse(at) / DAY_MS) * DAY_MS).toISOString()
}

/** Selects the samples of a day that can go. The primary key finds those of each agent or pipeline. */
function surplusOf(series: Series, from: Instant, to: Instant): RawBuilder<unknown> {
  const { owner } = SERIES[series]
  const [table, key, status] = [
    sql.table(series),
    sql.ref(SERIES[series].key),
    sql.ref(`sample.${SERIES[series].status}`),
  ]
  return sql`SELECT ${key}, observed_at FROM (
      SELECT ${key}, sample.observed_at, ${status} = lag(${status}) OVER (PARTITION BY ${key} ORDER BY sample.observed_at) AS is_surplus
      FROM ${sql.table(owner)} AS owner CROSS JOIN ${table} AS sample
      WHERE ${key} = owner.id AND sample.observed_at >= ${from} AND sample.observed_at < ${to}) AS of_day
    WHERE is_surplus AND observed_at < (SELECT max(observed_at) FROM ${table} AS each WHERE each.${key} = of_day.${key})`
}

async function deleteSamples(trx: Trx, series: Series, surplus: RawBuilder<unknown>): Promise<number> {
  const { key, part } = SERIES[series]
  const deleteFrom = async (table: string): Promise<number> => {
    const { numAffectedRows } = await sql`DELETE FROM ${sql.table(table)}
      WHERE (${sql.ref(key)}, observed_at) IN (${surplus})`.execute(trx)
    return Number(numAffectedRows ?? 0)
  }
  if (part !== null) await deleteFrom(part)
  return deleteFrom(series)
}

/** Waiting events stay, however old they are. Returns the number of deleted events. */
export async function pruneEvents(store: Store, { before, pause }: PruneOptions): Promise<number> {
  const done = sql`SELECT id FROM event WHERE received_at < ${before} AND done_at IS NOT NULL LIMIT ${EVENTS_A_CHUNK}`
  for (let deleted = 0; ; ) {
    const { numAffectedRows } = await store.write((trx) =>
      sql`DELETE FROM event WHERE id IN (${done})`.execute(trx),
    )
    const inChunk = Number(numAffectedRows ?? 0)
    deleted += inChunk
    await pause()
    if (inChunk < EVENTS_A_CHUNK) return deleted
  }
}

async function notePruned(trx: Trx, pruned: Row<'pruned'>): Promise<void> {
  const rows = sql<number>`pruned.rows + excluded.rows`
  await trx
    .insertInto('pruned')
    .values(pruned)
    .onConflict((conflict) => conflict.column('table_name').doUpdateSet({ ...pruned, rows }))
    .execute()
}

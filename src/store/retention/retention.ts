/**
 * Deletes old rows, in short transactions. A sample is what was known of an agent or a
 * pipeline at one time: of the old samples of a day, the first stays, each with a new status, and the very
 * last. States of leads and events go as a whole.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { DAY_MS } from '../../time.ts'
import { deleteRows } from '../db/rows.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import { withLeadDays } from '../leads/lead-day.ts'
import { refreshStageMoves } from '../leads/stage-move.ts'
import type { Row } from '../tables/tables.ts'

/** The maximum number of events in one transaction, so that each transaction is short. */
const EVENTS_A_CHUNK = 500
/** The same for states of leads. It is smaller, because the moves of their leads are derived again. */
const VERSIONS_A_CHUNK = 100

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
  readonly isDry: boolean
  readonly pause: () => Promise<void>
}

/** Returns the number of samples that were deleted. Days before the last limit are not read again. */
export async function pruneSamples(store: Store, series: Series, options: PruneOptions): Promise<number> {
  let deleted = 0
  let from = await findFirstDay(store.db, series)
  while (from !== null && from < options.before) {
    const day = { from, to: new Date(Date.parse(from) + DAY_MS).toISOString() }
    const surplus = surplusOf(series, day)
    deleted += options.isDry
      ? await countRows(store.db, surplus)
      : await store.write(async (trx) => {
          const rows = await deleteSamples(trx, series, surplus)
          await addPruned(trx, series, { before: day.to, rows }, options.now)
          return rows
        })
    await options.pause()
    from = day.to
  }
  return deleted
}

interface Day {
  readonly from: Instant
  readonly to: Instant
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
function surplusOf(series: Series, { from, to }: Day): RawBuilder<unknown> {
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

/** Deletes states that ended before the limit, and moves known only from them. Returns how many states. */
export async function pruneVersions(store: Store, options: PruneOptions): Promise<number> {
  const ended = sql`SELECT lead_id, valid_from FROM lead_history WHERE valid_to <= ${options.before}`
  return deleteInChunks(store, ended, options, VERSIONS_A_CHUNK, async (trx, chunk) => {
    const { rows } = await sql<Pick<Row<'lead_version'>, 'lead_id' | 'valid_from'>>`${chunk}`.execute(trx)
    const leadIds = [...new Set(rows.map(({ lead_id }) => lead_id))]
    await withLeadDays(trx, leadIds, () => deleteRows(trx, 'lead_history', rows, ['lead_id', 'valid_from']))
    await refreshStageMoves(trx, leadIds)
    await addPruned(trx, 'lead_version', { before: options.before, rows: rows.length }, options.now)
    return rows.length
  })
}

/** Waiting events stay, however old they are. Returns the number of deleted events. */
export async function pruneEvents(store: Store, options: PruneOptions): Promise<number> {
  const done = sql`SELECT id FROM event WHERE received_at < ${options.before} AND done_at IS NOT NULL`
  return deleteInChunks(store, done, options, EVENTS_A_CHUNK, async (trx, chunk) => {
    const { numAffectedRows } = await sql`DELETE FROM event WHERE id IN (${chunk})`.execute(trx)
    return Number(numAffectedRows ?? 0)
  })
}

async function deleteInChunks(
  store: Store,
  surplus: RawBuilder<unknown>,
  { isDry, pause }: PruneOptions,
  size: number,
  deleteChunk: (trx: Trx, chunk: RawBuilder<unknown>) => Promise<number>,
): Promise<number> {
  if (isDry) return countRows(store.db, surplus)
  for (let deleted = 0; ; ) {
    const inChunk = await store.write((trx) => deleteChunk(trx, sql`${surplus} LIMIT ${size}`))
    deleted += inChunk
    await pause()
    if (inChunk < size) return deleted
  }
}

async function countRows(db: Db, surplus: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (${surplus}) AS surplus`.execute(db)
  return rows[0]?.n ?? 0
}

async function addPruned(
  trx: Trx,
  table: Series | 'lead_version',
  { before, rows }: { readonly before: Instant; readonly rows: number },
  at: Instant,
): Promise<void> {
  await trx
    .insertInto('pruned')
    .values({ table_name: table, before, pruned_at: at, rows })
    .onConflict((conflict) =>
      conflict.column('table_name').doUpdateSet({
        // A longer retention makes the limit earlier, but the rows that were pruned up to the old limit stay pruned.
        before: sql<string>`max(pruned.before, excluded.before)`,
        pruned_at: at,
        rows: sql<number>`pruned.rows + excluded.rows`,
      }),
    )
    .execute()
}

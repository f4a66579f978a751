/** When the daemon ran: times without a gap, by which it can be said why something was late or missed. */
import { hostname } from 'node:os'
import { type Selectable, sql } from 'kysely'
import type { Instant } from '../../model.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db, Trx } from '../db/store.ts'
import type { DaemonSpanTable } from '../tables/tables.ts'

/** A worker that ran when another was ended has given a sign of life so shortly before. */
const BESIDE_MS = 150_000
/** A daemon that is started again and again must not fill the disk. */
const SPANS_MAX = 1000

/** Begins a new one, and returns its id. */
export async function addSpan(
  trx: Trx,
  { at, after }: { readonly at: Instant; readonly after: DaemonSpanTable['began_after'] },
): Promise<number> {
  const { id } = await trx
    .insertInto('daemon_span')
    .values({
      ...{ began_at: at, began_after: after, last_tick_at: at, ended_at: null },
      ...{ host: hostname(), pid: process.pid },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await trx
    .deleteFrom('daemon_span')
    .where('id', '<=', id - SPANS_MAX)
    .execute()
  return id
}

export async function touchSpan(trx: Trx, id: number, at: Instant): Promise<void> {
  await trx.updateTable('daemon_span').where('id', '=', id).set({ last_tick_at: at }).execute()
}

export async function endSpan(trx: Trx, id: number, at: Instant): Promise<void> {
  await trx.updateTable('daemon_span').where('id', '=', id).set({ last_tick_at: at, ended_at: at }).execute()
}

/**
 * The last one that began, wherever the clock stood then; of several workers that with the last sign of life, and one
 * that runs before one that was just ended. Undefined where no daemon ever ran.
 */
export async function findLastSpan(db: Db): Promise<Selectable<DaemonSpanTable> | undefined> {
  const spans = db.selectFrom('daemon_span').selectAll().limit(1)
  if (!isPostgres(db)) return spans.orderBy('id', 'desc').executeTakeFirst()
  const last = await spans.orderBy('last_tick_at', 'desc').orderBy('id', 'desc').executeTakeFirst()
  if (last === undefined || last.ended_at === null) return last
  const beside = new Date(Date.parse(last.last_tick_at) - BESIDE_MS).toISOString()
  const living = spans.where('ended_at', 'is', null).where('last_tick_at', '>=', beside)
  return (await living.orderBy('last_tick_at', 'desc').executeTakeFirst()) ?? last
}

/** Of a machine that works on the store with others, while it runs. */
export interface WorkerSpan {
  readonly host: string
  readonly pid: number
  readonly began_at: Instant
  readonly last_tick_at: Instant
}

/** Those that have given a sign of life since an instant and were not ended. */
export async function listLivingSpans(db: Db, since: Instant): Promise<WorkerSpan[]> {
  return db
    .selectFrom('daemon_span')
    .where('ended_at', 'is', null)
    .where('last_tick_at', '>=', since)
    .select(['host', 'pid', 'began_at', 'last_tick_at'])
    .orderBy('host')
    .orderBy('began_at')
    .execute()
}

/** When the clock was set between two instants: what it said before, and what after. */
export async function listClockSets(
  db: Db,
  since: Instant,
  until: Instant,
): Promise<{ from: Instant; to: Instant }[]> {
  const { rows } = await sql<{ from: Instant; to: Instant }>`
    SELECT before.last_tick_at AS "from", span.began_at AS "to" FROM daemon_span AS span
    JOIN daemon_span AS before ON before.id = span.id - 1
    WHERE span.began_after = 'clock' AND span.began_at >= ${since} AND span.began_at <= ${until}
    ORDER BY span.id`.execute(db)
  return rows
}

/** A time through which no daemon did anything, and why; without an end while none has begun since. */
export interface Gap {
  /** Null where none ran before. */
  readonly from: Instant | null
  readonly to: Instant | null
  readonly why: DaemonSpanTable['began_after']
}

/** The times without a daemon that are longer than so, the newest first; that since its last sign of life included. */
export async function listGaps(
  db: Db,
  { since, now, leastMs }: { readonly since: Instant; readonly now: Instant; readonly leastMs: number },
): Promise<Gap[]> {
  const { rows } = await sql<Gap>`WITH gap AS (
      SELECT max(last_tick_at) OVER ends AS "from", lead(began_at) OVER ends AS "to",
        coalesce(lead(began_after) OVER ends, 'down') AS why
      FROM daemon_span WINDOW ends AS (ORDER BY began_at, id))
    SELECT * FROM gap WHERE coalesce("to", ${now}) > ${since}
      AND (julianday(coalesce("to", ${now})) - julianday("from")) * 86400000 > ${leastMs}
    ORDER BY "from" DESC`.execute(db)
  return rows
}

/** The gap that an instant lies in; null where the daemon ran then. */
export async function findGap(db: Db, at: Instant): Promise<Gap | null> {
  const covering = await db
    .selectFrom('daemon_span')
    .where('began_at', '<=', at)
    .where('last_tick_at', '>=', at)
    .select('id')
    .executeTakeFirst()
  if (covering) return null
  const before = await db
    .selectFrom('daemon_span')
    .where('last_tick_at', '<', at)
    .select(sql<Instant | null>`max(last_tick_at)`.as('last_tick_at'))
    .executeTakeFirst()
  const after = await db
    .selectFrom('daemon_span')
    .where('began_at', '>', at)
    .select(['began_at', 'began_after'])
    .orderBy('began_at')
    .executeTakeFirst()
  return {
    from: before?.last_tick_at ?? null,
    to: after?.began_at ?? null,
    why: after?.began_after ?? 'down',
  }
}

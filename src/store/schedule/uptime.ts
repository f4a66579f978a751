/** When the daemon ran: times without a gap, by which it can be said why something was late or missed. */

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { Instant } from '../../model.ts'
import type { StorePlace } from '../db/place.ts'
import type { PostgresPlace } from '../db/postgres.ts'
import { glance, isPostgres } from '../db/postgres.ts'
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

/*
 * The last beat of the daemon, read by whoever only wants to know whether it lives: without migrating, and without
 * leaving anything beside the file, which might then belong to another user than the daemon's.
 */

export interface LastHeartbeat {
  readonly last_tick_at: Instant
  /** When it was stopped; null where it runs, or was killed. */
  readonly ended_at: Instant | null
}

/** So long ago a worker that runs has given a sign of life. */
const LIVING_MS = 180_000
/** Another process may just be opening the file, or closing it as the last one: both lock out readers. */
const BUSY_TIMEOUT_MS = 2_000

/**
 * @returns undefined where there is no database yet, or no daemon has used it
 * @throws LeadsheetError store_corrupt, store_unreachable, store_refused
 */
export async function readLastHeartbeat(place: StorePlace): Promise<LastHeartbeat | undefined> {
  return place.kind === 'sqlite' ? readBeatOfFile(place.file) : readBeatOfServer(place)
}

function readBeatOfFile(file: string): LastHeartbeat | undefined {
  if (!existsSync(file)) return undefined
  const url = pathToFileURL(file)
  // Nobody has it open, so that nothing changes; SQLite would make the files that its users share.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1')
  try {
    using database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'daemon_span'").get()
    if (isThere === undefined) return undefined
    const row = database
      .prepare('SELECT last_tick_at, ended_at FROM daemon_span ORDER BY id DESC LIMIT 1')
      .get()
    return row === undefined ? undefined : beatOf(row)
  } catch (cause) {
    throw new LeadsheetError('store_corrupt', `${file} cannot be read: ${errorText(cause)}`, {
      hint: `${shellCommand('doctor')} looks into it.`,
      cause,
    })
  }
}

/** Of a worker on this machine, which a container asks for, else of any; one that runs before one that was ended. */
async function readBeatOfServer(place: PostgresPlace): Promise<LastHeartbeat | undefined> {
  return glance(place, 'daemon_span', async (client) => {
    const { rows } = await client.query(
      `SELECT last_tick_at, ended_at FROM daemon_span
      ORDER BY host = $1 DESC, ended_at IS NULL AND last_tick_at >= $2 DESC, last_tick_at DESC LIMIT 1`,
      [hostname(), new Date(Date.now() - LIVING_MS).toISOString()],
    )
    return rows[0] === undefined ? undefined : beatOf(rows[0])
  })
}

function beatOf({ last_tick_at, ended_at }: Readonly<Record<string, unknown>>): LastHeartbeat {
  return { last_tick_at: String(last_tick_at), ended_at: ended_at === null ? null : String(ended_at) }
}

/* When the daemon read its settings, and whether it went over to them. */

/** Whoever keeps asking for wrong settings must not fill the disk. */
const READINGS_MAX = 100

export interface ConfigLoad {
  readonly id: number
  readonly at: Instant
  /** What was wrong with them; null where they are in force since. */
  readonly refused: string | null
  /** The names of those that differ from the ones in force before; null where there were none. */
  readonly changed: readonly string[] | null
  readonly pid: number
  readonly host: string
}

export async function addConfigLoad(
  trx: Trx,
  reading: Pick<ConfigLoad, 'at' | 'refused' | 'changed'> & { readonly program: string },
): Promise<void> {
  const { at, refused, changed, program } = reading
  const { id } = await trx
    .insertInto('config_load')
    .values({
      ...{ read_at: at, refused, changed: changed && JSON.stringify(changed), program },
      ...{ host: hostname(), pid: process.pid },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await trx
    .deleteFrom('config_load')
    .where('id', '<=', id - READINGS_MAX)
    .execute()
}

/** A daemon, where several may run. */
export type ReadBy = Pick<ConfigLoad, 'host' | 'pid'>

/** The last one, or the last that came into force; of any daemon, or of one. */
export async function findConfigLoad(
  db: Db,
  which: 'last' | 'in_force',
  by: ReadBy | null = null,
): Promise<ConfigLoad | undefined> {
  const all = readings(db).orderBy('id', 'desc')
  const last = by === null ? all : all.where('host', '=', by.host).where('pid', '=', by.pid)
  return readingOf(await (which === 'last' ? last : last.where('refused', 'is', null)).executeTakeFirst())
}

/** The one of the same daemon that came after one. */
export async function findNextConfigLoad(
  db: Db,
  { id, host, pid }: Pick<ConfigLoad, 'id'> & ReadBy,
): Promise<ConfigLoad | undefined> {
  const own = readings(db).where('host', '=', host).where('pid', '=', pid)
  return readingOf(await own.where('id', '>', id).orderBy('id').executeTakeFirst())
}

function readings(db: Db) {
  return db
    .selectFrom('config_load')
    .select(['id', 'read_at as at', 'refused', 'changed', 'pid', 'host'])
    .limit(1)
}

function readingOf(
  row: Awaited<ReturnType<ReturnType<typeof readings>['executeTakeFirst']>>,
): ConfigLoad | undefined {
  return row && { ...row, changed: row.changed === null ? null : JSON.parse(row.changed) }
}

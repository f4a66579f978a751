/**
 * The uptimes of the daemon: the spans of time in which the daemon ran without a gap. They explain why
 * something was late or missed. This source file also has the last heartbeat and the loads of the settings.
 */

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Selectable } from 'kysely'
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { errorText, LeadsheetError, shellCommand } from '../../errors.ts'
import type { StorePlace } from '../db/place.ts'
import type { PostgresPlace } from '../db/postgres.ts'
import { isPostgres, quickRead } from '../db/postgres.ts'
import type { Db, Trx } from '../db/store.ts'
import type { DaemonUptimeTable } from '../tables/tables.ts'

/**
 * After a worker has ended, another worker counts as running if its last heartbeat was at most this long
 * before the last heartbeat of the ended worker.
 */
const OTHER_WORKER_MAX_MS = 150_000
/** The maximum number of uptimes that are kept, because a daemon may be restarted again and again. */
const UPTIMES_MAX = 1000

/** Changes of the clock that several workers saw within this time are one change. */
const SAME_CHANGE_MS = 120_000

/** Records that the daemon began to run, and returns the id of the uptime. */
export async function beginUptime(
  trx: Trx,
  { at, after }: { readonly at: Instant; readonly after: DaemonUptimeTable['began_after'] },
): Promise<number> {
  const { id } = await trx
    .insertInto('daemon_uptime')
    .values({
      ...{ began_at: at, began_after: after, last_heartbeat_at: at, ended_at: null },
      ...{ host: hostname(), pid: process.pid },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await trx
    .deleteFrom('daemon_uptime')
    .where('id', '<=', id - UPTIMES_MAX)
    .execute()
  return id
}

export async function recordHeartbeat(trx: Trx, id: number, at: Instant): Promise<void> {
  await trx.updateTable('daemon_uptime').where('id', '=', id).set({ last_heartbeat_at: at }).execute()
}

export async function endUptime(trx: Trx, id: number, at: Instant): Promise<void> {
  await trx
    .updateTable('daemon_uptime')
    .where('id', '=', id)
    .set({ last_heartbeat_at: at, ended_at: at })
    .execute()
}

/**
 * Finds the uptime that began last, even if the clock was changed. In PostgreSQL, where several workers may
 * run, finds the uptime with the last heartbeat, but prefers a running worker to a worker that has just
 * ended. Returns undefined if no daemon ever ran.
 */
export async function findLastUptime(db: Db): Promise<Selectable<DaemonUptimeTable> | undefined> {
  const uptimes = db.selectFrom('daemon_uptime').selectAll().limit(1)
  if (!isPostgres(db)) return uptimes.orderBy('id', 'desc').executeTakeFirst()
  const last = await uptimes.orderBy('last_heartbeat_at', 'desc').orderBy('id', 'desc').executeTakeFirst()
  if (last === undefined || last.ended_at === null) return last
  const since = new Date(Date.parse(last.last_heartbeat_at) - OTHER_WORKER_MAX_MS).toISOString()
  const running = uptimes.where('ended_at', 'is', null).where('last_heartbeat_at', '>=', since)
  return (await running.orderBy('last_heartbeat_at', 'desc').executeTakeFirst()) ?? last
}

/** The uptime of a running worker. */
interface RunningWorker {
  readonly host: string
  readonly pid: number
  readonly began_at: Instant
  readonly last_heartbeat_at: Instant
}

/** Lists the workers with a heartbeat since an instant that have not ended. */
export async function listRunningWorkers(db: Db, since: Instant): Promise<RunningWorker[]> {
  return db
    .selectFrom('daemon_uptime')
    .where('ended_at', 'is', null)
    .where('last_heartbeat_at', '>=', since)
    .select(['host', 'pid', 'began_at', 'last_heartbeat_at'])
    .orderBy('host')
    .orderBy('began_at')
    .execute()
}

/**
 * Lists the changes of the machine's clock between two instants: `from` is the old time, `to` the new time. A
 * change counts at its new time, or, if the clock was set back later, at the time to which it was set back.
 * Otherwise a change that was undone would be found again when its new time comes. Of several workers that
 * saw one change, only the first counts.
 */
export async function listClockSets(
  db: Db,
  since: Instant,
  until: Instant,
): Promise<{ from: Instant; to: Instant }[]> {
  const { rows } = await sql<{ from: Instant; to: Instant }>`
    SELECT before.last_heartbeat_at AS "from", uptime.began_at AS "to" FROM daemon_uptime AS uptime
    JOIN daemon_uptime AS before ON before.id = (
      SELECT max(id) FROM daemon_uptime AS own
      WHERE own.id < uptime.id AND own.host = uptime.host AND own.pid = uptime.pid)
    WHERE uptime.began_after = 'clock'
      AND (SELECT min(began_at) FROM daemon_uptime AS later WHERE later.id >= uptime.id)
        BETWEEN ${since} AND ${until}
      AND NOT EXISTS (SELECT 1 FROM daemon_uptime AS same
        WHERE same.id < uptime.id AND same.began_after = 'clock'
          AND (same.host <> uptime.host OR same.pid <> uptime.pid)
          AND abs(julianday(same.began_at) - julianday(uptime.began_at)) * 86400000 < ${SAME_CHANGE_MS})
    ORDER BY uptime.id`.execute(db)
  return rows
}

/**
 * A span of time without a running daemon, and its reason. `to` is null while no daemon has started again.
 */
export interface Gap {
  /** The last heartbeat before the gap; null where no daemon ran before. */
  readonly from: Instant | null
  readonly to: Instant | null
  readonly why: DaemonUptimeTable['began_after']
}

/**
 * Lists the gaps longer than `leastMs` milliseconds, newest first. The time from the last heartbeat until now
 * also counts as a gap.
 */
export async function listGaps(
  db: Db,
  { since, now, leastMs }: { readonly since: Instant; readonly now: Instant; readonly leastMs: number },
): Promise<Gap[]> {
  const { rows } = await sql<Gap>`WITH gap AS (
      SELECT max(last_heartbeat_at) OVER ends AS "from", lead(began_at) OVER ends AS "to",
        coalesce(lead(began_after) OVER ends, 'down') AS why
      FROM daemon_uptime WINDOW ends AS (ORDER BY began_at, id))
    SELECT * FROM gap WHERE coalesce("to", ${now}) > ${since}
      AND (julianday(coalesce("to", ${now})) - julianday("from")) * 86400000 > ${leastMs}
    ORDER BY "from" DESC`.execute(db)
  return rows
}

/** Finds the gap around an instant; null where the daemon ran then. */
export async function findGap(db: Db, at: Instant): Promise<Gap | null> {
  const covering = await db
    .selectFrom('daemon_uptime')
    .where('began_at', '<=', at)
    .where('last_heartbeat_at', '>=', at)
    .select('id')
    .executeTakeFirst()
  if (covering) return null
  const before = await db
    .selectFrom('daemon_uptime')
    .where('last_heartbeat_at', '<', at)
    .select(sql<Instant | null>`max(last_heartbeat_at)`.as('last_heartbeat_at'))
    .executeTakeFirst()
  const after = await db
    .selectFrom('daemon_uptime')
    .where('began_at', '>', at)
    .select(['began_at', 'began_after'])
    .orderBy('began_at')
    .executeTakeFirst()
  return {
    from: before?.last_heartbeat_at ?? null,
    to: after?.began_at ?? null,
    why: after?.began_after ?? 'down',
  }
}

/**
 * The last heartbeat of the daemon. It is read without migrating the store. It is also read without creating
 * files beside the store, because such files might belong to another user than the daemon's.
 */
export interface LastHeartbeat {
  readonly last_heartbeat_at: Instant
  /** The time at which the daemon was stopped; null where it runs or was killed. */
  readonly ended_at: Instant | null
}

/** A worker with a heartbeat within this time counts as running. */
const LIVING_MS = 180_000
/**
 * The longest wait for a lock. A process that opens the file, or closes it last, locks the file for a moment.
 */
const BUSY_TIMEOUT_MS = 2_000

/**
 * Reads the last heartbeat.
 * @returns undefined where there is no database yet, or no daemon has used it
 * @throws LeadsheetError store_corrupt, store_unreachable, store_refused
 */
export async function readLastHeartbeat(place: StorePlace): Promise<LastHeartbeat | undefined> {
  return place.kind === 'sqlite' ? readHeartbeatOfFile(place.file) : readHeartbeatOfServer(place)
}

function readHeartbeatOfFile(file: string): LastHeartbeat | undefined {
  if (!existsSync(file)) return undefined
  const url = pathToFileURL(file)
  // Without a write-ahead log no process has the file open, so the file does not change. `immutable`
  // then keeps SQLite from creating its shared files.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1')
  try {
    using database = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'daemon_uptime'").get()
    if (isThere === undefined) return undefined
    const row = database
      .prepare('SELECT last_heartbeat_at, ended_at FROM daemon_uptime ORDER BY id DESC LIMIT 1')
      .get()
    return row === undefined ? undefined : heartbeatOf(row)
  } catch (cause) {
    throw new LeadsheetError('store_corrupt', `${file} cannot be read: ${errorText(cause)}`, {
      hint: `${shellCommand('doctor')} looks into it.`,
      cause,
    })
  }
}

/**
 * Reads the last heartbeat of a worker on this machine, or of any worker if none ran here. Prefers a running
 * worker to a worker that has ended.
 */
async function readHeartbeatOfServer(place: PostgresPlace): Promise<LastHeartbeat | undefined> {
  return quickRead(place, 'daemon_uptime', async (client) => {
    const { rows } = await client.query(
      `SELECT last_heartbeat_at, ended_at FROM daemon_uptime
      ORDER BY host = $1 DESC, ended_at IS NULL AND last_heartbeat_at >= $2 DESC, last_heartbeat_at DESC LIMIT 1`,
      [hostname(), new Date(Date.now() - LIVING_MS).toISOString()],
    )
    return rows[0] === undefined ? undefined : heartbeatOf(rows[0])
  })
}

function heartbeatOf({ last_heartbeat_at, ended_at }: Readonly<Record<string, unknown>>): LastHeartbeat {
  return {
    last_heartbeat_at: String(last_heartbeat_at),
    ended_at: ended_at === null ? null : String(ended_at),
  }
}

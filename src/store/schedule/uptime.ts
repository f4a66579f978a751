/**
 * The heartbeat of each daemon: since when it has run without a gap, and what the gap before was. It explains why
 * something was late or missed. This source file also has the last heartbeat and the loads of the settings.
 */

import { access, constants } from 'node:fs/promises'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { faultText, LeadsheetError } from '../../errors.ts'
import { DAY_MS } from '../../time.ts'
import type { StorePlace } from '../db/place.ts'
import type { PostgresPlace } from '../db/postgres.ts'
import { isPostgres, quickRead } from '../db/postgres.ts'
import { openReader } from '../db/sqlite.ts'
import type { Db, Trx } from '../db/store.ts'
import type { Row } from '../tables/tables.ts'

/**
 * After a worker has ended, another worker counts as running if its last heartbeat was at most this long
 * before the last heartbeat of the ended worker.
 */
const OTHER_WORKER_MAX_MS = 150_000
/** The row of a worker that was killed is kept for this long, because the worker may only be cut off. */
const KEPT_MS = DAY_MS

type Uptime = Row<'daemon_uptime'>

/**
 * Records that the daemon begins to run, and returns the id of its row. The rows of daemons that have ended are
 * deleted; on SQLite, where only one daemon runs, all others.
 */
export async function beginUptime(
  trx: Trx,
  { at, after }: { readonly at: Instant; readonly after: Uptime['began_after'] },
): Promise<number> {
  const before = await listUptimes(trx)
  const last = before.toSorted(byHeartbeat).at(-1)
  const isOver = ({ ended_at, last_heartbeat_at }: Uptime): boolean =>
    !isPostgres(trx) || ended_at !== null || Date.parse(last_heartbeat_at) < Date.parse(at) - KEPT_MS
  for (const { id } of before.filter(isOver)) {
    await trx.deleteFrom('daemon_uptime').where('id', '=', id).execute()
  }
  const { id } = await trx
    .insertInto('daemon_uptime')
    .values({
      began_at: at,
      began_after: after,
      down_since: last?.last_heartbeat_at ?? null,
      last_heartbeat_at: at,
      ended_at: null,
      host: hostname(),
      pid: process.pid,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Records that the daemon goes on after it could not work for a while, or the clock was changed. */
export async function resumeUptime(
  trx: Trx,
  id: number,
  { at, after }: { readonly at: Instant; readonly after: Uptime['began_after'] },
): Promise<void> {
  await trx
    .updateTable('daemon_uptime')
    .where('id', '=', id)
    .set((eb) => ({
      began_at: at,
      began_after: after,
      down_since: eb.ref('last_heartbeat_at'),
      last_heartbeat_at: at,
    }))
    .execute()
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

async function listUptimes(db: Db): Promise<Uptime[]> {
  return db.selectFrom('daemon_uptime').selectAll().orderBy('id').execute()
}

function byHeartbeat(a: Uptime, b: Uptime): number {
  return a.last_heartbeat_at < b.last_heartbeat_at ? -1 : a.last_heartbeat_at > b.last_heartbeat_at ? 1 : 0
}

/**
 * Finds the uptime of the worker with the last heartbeat, but prefers a running worker to a worker that has just
 * ended. Returns undefined if no daemon ever ran.
 */
export async function findLastUptime(db: Db): Promise<Uptime | undefined> {
  const uptimes = (await listUptimes(db)).sort(byHeartbeat)
  const last = uptimes.at(-1)
  if (last === undefined || last.ended_at === null) return last
  const since = new Date(Date.parse(last.last_heartbeat_at) - OTHER_WORKER_MAX_MS).toISOString()
  return uptimes.findLast((each) => each.ended_at === null && each.last_heartbeat_at >= since) ?? last
}

type RunningWorker = Pick<Uptime, 'host' | 'pid' | 'began_at' | 'last_heartbeat_at'>

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
 * Finds the last change of the machine's clock between two instants: `from` is the old time, `to` the new time.
 */
export async function findClockSet(
  db: Db,
  since: Instant,
  until: Instant,
): Promise<{ readonly from: Instant; readonly to: Instant } | null> {
  const set = (await listUptimes(db)).findLast(
    ({ began_after, began_at }) => began_after === 'clock' && began_at >= since && began_at <= until,
  )
  return set === undefined || set.down_since === null ? null : { from: set.down_since, to: set.began_at }
}

/**
 * A span of time without a running daemon, and its reason. `to` is null while no daemon has started again.
 */
export interface Gap {
  /** The last heartbeat before the gap; null where no daemon ran before. */
  readonly from: Instant | null
  readonly to: Instant | null
  readonly why: Uptime['began_after']
}

/**
 * Lists the last gap of each running daemon if it is longer than `leastMs` milliseconds, newest first. The time
 * from the last heartbeat until now also counts as a gap.
 */
export async function listGaps(
  db: Db,
  { since, now, leastMs }: { readonly since: Instant; readonly now: Instant; readonly leastMs: number },
): Promise<Gap[]> {
  const uptimes = await listUptimes(db)
  const gaps = [...uptimes.map(gapBefore), gapAfter(uptimes)]
  const isLong = ({ from, to }: Gap): boolean =>
    from !== null && (to ?? now) > since && Date.parse(to ?? now) - Date.parse(from) > leastMs
  return gaps
    .filter((gap) => isLong(gap) && !uptimes.some((uptime) => isCovered(gap, uptime)))
    .sort((a, b) => ((a.from ?? '') < (b.from ?? '') ? 1 : -1))
}

/** Finds the gap around an instant; null where a daemon ran then, or where nobody knows it any more. */
export async function findGap(db: Db, at: Instant): Promise<Gap | null> {
  const uptimes = await listUptimes(db)
  if (uptimes.some(({ began_at, last_heartbeat_at }) => began_at <= at && at <= last_heartbeat_at))
    return null
  const next = uptimes
    .filter(({ began_at }) => began_at > at)
    .sort((a, b) => (a.began_at < b.began_at ? -1 : 1))[0]
  const gap = next === undefined ? gapAfter(uptimes) : gapBefore(next)
  return gap.from === null || gap.from < at ? gap : null
}

function gapBefore({ down_since, began_at, began_after }: Uptime): Gap {
  return { from: down_since, to: began_at, why: began_after }
}

/** Returns the time since the last heartbeat of any daemon, which is a gap if it is long. */
function gapAfter(uptimes: readonly Uptime[]): Gap {
  return { from: uptimes.toSorted(byHeartbeat).at(-1)?.last_heartbeat_at ?? null, to: null, why: 'down' }
}

function isCovered({ from, to }: Gap, { began_at, last_heartbeat_at }: Uptime): boolean {
  return from !== null && to !== null && began_at <= from && last_heartbeat_at > to
}

/**
 * The last heartbeat of the daemon. It is read without migrating the store. It is also read without creating
 * files beside the store, because such files might belong to another user than the daemon's.
 */
export interface LastHeartbeat {
  readonly last_heartbeat_at: Instant
  /** Null where it runs or was killed. */
  readonly ended_at: Instant | null
}

/** A worker with a heartbeat within this time counts as running. */
const LIVING_MS = 180_000

/**
 * Reads the last heartbeat.
 * @returns undefined where there is no database yet, or no daemon has used it
 * @throws LeadsheetError data_unwritable, store_corrupt, store_unreachable, store_refused
 */
export async function readLastHeartbeat(place: StorePlace): Promise<LastHeartbeat | undefined> {
  return place.kind === 'sqlite' ? readHeartbeatOfFile(place.file) : readHeartbeatOfServer(place)
}

async function readHeartbeatOfFile(file: string): Promise<LastHeartbeat | undefined> {
  const unreadable = await access(file, constants.R_OK).then(
    () => null,
    (cause: NodeJS.ErrnoException) => cause,
  )
  if (unreadable?.code === 'ENOENT') return undefined
  if (unreadable !== null) {
    throw new LeadsheetError('data_unwritable', `${file} cannot be read: ${faultText(unreadable)}`, {
      hint: 'Run it as the user of leadsheet.',
      cause: unreadable,
    })
  }
  const db = openReader(file)
  try {
    const { rows } = await sql`SELECT 1 FROM sqlite_schema WHERE name = 'daemon_uptime'`.execute(db)
    return rows.length === 0 ? undefined : await findLastUptime(db)
  } finally {
    await db.destroy()
  }
}

/**
 * Reads the last heartbeat of a worker on this machine, or of any worker if none ran here. Prefers a running
 * worker to a worker that has ended.
 */
async function readHeartbeatOfServer(place: PostgresPlace): Promise<LastHeartbeat | undefined> {
  return quickRead(place, 'daemon_uptime', async (client) => {
    const { rows } = await client.query<LastHeartbeat>(
      `SELECT last_heartbeat_at, ended_at FROM daemon_uptime
      ORDER BY host = $1 DESC, ended_at IS NULL AND last_heartbeat_at >= $2 DESC, last_heartbeat_at DESC LIMIT 1`,
      [hostname(), new Date(Date.now() - LIVING_MS).toISOString()],
    )
    return rows[0]
  })
}

/**
 * Leases: a task with a lease runs in only one process at a time. When the holder of a lease has ended,
 * another process can take the lease over. If several machines share a store, the clock of the database
 * server decides when a lease expires, because the clocks of the machines differ.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import type { Instant } from '../../domain/model.ts'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { clockOf } from '../db/dialect.ts'
import { isPostgres } from '../db/postgres.ts'
import { statement } from '../db/statement.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import type { Tables } from '../tables/tables.ts'

/** A holder without a heartbeat for this long counts as ended, even if a process with its id is running. */
const LEASE_MS = 90_000
/**
 * The length of a lease in PostgreSQL, where workers may run on several machines. It is shorter, because a
 * worker cannot check whether a process on another machine has ended. The lease of such a process has to
 * expire.
 */
const SHARED_LEASE_MS = 30_000

/** A lease that renews itself while it is held, however long the work takes. */
export interface Lease {
  readonly holder: string
  /**
   * The signal that is aborted with the error job_busy when another process has taken the lease over, or with
   * store_lost when the database's file is gone.
   */
  readonly lost: AbortSignal
  /**
   * Renews the lease. Call this method in each transaction of the work, so that a holder whose lease was
   * taken over writes nothing.
   * @throws LeadsheetError job_busy if another process has taken the lease over
   */
  renew(trx: Trx, now: Date): Promise<void>
  release(): Promise<void>
}

/**
 * Identifies this boot of the machine and this container. Process ids can be compared only within the same
 * boot and container. Empty if unknown.
 */
const MACHINE = readMachine()
/**
 * The holder ids of the leases that this process has now. If the store has a lease of this process with
 * another holder id, the process has released that lease but could not delete its row.
 */
const ownHolders = new Set<string>()

/**
 * Claims a lease. A lease on this machine whose process has ended is taken over at once.
 * @param name the name of the lease, also used in messages, such as `sync`
 * @throws LeadsheetError job_busy with the present holder
 */
export async function claimLease(
  store: Pick<Store, 'write' | 'place'>,
  name: string,
  now: () => Date,
): Promise<Lease> {
  const holder = `${randomUUID()} ${MACHINE}`
  const leaseMs = leaseMsOf(store)
  // Adds the holder before the lease is written. Otherwise another claim in this process would take the lease
  // for that of an earlier process.
  ownHolders.add(holder)
  try {
    await store.write((trx) => insertLease(trx, { name, holder, leaseMs }, now()))
  } catch (thrown) {
    ownHolders.delete(holder)
    throw thrown
  }
  const renew = renewalOf(store, { name, holder })
  const lost = new AbortController()
  let isRenewing = false
  const heartbeat = setInterval(() => {
    // Runs only one heartbeat at a time. Otherwise each heartbeat would keep a connection during a long
    // transaction.
    if (isRenewing) return
    isRenewing = true
    store
      .write((trx) => renew(trx, now()))
      .catch((thrown: unknown) => {
        // Ignores any other error. The next heartbeat may succeed; if not, the work itself fails with the
        // error.
        const isFinal =
          thrown instanceof LeadsheetError && (thrown.code === 'job_busy' || thrown.code === 'store_lost')
        if (isFinal) lost.abort(thrown)
      })
      .finally(() => {
        isRenewing = false
      })
  }, leaseMs / 3)
  heartbeat.unref()
  return {
    holder,
    lost: lost.signal,
    renew,
    async release() {
      clearInterval(heartbeat)
      ownHolders.delete(holder)
      await store.write((trx) => trx.deleteFrom('lease').where('holder', '=', holder).execute())
    },
  }
}

/**
 * Does work under a lease.
 * @throws LeadsheetError job_busy with the present holder, and the errors of the work
 */
export async function withLease<T>(
  store: Pick<Store, 'write' | 'place'>,
  name: string,
  now: () => Date,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const lease = await claimLease(store, name, now)
  try {
    return await work(lease)
  } finally {
    await lease.release()
  }
}

/**
 * Renews a lease. In SQLite, the lease lasts until `until`. In PostgreSQL, the clock of the server gives the
 * new end.
 */
const renewLease = statement((db, { holder, until }: { holder: string; until: Instant }) =>
  db
    .updateTable('lease')
    .where('holder', '=', holder)
    .set({ expires_at: isPostgres(db) ? clockOf(db, new Date(0), SHARED_LEASE_MS) : until })
    .compile(),
)

interface LeaseInUse {
  readonly name: string
  readonly holder: string
}

/**
 * Returns a lease that the parent process holds, renews in time and releases.
 * @param lost aborted by the parent process when the lease is lost
 */
export function borrowLease(store: Pick<Store, 'place'>, lease: LeaseInUse, lost: AbortSignal): Lease {
  return { holder: lease.holder, lost, renew: renewalOf(store, lease), release: async () => {} }
}

function renewalOf(store: Pick<Store, 'place'>, { name, holder }: LeaseInUse): Lease['renew'] {
  return async (trx, at) => {
    const until = new Date(at.getTime() + leaseMsOf(store)).toISOString()
    const { numAffectedRows } = await renewLease(trx, { holder, until })
    if (numAffectedRows === 0n) throw busy(name, 'another process, which took over')
  }
}

function leaseMsOf({ place }: Pick<Store, 'place'>): number {
  return place.kind === 'postgres' ? SHARED_LEASE_MS : LEASE_MS
}

async function insertLease(
  trx: Trx,
  { name, holder, leaseMs }: { readonly name: string; readonly holder: string; readonly leaseMs: number },
  at: Date,
): Promise<void> {
  const other = await leases(trx, at).where('name', '=', name).executeTakeFirst()
  if (other && !isLost(trx, other))
    throw busy(name, `process ${other.pid} on ${other.host} since ${other.acquired_at}`)
  await trx.deleteFrom('lease').where('name', '=', name).execute()
  const times = { acquired_at: at.toISOString(), expires_at: clockOf(trx, at, leaseMs) }
  await trx
    .insertInto('lease')
    .values({ name, holder, host: hostname(), pid: process.pid, ...times })
    .execute()
}

/**
 * Deletes leases whose holders have ended: the lease `name`, and all leases whose names begin with `name` and
 * a colon.
 */
export async function deleteLostLeases(trx: Trx, name: string, now: Date): Promise<void> {
  const named = await leases(trx, now)
    .where((eb) => eb.or([eb('name', '=', name), eb('name', 'like', `${name}:%`)]))
    .execute()
  const ended = named.filter((lease) => isLost(trx, lease)).map(({ holder }) => holder)
  if (ended.length > 0) await trx.deleteFrom('lease').where('holder', 'in', ended).execute()
}

/** Tells whether a process of this machine ended without releasing the lease, because it was killed. */
export async function wasLeft(db: Db, name: string): Promise<boolean> {
  const lease = await db.selectFrom('lease').where('name', '=', name).selectAll().executeTakeFirst()
  return lease !== undefined && hasEnded(db, lease)
}

/** Tells whether a lease is one that a daemon or a worker holds as long as it runs. */
export function isOfDaemon({ name }: Pick<Tables['lease'], 'name'>): boolean {
  return name === 'daemon' || name.startsWith('daemon:')
}

export async function listHeldLeases(
  db: Db,
  now: Date,
): Promise<Pick<Tables['lease'], 'name' | 'pid' | 'host' | 'acquired_at'>[]> {
  const held = await leases(db, now).orderBy('name').execute()
  return held.filter((lease) => !isLost(db, lease))
}

function busy(name: string, by: string): LeadsheetError {
  const what = name.replace(/^report:/, 'report ')
  const hint =
    name === 'daemon'
      ? 'Stop that one first: only one daemon runs on a data directory.'
      : `Wait for it to end; ${shellCommand('status')} shows it.`
  return new LeadsheetError('job_busy', `A ${what} is already running: ${by}`, { hint })
}

function leases(db: Db, now: Date) {
  const isExpired = sql<0 | 1>`expires_at <= ${clockOf(db, now)}`
  return db.selectFrom('lease').selectAll().select(isExpired.as('isExpired'))
}

function isLost(db: Db, lease: Tables['lease'] & { readonly isExpired: 0 | 1 }): boolean {
  return lease.isExpired === 1 || hasEnded(db, lease)
}

/**
 * Tells whether this machine knows that the holder of a lease has ended. It cannot know this of a holder on
 * another machine. In PostgreSQL the host name is not enough to recognise such a holder, because containers
 * on several machines may have the same name and the same process ids.
 */
function hasEnded(db: Db, lease: Tables['lease']): boolean {
  if (lease.host !== hostname()) return false
  // Several machines may have the same name, such as localhost.
  if (isPostgres(db) && (MACHINE === '' || !lease.holder.endsWith(` ${MACHINE}`))) return false
  return lease.pid === process.pid ? !ownHolders.has(lease.holder) : !isRunning(lease.pid)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}

function readMachine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return ''
  }
}

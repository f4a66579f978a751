/**
 * Leases: a thing that only one process may do at a time, taken over when its holder is gone. Where several machines
 * share a store, the clock of its server says when that is, since theirs differ.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { sql } from 'kysely'
import { LeadsheetError, shellCommand } from '../../errors.ts'
import { clockOf } from '../db/dialect.ts'
import { isPostgres } from '../db/postgres.ts'
import type { Db, Store, Trx } from '../db/store.ts'
import type { Tables } from '../tables/tables.ts'

/** Without a sign of life for so long, a holder counts as gone, even where its process id is in use. */
const LEASE_MS = 90_000
/** Where workers on other machines wait to take over, whom no process id tells that it has ended. */
const SHARED_LEASE_MS = 30_000

/** Renews itself while it is held, however long a request or a message takes. */
export interface Lease {
  /** By which it is told from all others. */
  readonly holder: string
  /** Aborted once another process has taken over, with job_busy as its reason. */
  readonly lost: AbortSignal
  /**
   * To be called in each transaction of the work, so that nothing is written by a holder that was taken for gone.
   * @throws LeadsheetError job_busy where another process has taken over
   */
  renew(trx: Trx, now: Date): Promise<void>
  release(): Promise<void>
}

/** Where process ids mean the same: one start of one kernel, and one container on it; empty where that cannot be told. */
const MACHINE = readMachine()

/** The holders of this process: one that names its pid and is not among them is from an earlier life. */
const ownHolders = new Set<string>()

/**
 * A holder on this machine whose process has ended is taken over at once.
 * @param name also what the message calls it, such as `sync`
 * @throws LeadsheetError job_busy, naming who holds it
 */
export async function claimLease(
  store: Pick<Store, 'write' | 'place'>,
  name: string,
  now: () => Date,
): Promise<Lease> {
  const holder = `${randomUUID()} ${MACHINE}`
  const leaseMs = store.place.kind === 'postgres' ? SHARED_LEASE_MS : LEASE_MS
  // Known before it is in the table: another claim of this process must not take it for one of an earlier life.
  ownHolders.add(holder)
  try {
    await store.write((trx) => insertLease(trx, { name, holder, leaseMs }, now()))
  } catch (thrown) {
    ownHolders.delete(holder)
    throw thrown
  }
  const renew = async (trx: Trx, at: Date): Promise<void> => {
    const renewed = await trx
      .updateTable('lease')
      .where('holder', '=', holder)
      .set({ expires_at: clockOf(trx, at, leaseMs) })
      .executeTakeFirst()
    if (renewed.numUpdatedRows === 0n) throw busy(name, 'another process, which took over')
  }
  const lost = new AbortController()
  let isBeating = false
  const beat = setInterval(() => {
    // One at a time: while somebody has a long turn, each would keep a connection.
    if (isBeating) return
    isBeating = true
    store
      .write((trx) => renew(trx, now()))
      .catch((thrown: unknown) => {
        // Anything else may pass until the next beat; the work itself meets what does not.
        if (thrown instanceof LeadsheetError && thrown.code === 'job_busy') lost.abort(thrown)
      })
      .finally(() => {
        isBeating = false
      })
  }, leaseMs / 3)
  beat.unref()
  return {
    holder,
    lost: lost.signal,
    renew,
    async release() {
      clearInterval(beat)
      ownHolders.delete(holder)
      await store.write((trx) => trx.deleteFrom('lease').where('holder', '=', holder).execute())
    },
  }
}

async function insertLease(
  trx: Trx,
  { name, holder, leaseMs }: { readonly name: string; readonly holder: string; readonly leaseMs: number },
  at: Date,
): Promise<void> {
  const other = await leases(trx, at).where('name', '=', name).executeTakeFirst()
  if (other && !isDeleted(trx, other))
    throw busy(name, `process ${other.pid} on ${other.host} since ${other.acquired_at}`)
  await trx.deleteFrom('lease').where('name', '=', name).execute()
  const times = { acquired_at: at.toISOString(), expires_at: clockOf(trx, at, leaseMs) }
  await trx
    .insertInto('lease')
    .values({ name, holder, host: hostname(), pid: process.pid, ...times })
    .execute()
}

/** Who holds any lease, as for {@link claimLease}; undefined where nobody does. */
export async function findHolder(
  db: Db,
  now: Date,
): Promise<Pick<Tables['lease'], 'name' | 'pid' | 'host'> | undefined> {
  return (await leases(db, now).execute()).find((lease) => !isDeleted(db, lease))
}

/** Those of that name, or that begin with it and a colon, whose holders are gone. */
export async function deleteLostLeases(trx: Trx, name: string, now: Date): Promise<void> {
  const named = await leases(trx, now)
    .where((eb) => eb.or([eb('name', '=', name), eb('name', 'like', `${name}:%`)]))
    .execute()
  const gone = named.filter((lease) => isDeleted(trx, lease)).map(({ holder }) => holder)
  if (gone.length > 0) await trx.deleteFrom('lease').where('holder', 'in', gone).execute()
}

/** Whether a process of this machine that held it has ended without giving it back: it was killed. */
export async function wasLeft(db: Db, name: string): Promise<boolean> {
  const lease = await db.selectFrom('lease').where('name', '=', name).selectAll().executeTakeFirst()
  return lease !== undefined && hasEnded(db, lease)
}

/** Whether it is of a daemon, or of one of several workers: held as long as that runs. */
export function isOfDaemon({ name }: Pick<Tables['lease'], 'name'>): boolean {
  return name === 'daemon' || name.startsWith('daemon:')
}

/** What is held now, and since when. */
export async function listHeldLeases(
  db: Db,
  now: Date,
): Promise<Pick<Tables['lease'], 'name' | 'pid' | 'host' | 'acquired_at'>[]> {
  const held = await leases(db, now).orderBy('name').execute()
  return held.filter((lease) => !isDeleted(db, lease))
}

function busy(name: string, by: string): LeadsheetError {
  const what = name.replace(/^report:/, 'report ')
  return new LeadsheetError('job_busy', `A ${what} is already running: ${by}`, {
    hint: `Wait for it to end; ${shellCommand('status')} shows it.`,
  })
}

function leases(db: Db, now: Date) {
  const isExpired = sql<0 | 1>`expires_at <= ${clockOf(db, now)}`
  return db.selectFrom('lease').selectAll().select(isExpired.as('isExpired'))
}

function isDeleted(db: Db, lease: Tables['lease'] & { readonly isExpired: 0 | 1 }): boolean {
  return lease.isExpired === 1 || hasEnded(db, lease)
}

/** As far as this machine can tell: of several, containers may have the same name, and the same process id in it. */
function hasEnded(db: Db, lease: Tables['lease']): boolean {
  if (lease.host !== hostname()) return false
  // Machines may be called the same, such as localhost.
  if (isPostgres(db) && !lease.holder.endsWith(` ${MACHINE}`)) return false
  if (lease.pid === process.pid) return !isPostgres(db) && !ownHolders.has(lease.holder)
  return !isRunning(lease.pid)
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

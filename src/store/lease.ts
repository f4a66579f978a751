/** Leases: a thing that only one process may do at a time, taken over when its holder is gone. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { LeadsheetError } from '../errors.ts'
import type { Instant } from '../model.ts'
import type { Db, Store, Trx } from './open.ts'
import type { Tables } from './tables.ts'

/** Without a sign of life for so long, a holder counts as gone, even where its process id is in use. */
const LEASE_MS = 90_000
/** Where workers on other machines wait to take over, whom no process id tells that it has ended. */
const SHARED_LEASE_MS = 30_000

/** Renews itself while it is held, however long a request or a letter takes. */
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
  const holder = randomUUID()
  const leaseMs = store.place.kind === 'postgres' ? SHARED_LEASE_MS : LEASE_MS
  const expiry = (at: Date): string => new Date(at.getTime() + leaseMs).toISOString()
  // Known before it is in the table: another claim of this process must not take it for one of an earlier life.
  ownHolders.add(holder)
  try {
    await store.write((trx) => insertLease(trx, { name, holder, expiresAt: expiry(now()) }, now()))
  } catch (thrown) {
    ownHolders.delete(holder)
    throw thrown
  }
  const renew = async (trx: Trx, at: Date): Promise<void> => {
    const renewed = await trx
      .updateTable('lease')
      .where('holder', '=', holder)
      .set({ expires_at: expiry(at) })
      .executeTakeFirst()
    if (renewed.numUpdatedRows === 0n) throw busy(name, 'another process, which took over')
  }
  const lost = new AbortController()
  const beat = setInterval(() => {
    store
      .write((trx) => renew(trx, now()))
      .catch((thrown: unknown) => {
        // Anything else may pass until the next beat; the work itself meets what does not.
        if (thrown instanceof LeadsheetError && thrown.code === 'job_busy') lost.abort(thrown)
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
  {
    name,
    holder,
    expiresAt,
  }: { readonly name: string; readonly holder: string; readonly expiresAt: Instant },
  at: Date,
): Promise<void> {
  const other = await trx.selectFrom('lease').where('name', '=', name).selectAll().executeTakeFirst()
  if (other && !isGone(other, at))
    throw busy(name, `process ${other.pid} on ${other.host} since ${other.acquired_at}`)
  await trx.deleteFrom('lease').where('name', '=', name).execute()
  const times = { acquired_at: at.toISOString(), expires_at: expiresAt }
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
  const leases = await db.selectFrom('lease').selectAll().execute()
  return leases.find((lease) => !isGone(lease, now))
}

/** Those of that name, or that begin with it and a colon, whose holders are gone. */
export async function deleteGoneLeases(trx: Trx, name: string, now: Date): Promise<void> {
  const leases = await trx
    .selectFrom('lease')
    .where((eb) => eb.or([eb('name', '=', name), eb('name', 'like', `${name}:%`)]))
    .selectAll()
    .execute()
  const gone = leases.filter((lease) => isGone(lease, now)).map(({ holder }) => holder)
  if (gone.length > 0) await trx.deleteFrom('lease').where('holder', 'in', gone).execute()
}

/** Whether a process of this machine that held it has ended without giving it back: it was killed. */
export async function wasLeft(db: Db, name: string): Promise<boolean> {
  const lease = await db.selectFrom('lease').where('name', '=', name).selectAll().executeTakeFirst()
  return lease !== undefined && hasEnded(lease)
}

/** What is held now, and since when. */
export async function listHeldLeases(
  db: Db,
  now: Date,
): Promise<Pick<Tables['lease'], 'name' | 'pid' | 'host' | 'acquired_at'>[]> {
  const leases = await db.selectFrom('lease').selectAll().orderBy('name').execute()
  return leases.filter((lease) => !isGone(lease, now))
}

function busy(name: string, by: string): LeadsheetError {
  const what = name.replace(/^report:/, 'report ')
  return new LeadsheetError('job_busy', `A ${what} is already running: ${by}`, {
    hint: 'Wait for it to end; `leadsheet status` shows it.',
  })
}

function isGone(lease: Tables['lease'], now: Date): boolean {
  return lease.expires_at <= now.toISOString() || hasEnded(lease)
}

/** As far as this machine can tell. */
function hasEnded(lease: Tables['lease']): boolean {
  if (lease.host !== hostname()) return false
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
